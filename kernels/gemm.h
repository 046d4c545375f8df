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

// Where only the first half of a row's last vector is used, products leave its other half, zeros, alone: 50 columns then
// cost 56 multiplications instead of 64.
constexpr bool kHalves = QRN_VECTOR_BYTES == 64;

// c[rows][vectors] (+)= a b with a[i][k] at a[i * a_row + k * a_step]. With Half, of the last vector only the first half.
template <class T, int Rows, int Vectors, bool Half>
void multiply_tile(int64_t depth, const T* a, int64_t a_row, int64_t a_step, const T* b, int64_t b_row, T* c, int64_t c_row,
                   bool add) {
  constexpr int kWhole = Half ? Vectors - 1 : Vectors;
  Vec<T> sum[Rows][kWhole + 1];  // one more than needed: there are no arrays of nothing
  HalfVec<T> last[Rows];
#pragma GCC unroll 8
  for (int i = 0; i < Rows; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < kWhole; ++j) sum[i][j] = add ? load(c + i * c_row + j * kLanes<T>) : Vec<T>{};
    if (Half) last[i] = add ? load_half(c + i * c_row + kWhole * kLanes<T>) : HalfVec<T>{};
  }
  for (int64_t k = 0; k < depth; ++k, a += a_step, b += b_row) {
    Vec<T> right[kWhole + 1];
    HalfVec<T> last_right;
#pragma GCC unroll 8
    for (int j = 0; j < kWhole; ++j) right[j] = load(b + j * kLanes<T>);
    if (Half) last_right = load_half(b + kWhole * kLanes<T>);
#pragma GCC unroll 8
    for (int i = 0; i < Rows; ++i) {
      const Vec<T> left = splat<T>(a[i * a_row]);
#pragma GCC unroll 8
      for (int j = 0; j < kWhole; ++j) sum[i][j] += left * right[j];
      if (Half) last[i] += first_half<T>(left) * last_right;
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < Rows; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < kWhole; ++j) store<T>(c + i * c_row + j * kLanes<T>, sum[i][j]);
    if (Half) store_half<T>(c + i * c_row + kWhole * kLanes<T>, last[i]);
  }
}

template <class T> using Tile = void (*)(int64_t, const T*, int64_t, int64_t, const T*, int64_t, T*, int64_t, bool);

template <class T, int Rows, bool Half> Tile<T> tile_with_rows(int64_t vectors) {
  static constexpr Tile<T> tiles[kTileVectors] = {
      multiply_tile<T, Rows, 1, Half>, multiply_tile<T, Rows, 2, Half>, multiply_tile<T, Rows, 3, Half>,
#if QRN_MANY_REGISTERS
      multiply_tile<T, Rows, 4, Half>,
#endif
  };
  return tiles[vectors - 1];
}

template <class T, bool Half> Tile<T> tile_for(int64_t rows, int64_t vectors) {
  switch (rows) {
    case 1: return tile_with_rows<T, 1, Half>(vectors);
    case 2: return tile_with_rows<T, 2, Half>(vectors);
    case 3: return tile_with_rows<T, 3, Half>(vectors);
#if QRN_MANY_REGISTERS
    case 5: return tile_with_rows<T, 5, Half>(vectors);
    case 6: return tile_with_rows<T, 6, Half>(vectors);
#endif
    default: return tile_with_rows<T, 4, Half>(vectors);
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

// c[rows][columns] (+)= a b; rows of c and of an unpacked b are `width` apart, and what lies between is zero.
template <class T>
void multiply(int64_t rows, int64_t depth, const T* a, int64_t a_row, int64_t a_step, const T* b, bool packed, T* c,
              int64_t columns, bool add) {
  // Hides a stride of 1 from the compiler, which would gather neighbours with shuffles instead of broadcasting each.
  asm("" : "+r"(a_row), "+r"(a_step));
  const int64_t width = padded<T>(columns);
  const Panels panels(width / kLanes<T>);
  const Parts blocks(rows, kTileRows);
  auto tile = [&](int64_t block, int64_t panel) {
    const int64_t first = blocks.start(block), start = panels.start(panel) * kLanes<T>, vectors = panels.size(panel);
    const bool half = kHalves && panel == panels.count - 1 && width - columns >= kLanes<T> / 2;
    const Tile<T> body = (half ? tile_for<T, kHalves> : tile_for<T, false>)(blocks.size(block), vectors);
    body(depth, a + first * a_row, a_row, a_step, b + (packed ? start * depth : start),
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

// c[rows][d] (+)= a[rows][d] times a packed d x d matrix.
template <class T>
QRN_INLINE void multiply_packed(int64_t rows, int64_t d, const T* a, const T* packed, T* c, bool add) {
  multiply<T>(rows, d, a, padded<T>(d), 1, packed, true, c, d, add);
}

// c[d][d] += a^T b over `rows` rows: the gradient of a weight matrix.
template <class T> QRN_INLINE void multiply_transposed(int64_t d, int64_t rows, const T* a, const T* b, T* c) {
  multiply<T>(d, rows, a, 1, padded<T>(d), b, false, c, d, true);
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
