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
// Vectors of a row that go through time together: so many states and what they are computed from fit in registers.
constexpr int64_t kScanVectors = 8;
// A stretch of an example is worth a thread's while from this many steps.
constexpr int64_t kLeastStretch = 256;

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
  int64_t row(int64_t step) const { return (first + step * direction) * dim; }
  static const T* offset(const void* start, int64_t at) { return start == nullptr ? nullptr : static_cast<const T*>(start) + at; }
  static T* offset(void* start, int64_t at) { return start == nullptr ? nullptr : static_cast<T*>(start) + at; }
};

// Where there are too few examples for the threads, each is cut into stretches of time. All start at once, from nothing
// instead of what the stretch before it leaves; what that changed is then done again step by step, until a row comes out as it
// is already there. From that row on everything does, so results are those of one stretch, to the last bit. It is soon:
// what came before fades by 1 - z in every step. If it never fades, it all takes as long as on one thread.
struct Stretches {
  int64_t count = 1;
  explicit Stretches(const ScanCall& call) {
    const bool examples_suffice = call.batch >= 4 * call.threads || call.batch % call.threads == 0;
    if (!examples_suffice && call.time >= 2 * kLeastStretch)
      count = call.threads < call.time / kLeastStretch ? call.threads : call.time / kLeastStretch;
  }
  int64_t begin(int64_t length, int64_t stretch) const { return length * stretch / count; }
};

// The state, or its gradient, that each task starts from and ends with: a row for each stretch, or for each worker.
template <class T> struct CarriedRows {
  int64_t dim;
  bool by_task;
  Block memory;
  CarriedRows(const ScanCall& call, const Stretches& stretches)
      : dim(call.dim),
        by_task(stretches.count > 1),
        memory(checked_product(by_task ? checked_product(call.batch, stretches.count) : call.threads, dim), sizeof(T)) {}
  T* of(int64_t task, int64_t worker) const { return static_cast<T*>(memory.start) + (by_task ? task : worker) * dim; }
};

template <class T> QRN_INLINE size_t row_bytes(const ScanExample<T>& e) { return size_t(e.dim) * sizeof(T); }

template <class T> QRN_INLINE void copy_or_clear(T* row, const T* from, size_t bytes) {
  from == nullptr ? std::memset(row, 0, bytes) : std::memcpy(row, from, bytes);
}

// The example of a backward task. The pool's first worker takes tasks from the front and the second from the back; each gets
// its examples of the forward call in the opposite order, so that the last ones are still in its cache.
QRN_INLINE int64_t freshest_first(const ScanCall& call, int64_t task) {
  const int64_t front = call.threads == 1 ? call.batch : call.batch - call.batch / 2;
  return task < front ? front - 1 - task : front + (call.batch - 1 - task);
}

// The last-level cache that a few cores share is about this large; what the system reports in a virtual machine is not.
constexpr int64_t kCacheBytes = int64_t(32) << 20;

// Results that no cache can hold go past it: memory then need not be read before it is written. That takes whole
// vectors at addresses that are multiples of their size.
template <class T> bool past_cache(const ScanCall& call, int64_t arrays, const void* one, const void* other) {
  const uintptr_t addresses = reinterpret_cast<uintptr_t>(one) | reinterpret_cast<uintptr_t>(other);
  const int64_t row = call.dim * int64_t(sizeof(T));
  return row % QRN_VECTOR_BYTES == 0 && addresses % QRN_VECTOR_BYTES == 0 &&
         arrays * call.batch * call.time * row > kCacheBytes;
}

template <bool PastCache, class V, class T> QRN_INLINE void put_result(T* to, V value) {
  if constexpr (PastCache && sizeof(V) == QRN_VECTOR_BYTES)
    store_past_cache(to, value);
  else
    put<V>(to, value);
}

// Steps [from, to); `carried` is the state before and then after them.
template <bool Vector, bool PastCache, class T, class V, int Count>
QRN_INLINE void scan_steps(const ScanExample<T>& example, const Columns<T, V, Count>& columns, int64_t from, int64_t to,
                           T* carried) {
  const ScanExample<T> e = example;  // a copy, as a result could lie in the original for all the compiler knows
  V state[Count];
#pragma GCC unroll 8
  for (int j = 0; j < Count; ++j) state[j] = get<V>(carried + columns.at[j]);
  for (int64_t s = from; s < to; ++s) {
    const int64_t t = e.first + s * e.direction, row = t * e.dim;
    const V keep = Vector ? V{} : (T(1) - e.z[t]) - V{};
#pragma GCC unroll 8
    for (int j = 0; j < Count; ++j) {
      const int64_t at = row + columns.at[j];
      state[j] = (Vector ? T(1) - get<V>(e.z + at) : keep) * state[j] + get<V>(e.v + at);
      put_result<PastCache>(e.out + at, state[j]);
    }
  }
#pragma GCC unroll 8
  for (int j = 0; j < Count; ++j) put<V>(carried + columns.at[j], state[j]);
}

// Steps [from, to) in falling order; `carried` is the gradient of the state after and then before them. With scalar
// gates a block adds its part of dz; blocks come in order, so the sum is always the same.
template <bool Vector, bool PastCache, class T, class V, int Count>
QRN_INLINE void scan_gradient_steps(const ScanExample<T>& example, const Columns<T, V, Count>& columns, int64_t from,
                                    int64_t to, bool first_block, T* carried_row) {
  const ScanExample<T> e = example;
  V carried[Count];
#pragma GCC unroll 8
  for (int j = 0; j < Count; ++j) carried[j] = get<V>(carried_row + columns.at[j]);
  auto step = [&](int64_t s, auto has_before) {
    const int64_t t = e.first + s * e.direction, row = t * e.dim;
    const T* const before = s == 0 ? e.initial : e.h + row - e.direction * e.dim;
    const V keep = Vector ? V{} : (T(1) - e.z[t]) - V{};
    V sum = {};
#pragma GCC unroll 8
    for (int j = 0; j < Count; ++j) {
      const int64_t at = row + columns.at[j];
      const V gradient = carried[j] + get<V>(e.dh + at);
      const V lost = decltype(has_before)::value ? gradient * get<V>(before + columns.at[j]) : V{};
      put_result<PastCache>(e.dv + at, gradient);
      if (Vector) {
        put_result<PastCache>(e.dz + at, -lost);
        carried[j] = gradient * (T(1) - get<V>(e.z + at));
      } else {
        sum += j == Count - 1 ? lost * columns.counted : lost;
        carried[j] = gradient * keep;
      }
    }
    if (!Vector) e.dz[t] = first_block ? -sum_lanes(sum) : e.dz[t] - sum_lanes(sum);
  };
  for (int64_t s = to - 1; s >= from && s > 0; --s) step(s, std::true_type{});
  if (from == 0) e.initial == nullptr ? step(0, std::false_type{}) : step(0, std::true_type{});
#pragma GCC unroll 8
  for (int j = 0; j < Count; ++j) put<V>(carried_row + columns.at[j], carried[j]);
}

template <class T, bool Vector, bool PastCache> void scan_forward_with(const ScanCall& call) {
  const ColumnBlocks<T, kScanVectors> blocks(call.dim);
  const Stretches stretches(call);
  const CarriedRows<T> rows(call, stretches);
  auto some_steps = [&](const ScanExample<T>& e, int64_t from, int64_t to, T* carried) {
    for (int64_t block = 0; block < blocks.count; ++block)
      blocks.visit(block, [&](const auto& columns) { scan_steps<Vector, PastCache>(e, columns, from, to, carried); });
  };
  auto run = [&](int64_t task, int64_t worker) {
    const ScanExample<T> e(call, task / stretches.count);
    const int64_t stretch = task % stretches.count, end = stretches.begin(e.length, stretch + 1);
    T* const carried = rows.of(task, worker);
    copy_or_clear(carried, stretch == 0 ? e.initial : nullptr, row_bytes(e));
    if (stretch == 0) std::memset(e.out + e.length * e.dim, 0, size_t(call.time - e.length) * row_bytes(e));
    for (int64_t from = stretches.begin(e.length, stretch); from < end && !stopped(call.stop); from += kScanSteps)
      some_steps(e, from, from + kScanSteps < end ? from + kScanSteps : end, carried);
    if (PastCache) finish_stores();
  };
  auto join = [&](int64_t example, int64_t) {
    const ScanExample<T> e(call, example);
    const Block kept(e.dim, sizeof(T));
    for (int64_t stretch = 1; stretch < stretches.count; ++stretch) {
      T* const carried = rows.of(example * stretches.count + stretch - 1, 0);
      const int64_t end = stretches.begin(e.length, stretch + 1);
      bool same = false;
      for (int64_t from = stretches.begin(e.length, stretch); from < end && !same && !stopped(call.stop); from += kScanSteps) {
        const int64_t to = from + kScanSteps < end ? from + kScanSteps : end;
        const T* const last = e.out + e.row(to - 1);
        std::memcpy(kept.start, last, row_bytes(e));
        some_steps(e, from, to, carried);
        same = std::memcmp(kept.start, last, row_bytes(e)) == 0;
      }
      if (!same) std::memcpy(carried + e.dim, carried, row_bytes(e));
    }
    if (PastCache) finish_stores();
  };
  if (call.dim == 0) return;
  parallel(call, call.batch * stretches.count, run);
  if (stretches.count > 1) parallel(call, call.batch, join);
}

template <class T, bool Vector, bool PastCache> void scan_backward_with(const ScanCall& call) {
  const ColumnBlocks<T, kScanVectors> blocks(call.dim);
  const Stretches stretches(call);
  const CarriedRows<T> rows(call, stretches);
  auto some_steps = [&](const ScanExample<T>& e, int64_t from, int64_t to, T* carried) {
    for (int64_t block = 0; block < blocks.count; ++block)
      blocks.visit(block, [&](const auto& columns) {
        scan_gradient_steps<Vector, PastCache>(e, columns, from, to, block == 0, carried);
      });
  };
  auto finish = [&](const ScanExample<T>& e, const T* carried) {
    if (e.dinitial != nullptr) std::memcpy(e.dinitial, carried, row_bytes(e));
    if (PastCache) finish_stores();
  };
  auto run = [&](int64_t task, int64_t worker) {
    const ScanExample<T> e(call, stretches.count > 1 ? task / stretches.count : freshest_first(call, task));
    const int64_t stretch = task % stretches.count, begin = stretches.begin(e.length, stretch);
    T* const carried = rows.of(task, worker);
    std::memset(carried, 0, row_bytes(e));
    if (stretch == 0) {
      const int64_t after = call.time - e.length, gate = Vector ? e.dim : 1;
      std::memset(e.dv + e.length * e.dim, 0, size_t(after) * row_bytes(e));
      std::memset(e.dz + e.length * gate, 0, size_t(after * gate) * sizeof(T));
    }
    for (int64_t to = stretches.begin(e.length, stretch + 1); to > begin && !stopped(call.stop); to -= kScanSteps)
      some_steps(e, to - kScanSteps > begin ? to - kScanSteps : begin, to, carried);
    finish(e, carried);
  };
  auto join = [&](int64_t example, int64_t) {
    const ScanExample<T> e(call, example);
    const Block kept(e.dim, sizeof(T));
    for (int64_t stretch = stretches.count - 2; stretch >= 0; --stretch) {
      T* const carried = rows.of(example * stretches.count + stretch + 1, 0);
      const int64_t begin = stretches.begin(e.length, stretch);
      bool same = false;
      for (int64_t to = stretches.begin(e.length, stretch + 1); to > begin && !same && !stopped(call.stop); to -= kScanSteps) {
        const int64_t from = to - kScanSteps > begin ? to - kScanSteps : begin;
        const T* const last = e.dv + e.row(from);
        std::memcpy(kept.start, last, row_bytes(e));
        some_steps(e, from, to, carried);
        same = std::memcmp(kept.start, last, row_bytes(e)) == 0;
      }
      if (!same) std::memcpy(carried - e.dim, carried, row_bytes(e));
    }
    finish(e, rows.of(example * stretches.count, 0));
  };
  if (call.dim == 0) return;
  parallel(call, call.batch * stretches.count, run);
  if (stretches.count > 1) parallel(call, call.batch, join);
}

template <class T> void scan_forward(const ScanCall& call) {
  const bool past = past_cache<T>(call, call.vector ? 3 : 2, call.out, call.out);
  if (call.vector)
    past ? scan_forward_with<T, true, true>(call) : scan_forward_with<T, true, false>(call);
  else
    past ? scan_forward_with<T, false, true>(call) : scan_forward_with<T, false, false>(call);
}

template <class T> void scan_backward(const ScanCall& call) {
  const bool past = past_cache<T>(call, call.vector ? 5 : 3, call.dv, call.vector ? call.dz : call.dv);
  if (call.vector)
    past ? scan_backward_with<T, true, true>(call) : scan_backward_with<T, true, false>(call);
  else
    past ? scan_backward_with<T, false, true>(call) : scan_backward_with<T, false, false>(call);
}

}  // namespace QRN_VARIANT
}  // namespace qrn
