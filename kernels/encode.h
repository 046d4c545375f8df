// Sentence vectors: sum over words of l_kj times the word's vector, with l_kj = (1 - k/d) + (j/J)(2k/d - 1).
#pragma once

#include "pool.h"
#include "reader.h"
#include "simd.h"

namespace qrn {
namespace QRN_VARIANT {

constexpr int64_t kEncodedSentences = 64;
constexpr int64_t kEncodedColumns = 64;

template <class T> QRN_INLINE T position_weight(int64_t k, int64_t d, T place) {
  const T along = T(k + 1) / T(d);
  return (T(1) - along) + place * (T(2) * along - T(1));
}

template <class T> void encode_forward(const EncoderCall& call) {
  const int64_t blocks = (call.sentences + kEncodedSentences - 1) / kEncodedSentences, d = call.dim;
  auto encode = [&](int64_t task, int64_t) {
    const int64_t restart = task / blocks, from = task % blocks * kEncodedSentences;
    const int64_t to = from + kEncodedSentences < call.sentences ? from + kEncodedSentences : call.sentences;
    const T* const embedding = static_cast<const T*>(call.embedding.start) + restart * call.embedding.stride;
    T* const table = static_cast<T*>(call.table.start) + restart * call.table.stride;
    for (int64_t s = from; s < to; ++s) {
      T* const row = table + s * d;
      for (int64_t k = 0; k < d; ++k) row[k] = T(0);
      for (int64_t w = call.first_word[s]; w < call.first_word[s + 1]; ++w) {
        const T* const vector = embedding + call.words[w] * d;
        const T place = T(call.places[w]);
        for (int64_t k = 0; k < d; ++k) row[k] += vector[k] * position_weight<T>(k, d, place);
      }
    }
  };
  parallel(call.threads, call.restarts * blocks, encode);
}

// `table` holds the table's gradient and `embedding` receives the words'. A task owns some columns of one restart.
template <class T> void encode_backward(const EncoderCall& call) {
  const int64_t blocks = (call.dim + kEncodedColumns - 1) / kEncodedColumns, d = call.dim;
  auto encode = [&](int64_t task, int64_t) {
    const int64_t restart = task / blocks, from = task % blocks * kEncodedColumns;
    const int64_t to = from + kEncodedColumns < d ? from + kEncodedColumns : d;
    T* const embedding = static_cast<T*>(call.embedding.start) + restart * call.embedding.stride;
    const T* const table = static_cast<const T*>(call.table.start) + restart * call.table.stride;
    for (int64_t s = 0; s < call.sentences; ++s)
      for (int64_t w = call.first_word[s]; w < call.first_word[s + 1]; ++w) {
        T* const vector = embedding + call.words[w] * d;
        const T* const row = table + s * d;
        const T place = T(call.places[w]);
        for (int64_t k = from; k < to; ++k) vector[k] += row[k] * position_weight<T>(k, d, place);
      }
  };
  parallel(call.threads, call.restarts * blocks, encode);
}

}  // namespace QRN_VARIANT
}  // namespace qrn
