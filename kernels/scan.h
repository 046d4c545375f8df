// h_t = (1 - z_t) h_{t-1} + v_t and its gradient, forward or backward in time, for any number of steps.
#pragma once

#include <type_traits>

#include "columns.h"
#include "pool.h"
#include "reader.h"

namespace qrn {
namespace QRN_VARIANT {

// Steps a block goes before the next block of the same rows has its turn, so that rows are still in the cache.
constexpr int64_t kScanSteps = 64;

// One example's arrays. Step s of its `length` steps is row first + s * direction; `initial` may be null.
template <class T> struct ScanExample {
  int64_t dim, length, first, direction;
  const T *z, *v, *initial, *h, *dh;
  T *out, *dz, *dv, *dinitial;

  ScanExample(const ScanCall& call, int64_t b) : dim(call.dim), length(call.time) {
    if (call.lengths != nullptr && call.lengths[b] < length) length = call.lengths[b] < 0 ? 0 : call.lengths[b];
    first = call.reverse ? length - 1 : 0;
    direction = call.reverse ? -1 : 1;
    const int64_t at = b * call.time * dim, gate = b * call.time * (call.vector ? dim : 1);
    z = offset(call.z, gate), v = offset(call.v, at), initial = offset(call.initial, b * dim), h = offset(call.h, at);
    dh = offset(call.dh, at), out = offset(call.out, at), dz = offset(call.dz, gate), dv = offset(call.dv, at);
    dinitial = offset(call.dinitial, b * dim);
  }
  static const T* offset(const void* start, int64_t at) { return start == nullptr ? nullptr : static_cast<const T*>(start) + at; }
  static T* offset(void* start, int64_t at) { return start == nullptr ? nullptr : static_cast<T*>(start) + at; }
};

// How the columns of an example are cut. Blocks of one example are independent, so they also feed threads where there
// are few examples: then they are narrow, but not narrower than two cache lines. It depends on the batch, never on the
// threads.
constexpr int64_t kFewExamples = 16;
template <class T> struct ScanBlocks : ColumnBlocks<T> {
  explicit ScanBlocks(const ScanCall& call)
      : ColumnBlocks<T>(call.dim, call.batch < kFewExamples && 2 * QRN_VECTOR_BYTES >= 128) {}
  // Blocks that are separate tasks; 1 if whole examples keep all threads busy.
  int64_t tasks_per_example(const ScanCall& call) const {
    return call.batch >= 4 * call.threads || call.batch % call.threads == 0 ? 1 : this->count;
  }
};

// The first row of a state or gradient that starts from nothing, or goes nowhere.
template <class V, class T> QRN_INLINE V get_or_zero(const T* from, int64_t at) {
  return from == nullptr ? V{} : get<V>(from + at);
}

template <bool Vector, class T, class V, int Count>
QRN_INLINE void scan_steps(const ScanExample<T>& e, const Columns<T, V, Count>& columns, int64_t from, int64_t to) {
  V state[Count];
  const int64_t before = (e.first + (from - 1) * e.direction) * e.dim;
#pragma GCC unroll 4
  for (int j = 0; j < Count; ++j)
    state[j] = from == 0 ? get_or_zero<V>(e.initial, columns.at[j]) : get<V>(e.out + before + columns.at[j]);
  for (int64_t s = from; s < to; ++s) {
    const int64_t t = e.first + s * e.direction, row = t * e.dim;
    const V keep = Vector ? V{} : (T(1) - e.z[t]) - V{};
#pragma GCC unroll 4
    for (int j = 0; j < Count; ++j) {
      const int64_t at = row + columns.at[j];
      state[j] = (Vector ? T(1) - get<V>(e.z + at) : keep) * state[j] + get<V>(e.v + at);
      put<V>(e.out + at, state[j]);
    }
  }
}

// Steps [from, to) in falling order; `adjoint` carries the gradient of the state from one call to the next. With
// scalar gates a block adds its part of dz; blocks come in order, so the sum is always the same.
template <bool Vector, class T, class V, int Count>
QRN_INLINE void scan_gradient_steps(const ScanExample<T>& e, const Columns<T, V, Count>& columns, int64_t from, int64_t to,
                                    bool first_block, T* adjoint, T* dz) {
  V carried[Count];
#pragma GCC unroll 4
  for (int j = 0; j < Count; ++j) carried[j] = to == e.length ? V{} : get<V>(adjoint + columns.at[j]);
  auto step = [&](int64_t s, auto has_before) {
    const int64_t t = e.first + s * e.direction, row = t * e.dim;
    const T* const before = s == 0 ? e.initial : e.h + row - e.direction * e.dim;
    const V keep = Vector ? V{} : (T(1) - e.z[t]) - V{};
    V sum = {};
#pragma GCC unroll 4
    for (int j = 0; j < Count; ++j) {
      const int64_t at = row + columns.at[j];
      const V gradient = carried[j] + get<V>(e.dh + at);
      const V lost = decltype(has_before)::value ? gradient * get<V>(before + columns.at[j]) : V{};
      put<V>(e.dv + at, gradient);
      if (Vector) {
        put<V>(e.dz + at, -lost);
        carried[j] = gradient * (T(1) - get<V>(e.z + at));
      } else {
        sum += j == Count - 1 ? lost * columns.counted : lost;
        carried[j] = gradient * keep;
      }
    }
    if (!Vector) dz[t] = first_block ? -sum_lanes(sum) : dz[t] - sum_lanes(sum);
  };
  for (int64_t s = to - 1; s >= from && s > 0; --s) step(s, std::true_type{});
  if (from == 0) e.initial == nullptr ? step(0, std::false_type{}) : step(0, std::true_type{});
#pragma GCC unroll 4
  for (int j = 0; j < Count; ++j) put<V>(adjoint + columns.at[j], carried[j]);
}

// One task is an example, or one block of it where there are fewer examples than threads; the numbers are the same.
template <class T, bool Vector> void scan_forward_with(const ScanCall& call) {
  const ScanBlocks<T> blocks(call);
  const int64_t split = blocks.tasks_per_example(call);
  auto run = [&](int64_t task, int64_t) {
    const ScanExample<T> e(call, task / split);
    const int64_t first = split == 1 ? 0 : task % split, last = split == 1 ? blocks.count : first + 1;
    if (first == 0) std::memset(e.out + e.length * e.dim, 0, size_t((call.time - e.length) * e.dim) * sizeof(T));
    for (int64_t from = 0; from < e.length && !stopped(call.stop); from += kScanSteps) {
      const int64_t to = from + kScanSteps < e.length ? from + kScanSteps : e.length;
      for (int64_t block = first; block < last; ++block)
        blocks.visit(block, [&](const auto& columns) { scan_steps<Vector>(e, columns, from, to); });
    }
  };
  if (call.dim > 0) parallel(call, call.batch * split, run);
}

template <class T, bool Vector> void scan_backward_with(const ScanCall& call) {
  const ScanBlocks<T> blocks(call);
  const int64_t split = blocks.tasks_per_example(call), gates = call.batch * call.time;
  // Parts of dz by block, where blocks run side by side and share scalar gates; and a row for the gradient of a state.
  const bool parts = !Vector && split > 1;
  const int64_t parts_size = parts ? checked_product(split, gates) : 0;
  const Block memory(checked_sum(parts_size, checked_product(call.threads, call.dim)), sizeof(T));
  T* const part = static_cast<T*>(memory.start);
  auto run = [&](int64_t task, int64_t worker) {
    const int64_t b = task / split;
    const ScanExample<T> e(call, b);
    const int64_t first = split == 1 ? 0 : task % split, last = split == 1 ? blocks.count : first + 1;
    T* const dz = parts ? part + first * gates + b * call.time : e.dz;
    T* const adjoint = e.dinitial != nullptr ? e.dinitial : part + parts_size + worker * call.dim;
    if (first == 0) {
      const int64_t after = call.time - e.length, gate = Vector ? e.dim : 1;
      std::memset(e.dv + e.length * e.dim, 0, size_t(after * e.dim) * sizeof(T));
      std::memset(e.dz + e.length * gate, 0, size_t(after * gate) * sizeof(T));
      if (e.length == 0) std::memset(adjoint, 0, size_t(e.dim) * sizeof(T));
    }
    for (int64_t to = e.length; to > 0 && !stopped(call.stop); to -= kScanSteps) {
      const int64_t from = to > kScanSteps ? to - kScanSteps : 0;
      for (int64_t block = first; block < last; ++block)
        blocks.visit(block, [&](const auto& columns) {
          scan_gradient_steps<Vector>(e, columns, from, to, parts || block == 0, adjoint, dz);
        });
    }
  };
  if (call.dim > 0) parallel(call, call.batch * split, run);
  if (parts)
    for (int64_t b = 0; b < call.batch; ++b) {
      const ScanExample<T> e(call, b);
      for (int64_t t = 0; t < e.length; ++t) {
        const T* const here = part + b * call.time + t;
        T sum = here[0];
        for (int64_t block = 1; block < split; ++block) sum += here[block * gates];
        e.dz[t] = sum;
      }
    }
}

template <class T> void scan_forward(const ScanCall& call) {
  call.vector ? scan_forward_with<T, true>(call) : scan_forward_with<T, false>(call);
}

template <class T> void scan_backward(const ScanCall& call) {
  call.vector ? scan_backward_with<T, true>(call) : scan_backward_with<T, false>(call);
}

}  // namespace QRN_VARIANT
}  // namespace qrn
