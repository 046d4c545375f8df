// Rows of any length, not padded, as blocks of whole vectors.
#pragma once

#include "simd.h"

namespace qrn {
namespace QRN_VARIANT {

// Most vectors in a block: what is summed or carried along for each stays in registers.
constexpr int64_t kBlockVectors = 4;

template <class V, class T> QRN_INLINE V get(const T* from) {
  V value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
template <class V, class T> QRN_INLINE void put(T* to, V value) { std::memcpy(to, &value, sizeof value); }
QRN_INLINE float sum_lanes(float value) { return value; }
QRN_INLINE double sum_lanes(double value) { return value; }

// Count vectors of type V next to each other, the last one moved left to end with the row: it repeats columns of its
// neighbour, which is harmless where results are stored and masked where they are summed.
template <class T, class V, int Count> struct Columns {
  static constexpr int64_t lanes = int64_t(sizeof(V) / sizeof(T));
  int64_t at[Count];
  V counted;
  Columns(int64_t start, int64_t dim) {
    for (int j = 0; j < Count; ++j) at[j] = start + j * lanes;
    const int64_t over = start + Count * lanes > dim ? start + Count * lanes - dim : 0;
    at[Count - 1] -= over;
    T mask[lanes];
    for (int64_t i = 0; i < lanes; ++i) mask[i] = i < over ? T(0) : T(1);
    counted = get<V>(mask);
  }
};

// The blocks of a row, of nearly equal width up to `Most` vectors, so that a moved last vector overlaps its own block
// only. Rows shorter than a vector go number by number.
template <class T, int64_t Most = kBlockVectors> struct ColumnBlocks {
  int64_t dim, vectors, count;
  explicit ColumnBlocks(int64_t dim) : dim(dim), vectors((dim + kLanes<T> - 1) / kLanes<T>) {
    count = dim < kLanes<T> ? dim : (vectors + Most - 1) / Most;
  }

  template <class Body> QRN_INLINE void visit(int64_t block, Body body) const {
    if (dim < kLanes<T>) return body(Columns<T, T, 1>(block, dim));
    const int64_t base = vectors / count, extra = vectors % count;
    const int64_t start = (block * base + (block < extra ? block : extra)) * kLanes<T>;
    switch (base + (block < extra)) {
      case 1: return body(Columns<T, Vec<T>, 1>(start, dim));
      case 2: return body(Columns<T, Vec<T>, 2>(start, dim));
      case 3: return body(Columns<T, Vec<T>, 3>(start, dim));
      case 4: return body(Columns<T, Vec<T>, 4>(start, dim));
    }
    if constexpr (Most > 4) switch (base + (block < extra)) {
        case 5: return body(Columns<T, Vec<T>, 5>(start, dim));
        case 6: return body(Columns<T, Vec<T>, 6>(start, dim));
        case 7: return body(Columns<T, Vec<T>, 7>(start, dim));
        case 8: return body(Columns<T, Vec<T>, 8>(start, dim));
      }
  }
};

}  // namespace QRN_VARIANT
}  // namespace qrn
