// One step of an optimiser over all weights, weight decay included: PyTorch's Adagrad and Adam.
#pragma once

#include <cmath>

#include "pool.h"
#include "reader.h"

namespace qrn {
namespace QRN_VARIANT {

// Weights that one task updates; runs of like weight decay are whole multiples of a cache line.
constexpr int64_t kUpdatedWeights = 4096;

template <class T>
void adagrad(const UpdateCall& call, T decay, int64_t count, T* __restrict value, const T* __restrict gradient,
             T* __restrict sum) {
  const T rate = T(call.rate), epsilon = T(call.epsilon);
  for (int64_t i = 0; i < count; ++i) {
    const T g = gradient[i] + decay * value[i];
    sum[i] += g * g;
    value[i] -= rate * (g / (std::sqrt(sum[i]) + epsilon));
  }
}

template <class T>
void adam(const UpdateCall& call, T decay, int64_t count, T* __restrict value, const T* __restrict gradient,
          T* __restrict average, T* __restrict square) {
  const T fresh = T(1 - call.beta[0]), kept = T(call.beta[1]), fresh_square = T(1 - call.beta[1]);
  const T rate = T(call.rate / (1 - std::pow(call.beta[0], double(call.step)))), epsilon = T(call.epsilon);
  const T correction = T(std::sqrt(1 - std::pow(call.beta[1], double(call.step))));
  for (int64_t i = 0; i < count; ++i) {
    const T g = gradient[i] + decay * value[i];
    average[i] += fresh * (g - average[i]);
    square[i] = fresh_square * g * g + kept * square[i];
    value[i] -= rate * average[i] / (std::sqrt(square[i]) / correction + epsilon);
  }
}

template <class T> void update(const UpdateCall& call) {
  T *const values = static_cast<T*>(call.values), *const gradients = static_cast<T*>(call.gradients);
  T *const first = static_cast<T*>(call.first), *const second = static_cast<T*>(call.second);
  int64_t start = 0;
  for (int64_t run = 0; run < call.runs; start += call.size[run++]) {
    const int64_t size = call.size[run], pieces = (size + kUpdatedWeights - 1) / kUpdatedWeights;
    auto update_one = [&](int64_t piece, int64_t) {
      const int64_t from = piece * kUpdatedWeights, at = start + from;
      const int64_t count = size - from < kUpdatedWeights ? size - from : kUpdatedWeights;
      if (second == nullptr)
        adagrad<T>(call, T(call.decay[run]), count, values + at, gradients + at, first + at);
      else
        adam<T>(call, T(call.decay[run]), count, values + at, gradients + at, first + at, second + at);
    };
    parallel(call, pieces, update_one);
  }
}

}  // namespace QRN_VARIANT
}  // namespace qrn
