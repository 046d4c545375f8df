// Small matrix products: blocks of the result held in registers, the right-hand side laid out in panels.
#pragma once

#include "simd.h"

namespace qrn {
namespace QRN_VARIANT {

#if defined(__AVX512F__) || defined(__aarch64__)
constexpr int kTileRows = 6, kTileVectors = 4;  // 24 of 32 registers
#else
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

template <class T, int Vectors>
void multiply_panel(int64_t rows, int64_t depth, const T* a, int64_t a_row, int64_t a_step, const T* b, int64_t b_row, T* c,
                    int64_t c_row, bool add) {
  // Blocks of nearly equal height: a last block of one row would leave the multipliers idle.
  const int64_t blocks = (rows + kTileRows - 1) / kTileRows;
  for (int64_t block = 0, i = 0; block < blocks; ++block) {
    const int64_t height = (rows - i) / (blocks - block) + ((rows - i) % (blocks - block) != 0);
    const T* a_block = a + i * a_row;
    T* c_block = c + i * c_row;
    switch (height) {
      case 1: multiply_tile<T, 1, Vectors>(depth, a_block, a_row, a_step, b, b_row, c_block, c_row, add); break;
      case 2: multiply_tile<T, 2, Vectors>(depth, a_block, a_row, a_step, b, b_row, c_block, c_row, add); break;
      case 3: multiply_tile<T, 3, Vectors>(depth, a_block, a_row, a_step, b, b_row, c_block, c_row, add); break;
      case 4: multiply_tile<T, 4, Vectors>(depth, a_block, a_row, a_step, b, b_row, c_block, c_row, add); break;
#if defined(__AVX512F__) || defined(__aarch64__)
      case 5: multiply_tile<T, 5, Vectors>(depth, a_block, a_row, a_step, b, b_row, c_block, c_row, add); break;
      case 6: multiply_tile<T, 6, Vectors>(depth, a_block, a_row, a_step, b, b_row, c_block, c_row, add); break;
#endif
    }
    i += height;
  }
}

// Panels of nearly equal width, kTileVectors at most.
struct Panels {
  int64_t vectors, count;
  explicit Panels(int64_t vectors) : vectors(vectors), count((vectors + kTileVectors - 1) / kTileVectors) {}
  int64_t start(int64_t panel) const {
    const int64_t base = vectors / count, extra = vectors % count;
    return panel * base + (panel < extra ? panel : extra);
  }
};

template <class T>
void multiply(int64_t rows, int64_t depth, const T* a, int64_t a_row, int64_t a_step, const T* b, bool packed, T* c,
              int64_t width, bool add) {
  const Panels panels(width / kLanes<T>);
  for (int64_t panel = 0; panel < panels.count; ++panel) {
    const int64_t start = panels.start(panel) * kLanes<T>;
    const int64_t vectors = panels.start(panel + 1) - panels.start(panel);
    const T* b_panel = b + (packed ? start * depth : start);
    const int64_t b_row = packed ? vectors * kLanes<T> : width;
    switch (vectors) {
      case 1: multiply_panel<T, 1>(rows, depth, a, a_row, a_step, b_panel, b_row, c + start, width, add); break;
      case 2: multiply_panel<T, 2>(rows, depth, a, a_row, a_step, b_panel, b_row, c + start, width, add); break;
      case 3: multiply_panel<T, 3>(rows, depth, a, a_row, a_step, b_panel, b_row, c + start, width, add); break;
#if defined(__AVX512F__) || defined(__aarch64__)
      case 4: multiply_panel<T, 4>(rows, depth, a, a_row, a_step, b_panel, b_row, c + start, width, add); break;
#endif
    }
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
