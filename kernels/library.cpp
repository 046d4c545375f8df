// The C interface: chooses the variant for this processor, checks what only native code can check cheaply.
#include <algorithm>
#include <cstring>
#include <new>
#include <vector>

#include "plan.h"
#include "pool.h"
#include "reader.h"

#define QRN_EXPORT extern "C" __attribute__((visibility("default")))

namespace qrn {

// From the widest to the narrowest; CMakeLists.txt builds the same ones.
#if defined(__x86_64__)
#define QRN_VARIANTS(V) V(avx512) V(avx2) V(baseline)
#else
#define QRN_VARIANTS(V) V(baseline)
#endif

#define QRN_DECLARE(variant)       \
  namespace variant {              \
  extern const KernelPair table;   \
  }
QRN_VARIANTS(QRN_DECLARE)

namespace {

bool runs_here(const char* variant) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (std::strcmp(variant, "avx512") == 0) return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("fma");
  if (std::strcmp(variant, "avx2") == 0) return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
  return std::strcmp(variant, "baseline") == 0;
}

// The first that runs here, or the one asked for.
const KernelPair* find_kernels(const char* wanted) {
#define QRN_ADDRESS(variant) &variant::table,
  const KernelPair* const all[] = {QRN_VARIANTS(QRN_ADDRESS)};
  for (const KernelPair* pair : all)
    if (runs_here(pair->single.name) && (wanted == nullptr || std::strcmp(wanted, pair->single.name) == 0)) return pair;
  return nullptr;
}

const KernelPair*& chosen() {
  static const KernelPair* pair = find_kernels(nullptr);
  return pair;
}

const Kernels& kernels(int twice) { return twice ? chosen()->twice : chosen()->single; }

// Waking threads takes some ten microseconds: below so many multiplications one does it alone. The result is the same.
constexpr double kWorthThreads = 1e6;

int64_t threads_for(double multiplications, int64_t threads) { return multiplications < kWorthThreads ? 1 : threads; }

ReaderCall with_threads(const ReaderCall& call, const Plan& plan) {
  const double d = double(call.dim), deep = double(call.layers - 1) * (call.vector ? 4 : 1);
  ReaderCall adjusted = call;
  adjusted.threads = threads_for(double(call.restarts) * double(plan.rows) * d * (d * deep + 20 * double(call.layers)), call.threads);
  return adjusted;
}

ScanCall with_threads(const ScanCall& call) {
  ScanCall adjusted = call;
  adjusted.threads = threads_for(8.0 * double(call.batch) * double(call.time) * double(call.dim), call.threads);
  return adjusted;
}

// The gradient of a word gathers rows from all over the table; of so many sentences they are still in the cache.
constexpr int64_t kSentencesAtOnce = 4096;

template <class Body> int guarded(Body body) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return kNoMemory;
  }
}

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

}  // namespace
}  // namespace qrn

using namespace qrn;

QRN_EXPORT const char* qrn_variant() { return chosen()->single.name; }

// For tests and comparison: use this variant from now on; 0 if this processor cannot run it.
QRN_EXPORT int qrn_choose_variant(const char* name) {
  const KernelPair* const pair = find_kernels(name);
  if (pair != nullptr) chosen() = pair;
  return pair != nullptr;
}

QRN_EXPORT void qrn_release(void* block) { release_block(block); }

// With `saving`, *saved receives a block for qrn_read_backward, to be given back with qrn_release.
QRN_EXPORT int qrn_read_forward(const ReaderCall* call, int twice, int saving, void** saved) {
  return guarded([&]() -> int {
    OwnedPlan plan;
    const Status status = plan.make(*call);
    if (status != kDone) return status;
    if (saving) {
      *saved = acquire_block(kernels(twice).saved_bytes(*call, plan.view()));
      if (*saved == nullptr) return kNoMemory;
    }
    return kernels(twice).read_forward(with_threads(*call, plan.view()), plan.view(), saving ? *saved : nullptr);
  });
}

QRN_EXPORT int qrn_read_backward(const ReaderCall* call, const ReaderCall* gradients, int twice, const void* saved) {
  return guarded([&]() -> int {
    OwnedPlan plan;
    const Status status = plan.make(*call);
    if (status != kDone) return status;
    return kernels(twice).read_backward(with_threads(*call, plan.view()), *gradients, plan.view(), saved);
  });
}

// `words` are `sentences` rows of `row` numbers. Forward from embedding to table, backward from the table's gradient to
// the embedding's.
QRN_EXPORT int qrn_encode(const EncoderCall* call, int twice, int backward, const int64_t* words, int64_t sentences,
                          int64_t row, int64_t vocabulary, int64_t longest) {
  return guarded([&]() -> int {
    const int64_t row_bytes = call->dim * int64_t(twice ? sizeof(double) : sizeof(float));
    int64_t start = 0;
    do {  // also with no sentence at all: the gradient must be cleared
      const int64_t count = std::min(sentences - start, kSentencesAtOnce);
      WordLists lists;
      Status status = lists.gather(words + start * row, count, row, vocabulary, longest);
      if (status != kDone) return status;
      if (backward) lists = lists.by_word(vocabulary);
      EncoderCall part = *call;
      Stacked& of_sentences = backward ? part.from : part.to;
      of_sentences.start = static_cast<char*>(of_sentences.start) + start * row_bytes;
      part.rows = backward ? vocabulary : count;
      part.adding = backward && start > 0;
      part.first = lists.first.data();
      part.index = lists.index.data();
      part.place = lists.place.data();
      part.threads = threads_for(4.0 * double(call->restarts) * double(lists.index.size()) * double(call->dim), call->threads);
      status = kernels(twice).encode(part);
      if (status != kDone) return status;
      start += count;
    } while (start < sentences);
    return kDone;
  });
}

QRN_EXPORT void qrn_scan_forward(const ScanCall* call, int twice) {
  kernels(twice).scan_forward(with_threads(*call));
}

QRN_EXPORT int qrn_scan_backward(const ScanCall* call, int twice) {
  return kernels(twice).scan_backward(with_threads(*call));
}
