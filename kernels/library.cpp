// The C interface: chooses the variant for this processor, checks what only native code can check cheaply.
#include <algorithm>
#include <cstring>
#include <new>
#include <stdexcept>
#include <vector>

#include "check.h"
#include "dlpack.h"
#include "plan.h"
#include "pool.h"
#include "reader.h"
#include "words.h"

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
  const bool fma = __builtin_cpu_supports("fma");
  if (std::strcmp(variant, "avx512") == 0)
    return fma && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl");
  if (std::strcmp(variant, "avx2") == 0) return fma && __builtin_cpu_supports("avx2");
#endif
  return std::strcmp(variant, "baseline") == 0;
}

// The first that runs here, or the one requested.
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

// Waking threads takes some ten microseconds: below this many multiplications one does it alone. The result is the same.
constexpr double kWorthThreads = 1e6;

int64_t threads_for(double multiplications, int64_t threads) { return multiplications < kWorthThreads ? 1 : threads; }

ReaderCall with_threads(const ReaderCall& call, const Plan& plan) {
  const double d = double(call.dim), deep = double(call.layers - 1) * (call.vector ? 4 : 1);
  ReaderCall adjusted = call;
  adjusted.threads = threads_for(double(call.restarts) * double(plan.rows) * d * (d * deep + 20 * double(call.layers)), call.threads);
  return adjusted;
}

// A scan of up to this many numbers, if no other came just before it, is done sooner than threads wake.
constexpr double kWorthWaking = 1 << 20;

ScanCall with_threads(const ScanCall& call) {
  ScanCall adjusted = call;
  const double numbers = double(call.batch) * double(call.time) * double(call.dim);
  // A scan waits for memory, so its numbers count for more than their multiplications.
  adjusted.threads = threads_for(16 * numbers, call.threads);
  if (!calls_follow_closely() && numbers <= kWorthWaking) adjusted.threads = 1;
  return adjusted;
}

// A piece of the encoder's work: the sums of the lists, whatever is summed.
EncoderCall encoder_piece(const WordLists& lists, int64_t restarts, int64_t dim, int64_t threads, const int32_t* stop) {
  EncoderCall call{};
  call.restarts = restarts;
  call.dim = dim;
  call.stop = stop;
  call.rows = int64_t(lists.first.size()) - 1;
  call.first = lists.first.data();
  call.index = lists.index.data();
  call.place = lists.place.data();
  call.threads = threads_for(4.0 * double(restarts) * double(lists.index.size()) * double(dim), threads);
  return call;
}

// Runs a call that has passed its check; no exception leaves the library.
template <class Body> int guarded(Status checked, const int32_t* stop, Body body) {
  if (checked != kDone) return checked;
  try {
    const Status status = body();
    return status == kDone && stopped(stop) ? kStopped : status;
  } catch (const std::bad_alloc&) {
    return kNoMemory;
  } catch (const std::length_error&) {
    return kNoMemory;  // of a vector
  } catch (...) {
    return kFailed;
  }
}

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

// The layout of the interface, so that Python code from different sources notices: its number, then sizes.
QRN_EXPORT int64_t qrn_layout(int which) {
  const int64_t layout[] = {kInterface, sizeof(Stacked), sizeof(ReaderCall), sizeof(EncoderCall), sizeof(ScanCall), sizeof(StepCall), sizeof(UpdateCall)};
  return which >= 0 && which < int(sizeof layout / sizeof *layout) ? layout[which] : -1;
}

// What was wrong with this thread's last call that returned kBadCall.
QRN_EXPORT const char* qrn_message() { return refusal(); }

QRN_EXPORT void qrn_release(void* block) { release_block(block); }

// A tensor of uninitialised numbers in memory that is reused when PyTorch releases it, or null.
QRN_EXPORT DLManagedTensor* qrn_tensor(const int64_t* shape, int dimensions, int twice) {
  DLManagedTensor* made = nullptr;
  guarded(kDone, nullptr, [&] {
    made = make_tensor(shape, dimensions, twice != 0);
    return kDone;
  });
  return made;
}

// With `saving`, *saved receives a block for qrn_read_backward, to be released with qrn_release.
QRN_EXPORT int qrn_read_forward(const ReaderCall* call, int twice, int saving, void** saved) {
  return guarded(check(*call), call->stop, [&] {
    OwnedPlan plan;
    const Status status = plan.make(*call);
    if (status != kDone) return status;
    if (saving) *saved = acquire_block(kernels(twice).saved_bytes(*call, plan.view()));
    kernels(twice).read_forward(with_threads(*call, plan.view()), plan.view(), saving ? *saved : nullptr);
    return kDone;
  });
}

QRN_EXPORT int qrn_read_backward(const ReaderCall* call, const ReaderCall* gradients, int twice, const void* saved) {
  return guarded(check(*call), call->stop, [&] {
    OwnedPlan plan;
    const Status status = plan.make(*call);
    if (status != kDone) return status;
    kernels(twice).read_backward(with_threads(*call, plan.view()), *gradients, plan.view(), saved);
    return kDone;
  });
}

// `words` are `sentences` rows of `row` numbers. Forward from embedding to table, backward from the table's gradient to
// the embedding's.
QRN_EXPORT int qrn_encode(const EncoderCall* call, int twice, int backward, const int64_t* words, int64_t sentences,
                          int64_t row, int64_t vocabulary, int64_t longest) {
  return guarded(check(*call, sentences, row, vocabulary, longest), call->stop, [&] {
    const int64_t row_bytes = call->dim * int64_t(twice ? sizeof(double) : sizeof(float));
    int64_t start = 0;
    do {  // also with no sentence at all: the gradient must be cleared
      const int64_t count = std::min(sentences - start, kSentencesAtOnce);
      WordLists lists;
      const Status status = lists.gather(words + start * row, count, row, vocabulary, longest);
      if (status != kDone) return status;
      if (backward) lists = lists.by_word(vocabulary);
      EncoderCall part = encoder_piece(lists, call->restarts, call->dim, call->threads, call->stop);
      part.from = call->from;
      part.to = call->to;
      Stacked& of_sentences = backward ? part.from : part.to;
      of_sentences.start = static_cast<char*>(of_sentences.start) + start * row_bytes;
      part.adding = backward && start > 0;
      kernels(twice).encode(part);
      start += count;
    } while (start < sentences && !stopped(call->stop));
    return kDone;
  });
}

QRN_EXPORT int qrn_step(const StepCall* call, int twice) {
  const ReaderCall& reader = call->reader;
  return guarded(check(*call), reader.stop, [&] {
    OwnedPlan plan;
    Status status = plan.make(reader);
    std::vector<WordLists> lists;
    std::vector<EncoderCall> by_sentence, by_word;
    lists.reserve(size_t(reader.sentences / kSentencesAtOnce + 1) * 2);  // the calls point into them
    for (int64_t start = 0; status == kDone && start < reader.sentences; start += kSentencesAtOnce) {
      lists.emplace_back();
      status = lists.back().gather(call->words + start * call->row, std::min(reader.sentences - start, kSentencesAtOnce),
                                   call->row, call->vocabulary, call->longest);
      if (status != kDone) break;
      by_sentence.push_back(encoder_piece(lists.back(), reader.restarts, reader.dim, reader.threads, reader.stop));
      lists.push_back(lists.back().by_word(call->vocabulary));
      by_word.push_back(encoder_piece(lists.back(), reader.restarts, reader.dim, reader.threads, reader.stop));
      by_word.back().adding = start > 0;
    }
    if (status != kDone) return status;
    StepCall whole = *call;
    whole.reader = with_threads(reader, plan.view());
    whole.pieces = int64_t(by_word.size());
    whole.by_sentence = by_sentence.data();
    whole.by_word = by_word.data();
    kernels(twice).take_step(whole, plan.view());
    return kDone;
  });
}

QRN_EXPORT int qrn_update(const UpdateCall* call, int twice) {
  return guarded(check(*call), call->stop, [&] {
    UpdateCall adjusted = *call;
    double weights = 0;
    for (int64_t run = 0; run < call->runs; ++run) weights += double(call->size[run]);
    adjusted.threads = threads_for(32 * weights, call->threads);  // roots and divisions count for more
    kernels(twice).update(adjusted);
    return kDone;
  });
}

QRN_EXPORT int qrn_scan_forward(const ScanCall* call, int twice) {
  return guarded(check(*call), call->stop, [&] {
    kernels(twice).scan_forward(with_threads(*call));
    return kDone;
  });
}

QRN_EXPORT int qrn_scan_backward(const ScanCall* call, int twice) {
  return guarded(check(*call), call->stop, [&] {
    kernels(twice).scan_backward(with_threads(*call));
    return kDone;
  });
}

QRN_EXPORT int qrn_triad(const float* a, const float* b, float* c, int64_t count, int64_t threads) {
  const TriadCall call{count, threads, nullptr, a, b, c};
  return guarded(check(call), nullptr, [&] {
    kernels(0).triad(call);
    return kDone;
  });
}
