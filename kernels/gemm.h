// Small matrix products: blocks of the result held in registers, the right-hand side laid out in panels.
#pragma once

#include "simd.h"

namespace qrn {
namespace QRN_VARIANT {

#if defined(__AVX512F__) || defined(__aarch64__)
#define QRN_MANY_REGISTERS 1
constexpr int kTileRows = 6, kTileVectors = 4;  // 24 of 32 registers
#else
#define QRN_MANY_REGISTERS 0
constexpr int kTileRows = 4, kTileVectors = 3;  // 12 of 16 registers
#endif

// c[rows][vectors] (+)= a b with a[i][k] at a[i * a_row + k * a_step].
template <class T, int Rows, int Vectors>
QRN_INLINE void multiply_tile(int64_t depth, const T* a, int64_t a_row, int64_t a_step, const T* b, int64_t b_row, T* c,
                              int64_t c_row, bool add) {
  Vec<T> sum[Rows][Vectors];
#pragma GCC unroll 8
  for (int i = 0; i < Rows; ++i)
#pragma GCC unroll 8
    for (int j = 0; j < Vectors; ++j) sum[i][j] = add ? load(c + i * c_row + j * kLanes<T>) : Vec<T>{};
  for (int64_t k = 0; k < depth; ++k, a += a_step, b += b_row) {
    Vec<T> right[Vectors];
#pragma GCC unroll 8
    for (int j = 0; j < Vectors; ++j) right[j] = load(b + j * kLanes<T>);
#pragma GCC unroll 8
    for (int i = 0; i < Rows; ++i) {
      const Vec<T> left = splat<T>(a[i * a_row]);
#pragma GCC unroll 8
      for (int j = 0; j < Vectors; ++j) sum[i][j] += left * right[j];
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < Rows; ++i)
#pragma GCC unroll 8
    for (int j = 0; j < Vectors; ++j) store<T>(c + i * c_row + j * kLanes<T>, sum[i][j]);
}

template <class T> using Tile = void (*)(int64_t, const T*, int64_t, int64_t, const T*, int64_t, T*, int64_t, bool);

template <class T, int Rows, int Vectors>
void tile_of(int64_t depth, const T* a, int64_t a_row, int64_t a_step, const T* b, int64_t b_row, T* c, int64_t c_row,
             bool add) {
  multiply_tile<T, Rows, Vectors>(depth, a, a_row, a_step, b, b_row, c, c_row, add);
}

template <class T, int Rows> Tile<T> tile_with_rows(int64_t vectors) {
  static constexpr Tile<T> tiles[kTileVectors] = {
      tile_of<T, Rows, 1>, tile_of<T, Rows, 2>, tile_of<T, Rows, 3>,
#if QRN_MANY_REGISTERS
      tile_of<T, Rows, 4>,
#endif
  };
  return tiles[vectors - 1];
}

template <class T> Tile<T> tile_for(int64_t rows, int64_t vectors) {
  switch (rows) {
    case 1: return tile_with_rows<T, 1>(vectors);
    case 2: return tile_with_rows<T, 2>(vectors);
    case 3: return tile_with_rows<T, 3>(vectors);
#if QRN_MANY_REGISTERS
    case 5: return tile_with_rows<T, 5>(vectors);
    case 6: return tile_with_rows<T, 6>(vectors);
#endif
    default: return tile_with_rows<T, 4>(vectors);
  }
}

// `total` cut into parts of nearly equal size, `most` at most: a last part of one would leave the multipliers idle.
struct Parts {
  int64_t count, base, extra;
  Parts(int64_t total, int64_t most)
      : count((total + most - 1) / most), base(count > 0 ? total / count : 0), extra(count > 0 ? total % count : 0) {}
  int64_t start(int64_t part) const { return part * base + (part < extra ? part : extra); }
  int64_t size(int64_t part) const { return base + (part < extra); }
};

struct Panels : Parts {
  explicit Panels(int64_t vectors) : Parts(vectors, kTileVectors) {}
};

// A right-hand side of up to this many bytes stays in the first-level cache while rows of a and c pass by.
constexpr int64_t kResidentBytes = 16 * 1024;

template <class T>
void multiply(int64_t rows, int64_t depth, const T* a, int64_t a_row, int64_t a_step, const T* b, bool packed, T* c,
              int64_t width, bool add) {
  // Hides a stride of 1 from the compiler, which would gather neighbours with shuffles instead of broadcasting each.
  asm("" : "+r"(a_row), "+r"(a_step));
  const Panels panels(width / kLanes<T>);
  const Parts blocks(rows, kTileRows);
  auto tile = [&](int64_t block, int64_t panel) {
    const int64_t first = blocks.start(block), start = panels.start(panel) * kLanes<T>, vectors = panels.size(panel);
    tile_for<T>(blocks.size(block), vectors)(depth, a + first * a_row, a_row, a_step, b + (packed ? start * depth : start),
                                             packed ? vectors * kLanes<T> : width, c + first * width + start, width, add);
  };
  if (depth * width * int64_t(sizeof(T)) <= kResidentBytes) {
    for (int64_t block = 0; block < blocks.count; ++block)
      for (int64_t panel = 0; panel < panels.count; ++panel) tile(block, panel);
  } else {
    for (int64_t panel = 0; panel < panels.count; ++panel)
      for (int64_t block = 0; block < blocks.count; ++block) tile(block, panel);
  }
}

// c[rows][width] (+)= a[rows][depth] times a packed matrix; rows of a and c are `width` apart.
template <class T>
QRN_INLINE void multiply_packed(int64_t rows, int64_t depth, const T* a, const T* packed, T* c, int64_t width, bool add) {
  multiply<T>(rows, depth, a, width, 1, packed, true, c, width, add);
}

// c[columns][width] += a^T b over `rows` rows: the gradient of a weight matrix.
template <class T>
QRN_INLINE void multiply_transposed(int64_t columns, int64_t rows, const T* a, const T* b, T* c, int64_t width) {
  multiply<T>(columns, rows, a, 1, width, b, false, c, width, true);
}

// Lay out a size x size matrix, element (k, n) at from[k * row + n * step], in panels padded with zeros.
template <class T> void pack(int64_t size, const T* from, int64_t row, int64_t step, T* to) {
  const int64_t width = padded<T>(size);
  const Panels panels(width / kLanes<T>);
  for (int64_t panel = 0; panel < panels.count; ++panel) {
    const int64_t first = panels.start(panel) * kLanes<T>, last = panels.start(panel + 1) * kLanes<T>;
    for (int64_t k = 0; k < size; ++k)
      for (int64_t n = first; n < last; ++n) *to++ = n < size ? from[k * row + n * step] : T(0);
  }
}

}  // namespace QRN_VARIANT
}  // namespace qrn
