// The words of sentences as lists for the encoder.
#pragma once

#include <cstdint>
#include <vector>

#include "reader.h"

namespace qrn {

// The words of every sentence, with their places as fractions of its own or the longest length.
struct WordLists {
  std::vector<int64_t> first{0};
  std::vector<int32_t> index;
  std::vector<double> place;

  Status gather(const int64_t* words, int64_t sentences, int64_t row, int64_t vocabulary, int64_t longest) {
    for (int64_t s = 0; s < sentences; ++s) {
      int64_t there = 0;
      for (int64_t j = 0; j < row; ++j) there += words[s * row + j] > 0;
      const double length = double(longest > 0 ? longest : there);
      for (int64_t j = 0; j < row; ++j) {
        const int64_t word = words[s * row + j];
        if (word < 0 || word >= vocabulary) return kBadWord;
        if (word == 0) continue;
        index.push_back(int32_t(word));
        place.push_back(double(j + 1) / length);
      }
      first.push_back(int64_t(index.size()));
    }
    return kDone;
  }

  // The same word by word: which sentences have it, where. The order of the sentences is kept.
  WordLists by_word(int64_t vocabulary) const {
    WordLists turned;
    turned.first.assign(size_t(vocabulary) + 1, 0);
    turned.index.resize(index.size());
    turned.place.resize(index.size());
    for (const int32_t word : index) ++turned.first[size_t(word) + 1];
    for (size_t v = 0; v < size_t(vocabulary); ++v) turned.first[v + 1] += turned.first[v];
    std::vector<int64_t> next(turned.first.begin(), turned.first.end() - 1);
    for (size_t s = 0; s + 1 < first.size(); ++s)
      for (int64_t i = first[s]; i < first[s + 1]; ++i) {
        const size_t at = size_t(next[size_t(index[size_t(i)])]++);
        turned.index[at] = int32_t(s);
        turned.place[at] = place[size_t(i)];
      }
    return turned;
  }
};

}  // namespace qrn
