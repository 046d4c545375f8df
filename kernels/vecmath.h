// tanh and the logistic function on vectors, to about two units in the last place; NaN stays NaN.
#pragma once

#include "simd.h"

namespace qrn {
namespace QRN_VARIANT {

// Constants of exp: ln 2 in two parts (the first short, so that n * high is exact); a number whose addition rounds to an
// integer and leaves it, plus the exponent's bias, in the lowest bits; and the series of (e^r - 1 - r) / r^2 on
// |r| <= ln(2)/2, for float the polynomial of least largest relative error (1.3e-8), for double the Taylor series.
template <class T> struct Exp;
template <> struct Exp<float> {
  static constexpr float log2e = 1.44269504088896341f, ln2_high = 0.693145751953125f, ln2_low = 1.42860682030941723e-6f;
  static constexpr float rounder = 12582912.0f + 127.0f;
  static constexpr int mantissa = 23, terms = 5;
  static constexpr float series[terms] = {0.4999999815515317f, 0.1666654367013911f, 0.041667199646379674f,
                                          0.008366513942309854f, 0.0013882522747831975f};
  static constexpr float lowest = -87.0f, highest = 89.0f, tanh_one = 9.1f;
};
template <> struct Exp<double> {
  static constexpr double log2e = 1.44269504088896341, ln2_high = 0.693147180369123816490,
                          ln2_low = 1.90821492927058770002e-10;
  static constexpr double rounder = 6755399441055744.0 + 1023.0;
  static constexpr int mantissa = 52, terms = 12;
  static constexpr double series[terms] = {1.0 / 2,       1.0 / 6,        1.0 / 24,        1.0 / 120,
                                           1.0 / 720,     1.0 / 5040,     1.0 / 40320,     1.0 / 362880,
                                           1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800};
  static constexpr double lowest = -708.0, highest = 710.0, tanh_one = 19.1;
};

// e^x = power * (1 + rest) with power = 2^n and |rest| < 1/2; x within [lowest, highest].
template <class T> QRN_INLINE void split_exp(Vec<T> x, Vec<T>& power, Vec<T>& rest) {
  using E = Exp<T>;
  const Vec<T> shifted = x * splat<T>(E::log2e) + splat<T>(E::rounder);
  const Vec<T> n = shifted - splat<T>(E::rounder);
  Vec<T> r = x - n * splat<T>(E::ln2_high);
  r = r - n * splat<T>(E::ln2_low);
  Vec<T> series = splat<T>(E::series[E::terms - 1]);
#pragma GCC unroll 16
  for (int i = E::terms - 2; i >= 0; --i) series = series * r + splat<T>(E::series[i]);
  rest = r * r * series + r;
  typename VectorOf<T>::Bits bits;
  std::memcpy(&bits, &shifted, sizeof bits);
  bits = bits << E::mantissa;
  std::memcpy(&power, &bits, sizeof power);
}

// Written so that a NaN fails both comparisons and passes through.
template <class T> QRN_INLINE Vec<T> clamp(Vec<T> x, T low, T high) {
  x = x > splat<T>(high) ? splat<T>(high) : x;
  return x < splat<T>(low) ? splat<T>(low) : x;
}

// e^x; of less than `lowest`, that of `lowest`.
template <class T> QRN_INLINE Vec<T> exp(Vec<T> x) {
  Vec<T> power, rest;
  split_exp<T>(clamp<T>(x, Exp<T>::lowest, Exp<T>::highest), power, rest);
  return power * rest + power;
}

// (e^2x - 1) / (e^2x + 1), with e^2x - 1 formed without cancellation.
template <class T> QRN_INLINE Vec<T> tanh(Vec<T> x) {
  Vec<T> power, rest;
  x = clamp<T>(x, -Exp<T>::tanh_one, Exp<T>::tanh_one);
  split_exp<T>(x + x, power, rest);
  const Vec<T> less_one = power * rest + (power - splat<T>(1));
  return less_one / (less_one + splat<T>(2));
}

// 1 / (1 + e^-x); where e^-x overflows, 2^n is infinity and the result exactly 0.
template <class T> QRN_INLINE Vec<T> logistic(Vec<T> x) {
  Vec<T> power, rest;
  split_exp<T>(clamp<T>(-x, Exp<T>::lowest, Exp<T>::highest), power, rest);
  return splat<T>(1) / (splat<T>(1) + power * (splat<T>(1) + rest));
}

// values[0..padded(count)) = logistic of themselves; the array must reach to a whole vector.
template <class T> inline void logistic_in_place(T* values, int64_t count) {
  for (int64_t i = 0; i < count; i += kLanes<T>) store<T>(values + i, logistic<T>(load(values + i)));
}

// An update gate: the logistic function, stretched by `factor` around 1/2 and clipped to [0, 1], so that a gate can be
// exactly shut or open. A factor of 1 changes no bit.
template <class T> struct Stretch {
  T factor, margin, inverse;
  explicit Stretch(double by) : factor(T(by)), margin(T((by - 1) / 2)), inverse(T(1 / by)) {}
  QRN_INLINE Vec<T> gate(Vec<T> logistic) const {
    return clamp<T>(splat<T>(factor) * logistic - splat<T>(margin), T(0), T(1));
  }
  // The slope of a gate is rise times fall; a clipped one has none.
  QRN_INLINE T rise(T z) const { return z > T(0) && z < T(1) ? z + margin : T(0); }
  QRN_INLINE T fall(T z) const { return T(1) - (z + margin) * inverse; }
  QRN_INLINE Vec<T> rise(Vec<T> z) const {
    const Vec<T> below = z < splat<T>(1) ? z + splat<T>(margin) : Vec<T>{};
    return z > Vec<T>{} ? below : Vec<T>{};
  }
  QRN_INLINE Vec<T> fall(Vec<T> z) const { return splat<T>(1) - (z + splat<T>(margin)) * splat<T>(inverse); }
};

}  // namespace QRN_VARIANT
}  // namespace qrn
