// The position encoder and its gradient, both as sums of rows: to_r = sum over the list of r of l o from_i, with
// l_k = (1 - k/d) + place (2k/d - 1). Forward the lists are the words of each sentence; backward the places of each word.
#pragma once

#include "columns.h"
#include "pool.h"
#include "reader.h"

namespace qrn {
namespace QRN_VARIANT {

constexpr int64_t kSummedRows = 32;

// l_k splits into a part that does not depend on the place and one that does: only two plain sums are needed.
template <class T, class V, int Count>
QRN_INLINE void sum_row(const EncoderCall& call, int64_t row, const Columns<T, V, Count>& columns, const T* from,
                        const T* still, const T* moving, T* to) {
  V sum[Count] = {}, placed[Count] = {};
  for (int64_t i = call.first[row]; i < call.first[row + 1]; ++i) {
    const T* const source = from + call.index[i] * call.dim;
    const V place = T(call.place[i]) - V{};
#pragma GCC unroll 4
    for (int j = 0; j < Count; ++j) {
      const V value = get<V>(source + columns.at[j]);
      sum[j] += value;
      placed[j] += place * value;
    }
  }
  T* const there = to + row * call.dim;
  V before[Count] = {};  // all read before any is written: the last vector may overlap its neighbour
  if (call.adding)
    for (int j = 0; j < Count; ++j) before[j] = get<V>(there + columns.at[j]);
#pragma GCC unroll 4
  for (int j = 0; j < Count; ++j) {
    const int64_t k = columns.at[j];
    put<V>(there + k, before[j] + (get<V>(still + k) * sum[j] + get<V>(moving + k) * placed[j]));
  }
}

template <class T> void encode(const EncoderCall& call) {
  const int64_t pieces = (call.rows + kSummedRows - 1) / kSummedRows, d = call.dim;
  const Block memory(2 * d, sizeof(T));
  T* const still = static_cast<T*>(memory.start);
  T* const moving = still + d;
  for (int64_t k = 0; k < d; ++k) {
    const T along = T(k + 1) / T(d);
    still[k] = T(1) - along;
    moving[k] = T(2) * along - T(1);
  }
  const ColumnBlocks<T> blocks(d);
  auto sum = [&](int64_t task, int64_t) {
    const int64_t restart = task / pieces, first = task % pieces * kSummedRows;
    const int64_t end = first + kSummedRows < call.rows ? first + kSummedRows : call.rows;
    const T* const from = static_cast<const T*>(call.from.start) + restart * call.from.stride;
    T* const to = static_cast<T*>(call.to.start) + restart * call.to.stride;
    for (int64_t block = 0; block < blocks.count; ++block)
      blocks.visit(block, [&](const auto& columns) {
        for (int64_t row = first; row < end; ++row) sum_row(call, row, columns, from, still, moving, to);
      });
  };
  parallel(call, call.restarts * pieces, sum);
}

}  // namespace QRN_VARIANT
}  // namespace qrn
