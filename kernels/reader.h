// What a call of the reader needs, how its rows are grouped, and the functions every variant provides.
#pragma once

#include <cstddef>
#include <cstdint>

namespace qrn {

// Mirrored in native/library.py; increment it whenever a structure or a function of the C interface changes.
constexpr int64_t kInterface = 5;

// A stacked parameter may have any distance between restarts; inside it is contiguous.
struct Stacked {
  void* start;
  int64_t stride;
};

struct ReaderCall {
  int64_t restarts, sentences, batch, time, dim, layers, tied, reset, vector, threads;
  double forget_bias, stretch;
  const int64_t *stories, *lengths;
  const int32_t* stop;  // if not null: another thread makes it 1 to end the call early
  Stacked table, query, candidate_query, candidate_sentence, candidate_bias, update_weight, update_bias, reset_weight,
      reset_bias, out;
};

// Which rows (sentences as read by one example) are worked on together. It depends on the batch alone, never on the
// number of threads or restarts: sums are the same on any machine.
struct Plan {
  int64_t rows = 0, used = 0, groups = 0, chunks = 0;
  int64_t most_rows = 0, most_examples = 0;  // of a group
  const int64_t* original = nullptr;         // sentence number of every used table row
  const int32_t* row_table = nullptr;        // used table row of every row
  const int32_t* place = nullptr;            // used table row of every sentence, or -1
  const int64_t* offset = nullptr;           // first row of every example, and the end
  const int64_t* group = nullptr;            // first example of every group, and the end: a group is computed together
  const int64_t* chunk = nullptr;            // first group of every chunk, and the end: a chunk has its own gradient sums
};

// What went wrong, as returned over the C interface; native/library.py has the messages, check.h that of kBadCall.
enum Status : int {
  kDone = 0,
  kBadLength = 1,
  kBadSentence = 2,
  kBadWord = 3,
  kNoMemory = 4,
  kBadCall = 5,
  kStopped = 6,
  kFailed = 7,
  kBadAnswer = 8
};

// Whether the caller no longer needs a result.
inline __attribute__((always_inline)) bool stopped(const int32_t* stop) {
  return stop != nullptr && __atomic_load_n(stop, __ATOMIC_RELAXED) != 0;
}

// Row r of `to` is a weighted sum of the rows index[first[r]] … of `from`; see encode.h. The lists are made by the
// library from the words of the sentences, sentence by sentence or, for the gradient, word by word.
struct EncoderCall {
  int64_t restarts, rows, dim, threads, adding;  // adding: to what is in `to` already
  const int32_t* stop;
  Stacked from, to;
  const int64_t* first;
  const int32_t* index;
  const double* place;
};

// The gradient of a word gathers rows from all over the table; for this many sentences they are still in the cache.
constexpr int64_t kSentencesAtOnce = 4096;

// A training step up to the gradients: of `scale` times each restart's mean loss. `reader` and `gradients` have the
// weights; their table, query and out are the library's own, and so are the lists of words.
struct StepCall {
  ReaderCall reader, gradients;
  int64_t vocabulary, answers, row, longest;  // row: numbers per sentence in `words`
  double scale;
  const int64_t *words, *questions, *correct;
  Stacked embedding, embedding_gradient, answer, answer_gradient, losses;
  int64_t pieces;  // of kSentencesAtOnce sentences
  const EncoderCall *by_sentence, *by_word;
};

// A step of Adagrad (first: sums of squares) or Adam (averages, and second: of squares) over flat buffers.
struct UpdateCall {
  int64_t runs, step, threads;  // step: counted from 1
  double rate, epsilon, beta[2];
  const int32_t* stop;
  const int64_t* size;          // of each run of like weight decay
  const double* decay;
  void *values, *gradients, *first, *second;
};

struct ScanCall {
  int64_t batch, time, dim, vector, reverse, threads;
  const int32_t* stop;
  const int64_t* lengths;                 // null: every example has all steps
  const void *z, *v, *initial, *h, *dh;   // initial null: zeros
  void *out, *dz, *dv, *dinitial;         // dinitial null: not needed
};

// See triad.h.
struct TriadCall {
  int64_t count, threads;
  const int32_t* stop;
  const float *a, *b;
  float* c;
};

struct Kernels {
  const char* name;
  void (*read_forward)(const ReaderCall&, const Plan&, void* saved);
  void (*read_backward)(const ReaderCall&, const ReaderCall& gradients, const Plan&, const void* saved);
  size_t (*saved_bytes)(const ReaderCall&, const Plan&);
  void (*encode)(const EncoderCall&);
  void (*take_step)(const StepCall&, const Plan&);
  void (*update)(const UpdateCall&);
  void (*scan_forward)(const ScanCall&);
  void (*scan_backward)(const ScanCall&);
  void (*triad)(const TriadCall&);
};

// One for float, one for double.
struct KernelPair {
  Kernels single, twice;
};

}  // namespace qrn
