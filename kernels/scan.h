// h_t = (1 - z_t) h_{t-1} + v_t and its gradient, forward or backward in time, for any number of steps.
#pragma once

#include "columns.h"
#include "pool.h"
#include "reader.h"

namespace qrn {
namespace QRN_VARIANT {

// Steps a block goes before the next block of the same rows has its turn, so that rows are still in the cache.
constexpr int64_t kScanSteps = 64;

// Smaller results lie in memory the allocator uses again: its pages are there already, and asking costs time.
constexpr size_t kFreshBytes = size_t(32) << 20;

template <class T> void expect_result(void* start, int64_t count) {
  const size_t bytes = size_t(count) * sizeof(T);
  if (bytes >= kFreshBytes) expect_writes(start, bytes);
}

// One example's arrays. Step s of its `length` steps is row first + s * direction.
template <class T> struct ScanExample {
  int64_t dim, length, first, direction;
  const T *z, *v, *initial, *h, *dh;
  T *out, *dz, *dv, *dinitial;

  ScanExample(const ScanCall& call, int64_t b) : dim(call.dim) {
    length = call.lengths[b] < 0 ? 0 : call.lengths[b] > call.time ? call.time : call.lengths[b];
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

template <bool Vector, class T, class V, int Count>
QRN_INLINE void scan_steps(const ScanExample<T>& e, const Columns<T, V, Count>& columns, int64_t from, int64_t to) {
  V state[Count];
  const int64_t before = (e.first + (from - 1) * e.direction) * e.dim;
#pragma GCC unroll 4
  for (int j = 0; j < Count; ++j) state[j] = get<V>(from == 0 ? e.initial + columns.at[j] : e.out + before + columns.at[j]);
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
template <class T, class V, int Count> QRN_INLINE void clear(const Columns<T, V, Count>& columns, T* row) {
  for (int j = 0; j < Count; ++j) put<V>(row + columns.at[j], V{});
}

template <bool Vector, class T, class V, int Count>
QRN_INLINE void scan_gradient_steps(const ScanExample<T>& e, const Columns<T, V, Count>& columns, int64_t from, int64_t to,
                                    bool first_block, T* adjoint, T* dz) {
  V carried[Count];
#pragma GCC unroll 4
  for (int j = 0; j < Count; ++j) carried[j] = get<V>(adjoint + columns.at[j]);
  for (int64_t s = to - 1; s >= from; --s) {
    const int64_t t = e.first + s * e.direction, row = t * e.dim;
    const T* const before = s == 0 ? e.initial : e.h + row - e.direction * e.dim;
    const V keep = Vector ? V{} : (T(1) - e.z[t]) - V{};
    V sum = {};
#pragma GCC unroll 4
    for (int j = 0; j < Count; ++j) {
      const int64_t at = row + columns.at[j];
      const V gradient = carried[j] + get<V>(e.dh + at);
      const V lost = gradient * get<V>(before + columns.at[j]);
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
  }
#pragma GCC unroll 4
  for (int j = 0; j < Count; ++j) put<V>(adjoint + columns.at[j], carried[j]);
}

// One task is an example, or one block of it where there are fewer examples than threads; the numbers are the same.
template <class T, bool Vector> void scan_forward_with(const ScanCall& call) {
  const ColumnBlocks<T> blocks(call.dim);
  const int64_t split = call.batch >= call.threads ? 1 : blocks.count;
  expect_result<T>(call.out, call.batch * call.time * call.dim);
  auto run = [&](int64_t task, int64_t) {
    const ScanExample<T> e(call, task / split);
    const int64_t first = split == 1 ? 0 : task % split, last = split == 1 ? blocks.count : first + 1;
    if (first == 0) std::memset(e.out + e.length * e.dim, 0, size_t((call.time - e.length) * e.dim) * sizeof(T));
    for (int64_t from = 0; from < e.length; from += kScanSteps) {
      const int64_t to = from + kScanSteps < e.length ? from + kScanSteps : e.length;
      for (int64_t block = first; block < last; ++block)
        blocks.visit(block, [&](const auto& columns) { scan_steps<Vector>(e, columns, from, to); });
    }
  };
  if (call.dim > 0) parallel(call, call.batch * split, run);
}

template <class T, bool Vector> void scan_backward_with(const ScanCall& call) {
  const ColumnBlocks<T> blocks(call.dim);
  const int64_t split = call.batch >= call.threads ? 1 : blocks.count, gates = call.batch * call.time;
  // Parts of dz by block, where blocks run side by side and share scalar gates.
  const bool parts = !Vector && split > 1;
  const Block memory(parts ? checked_product(split, gates) : 1, sizeof(T));
  expect_result<T>(call.dv, gates * call.dim);
  expect_result<T>(call.dz, gates * (Vector ? call.dim : 1));
  auto run = [&](int64_t task, int64_t) {
    const int64_t b = task / split;
    const ScanExample<T> e(call, b);
    const int64_t first = split == 1 ? 0 : task % split, last = split == 1 ? blocks.count : first + 1;
    T* const dz = parts ? static_cast<T*>(memory.start) + first * gates + b * call.time : e.dz;
    if (first == 0) {
      const int64_t after = call.time - e.length, gate = Vector ? e.dim : 1;
      std::memset(e.dv + e.length * e.dim, 0, size_t(after * e.dim) * sizeof(T));
      std::memset(e.dz + e.length * gate, 0, size_t(after * gate) * sizeof(T));
    }
    for (int64_t block = first; block < last; ++block)
      blocks.visit(block, [&](const auto& columns) { clear(columns, e.dinitial); });
    for (int64_t to = e.length; to > 0; to -= kScanSteps) {
      const int64_t from = to > kScanSteps ? to - kScanSteps : 0;
      for (int64_t block = first; block < last; ++block)
        blocks.visit(block, [&](const auto& columns) {
          scan_gradient_steps<Vector>(e, columns, from, to, parts || block == 0, e.dinitial, dz);
        });
    }
  };
  if (call.dim > 0) parallel(call, call.batch * split, run);
  if (parts)
    for (int64_t b = 0; b < call.batch; ++b) {
      const ScanExample<T> e(call, b);
      const T* const part = static_cast<const T*>(memory.start) + b * call.time;
      for (int64_t t = 0; t < e.length; ++t) {
        T sum = part[t];
        for (int64_t block = 1; block < split; ++block) sum += part[block * gates + t];
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
