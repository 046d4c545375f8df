// What a call of the reader needs, how its rows are grouped, and the functions every variant provides.
#pragma once

#include <cstddef>
#include <cstdint>

namespace qrn {

// Mirrored in native.py. A stacked parameter may have any distance between restarts; inside it is contiguous.
struct Stacked {
  void* start;
  int64_t stride;
};

struct ReaderCall {
  int64_t restarts, sentences, batch, time, dim, layers, tied, reset, vector, threads;
  double forget_bias;
  const int64_t *stories, *lengths;
  Stacked table, query, candidate_query, candidate_sentence, candidate_bias, update_weight, update_bias, reset_weight,
      reset_bias, out;
};

// Which rows (sentences as read by one example) are worked on together. It depends on the batch alone, never on the
// number of threads or restarts: sums come out the same whatever the machine.
struct Plan {
  int64_t rows = 0, used = 0, groups = 0, chunks = 0;
  int64_t most_rows = 0, most_examples = 0;  // of a group
  const int64_t* original = nullptr;         // sentence number of every used table row
  const int32_t* row_table = nullptr;        // used table row of every row
  const int64_t* offset = nullptr;           // first row of every example, and the end
  const int64_t* group = nullptr;            // first example of every group, and the end: a group is computed together
  const int64_t* chunk = nullptr;            // first group of every chunk, and the end: a chunk has gradient sums of its own
};

// What went wrong, as returned over the C interface; native.py has the messages.
enum Status : int { kDone = 0, kBadLength = 1, kBadSentence = 2, kBadWord = 3, kNoMemory = 4 };

struct EncoderCall {
  int64_t restarts, vocabulary, sentences, longest, dim, threads;
  Stacked embedding, table;
  // Words that are there, sentence by sentence, with their place as a fraction of the sentence's length.
  const int64_t* first_word;
  const int32_t* words;
  const double* places;
};

struct ScanCall {
  int64_t batch, time, dim, vector, reverse, threads;
  const int64_t* lengths;
  const void *z, *v, *initial, *h, *dh;
  void *out, *dz, *dv, *dinitial;
};

struct Kernels {
  const char* name;
  Status (*read_forward)(const ReaderCall&, const Plan&, void* saved);
  Status (*read_backward)(const ReaderCall&, const ReaderCall& gradients, const Plan&, const void* saved);
  size_t (*saved_bytes)(const ReaderCall&, const Plan&);
  void (*encode_forward)(const EncoderCall&);
  void (*encode_backward)(const EncoderCall&);
  void (*scan_forward)(const ScanCall&);
  Status (*scan_backward)(const ScanCall&);
};

// One for float, one for double.
struct KernelPair {
  Kernels single, twice;
};

}  // namespace qrn
