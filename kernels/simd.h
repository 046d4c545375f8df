// Vectors of one machine's width by the compiler's own vector types, so that one source serves every variant.
#pragma once

#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#if !defined(QRN_VARIANT) || !defined(QRN_VECTOR_BYTES)
#error "compiled once per instruction set: see CMakeLists.txt"
#endif

#define QRN_INLINE inline __attribute__((always_inline))

namespace qrn {
namespace QRN_VARIANT {

template <class T> struct VectorOf;
template <> struct VectorOf<float> {
  typedef float Type __attribute__((vector_size(QRN_VECTOR_BYTES)));
  typedef float Half __attribute__((vector_size(QRN_VECTOR_BYTES / 2)));
  typedef int32_t Bits __attribute__((vector_size(QRN_VECTOR_BYTES)));
};
template <> struct VectorOf<double> {
  typedef double Type __attribute__((vector_size(QRN_VECTOR_BYTES)));
  typedef double Half __attribute__((vector_size(QRN_VECTOR_BYTES / 2)));
  typedef int64_t Bits __attribute__((vector_size(QRN_VECTOR_BYTES)));
};
template <class T> using Vec = typename VectorOf<T>::Type;
template <class T> using HalfVec = typename VectorOf<T>::Half;

template <class T> constexpr int64_t kLanes = QRN_VECTOR_BYTES / int64_t(sizeof(T));

template <class T> QRN_INLINE int64_t padded(int64_t count) { return (count + kLanes<T> - 1) / kLanes<T> * kLanes<T>; }

template <class T> QRN_INLINE Vec<T> load(const T* from) {
  Vec<T> value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <class T> QRN_INLINE void store(T* to, Vec<T> value) { std::memcpy(to, &value, sizeof value); }

template <class T> QRN_INLINE HalfVec<T> load_half(const T* from) {
  HalfVec<T> value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <class T> QRN_INLINE HalfVec<T> first_half(Vec<T> whole) {
  HalfVec<T> value;
  std::memcpy(&value, &whole, sizeof value);
  return value;
}

// Zeros in the other half.
template <class T> QRN_INLINE void store_half(T* to, HalfVec<T> value) {
  const HalfVec<T> zeros = {};
  std::memcpy(to, &value, sizeof value);
  std::memcpy(to + kLanes<T> / 2, &zeros, sizeof zeros);
}

// Writes a vector to memory without a place in the cache, at a multiple of its size; finish_stores before others read it.
template <class T> QRN_INLINE void store_past_cache(T* to, Vec<T> value) {
#if defined(__AVX512F__)
  _mm512_stream_si512(reinterpret_cast<__m512i*>(to), reinterpret_cast<__m512i>(value));
#elif defined(__AVX2__)
  _mm256_stream_si256(reinterpret_cast<__m256i*>(to), reinterpret_cast<__m256i>(value));
#elif defined(__SSE2__)
  _mm_stream_si128(reinterpret_cast<__m128i*>(to), reinterpret_cast<__m128i>(value));
#else
  store(to, value);
#endif
}
QRN_INLINE void finish_stores() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

// Subtracting zero keeps every value, so the compiler turns this into a plain broadcast.
template <class T> QRN_INLINE Vec<T> splat(T value) { return value - Vec<T>{}; }

// The sum of all lanes, always added in the same order.
QRN_INLINE float sum_lanes(VectorOf<float>::Type value) {
  typedef float Quarter __attribute__((vector_size(16)));
  Quarter parts[QRN_VECTOR_BYTES / 16];
  std::memcpy(parts, &value, sizeof value);
  for (int step = QRN_VECTOR_BYTES / 32; step > 0; step /= 2)
    for (int i = 0; i < step; ++i) parts[i] += parts[i + step];
  return (parts[0][0] + parts[0][2]) + (parts[0][1] + parts[0][3]);
}

QRN_INLINE double sum_lanes(VectorOf<double>::Type value) {
  typedef double Pair __attribute__((vector_size(16)));
  Pair parts[QRN_VECTOR_BYTES / 16];
  std::memcpy(parts, &value, sizeof value);
  for (int step = QRN_VECTOR_BYTES / 32; step > 0; step /= 2)
    for (int i = 0; i < step; ++i) parts[i] += parts[i + step];
  return parts[0][0] + parts[0][1];
}

}  // namespace QRN_VARIANT
}  // namespace qrn
