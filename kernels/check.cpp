#include "check.h"

#include <cstdio>
#include <initializer_list>

namespace qrn {
namespace {

// Far beyond any sensible use, and so low that no count of rows or tasks overflows; sizes of memory are checked where
// it is allocated.
constexpr int64_t kMostRestarts = 1 << 16, kMostDim = 1 << 16, kMostLayers = 1 << 10, kMostThreads = 256;
constexpr int64_t kMostRows = INT32_MAX;  // rows of a table are numbered with 32 bits
constexpr int64_t kMostNumbers = int64_t(1) << 46;

struct Range {
  const char* name;
  int64_t value, least, most;
};

thread_local char message[160] = "";

Status check_ranges(std::initializer_list<Range> ranges) {
  for (const Range& range : ranges)
    if (range.value < range.least || range.value > range.most) {
      std::snprintf(message, sizeof message, "%s must be %lld to %lld; got %lld", range.name,
                    static_cast<long long>(range.least), static_cast<long long>(range.most),
                    static_cast<long long>(range.value));
      return kBadCall;
    }
  return kDone;
}

}  // namespace

Status check(const ReaderCall& call) {
  const Status status = check_ranges({{"restarts", call.restarts, 0, kMostRestarts},
                                      {"sentences", call.sentences, 0, kMostRows},
                                      {"batch", call.batch, 0, kMostRows},
                                      {"time", call.time, 0, kMostRows},
                                      {"dim", call.dim, 1, kMostDim},
                                      {"layers", call.layers, 1, kMostLayers},
                                      {"threads", call.threads, 1, kMostThreads}});
  if (status != kDone) return status;
  return check_ranges({{"batch times time", call.batch * call.time, 0, kMostNumbers}});
}

Status check(const EncoderCall& call, int64_t sentences, int64_t row, int64_t vocabulary, int64_t longest) {
  return check_ranges({{"restarts", call.restarts, 0, kMostRestarts},
                       {"dim", call.dim, 1, kMostDim},
                       {"threads", call.threads, 1, kMostThreads},
                       {"sentences", sentences, 0, kMostRows},
                       {"words of a sentence", row, 0, kMostRows},
                       {"vocabulary", vocabulary, 0, kMostRows},
                       {"longest", longest, 0, kMostRows}});
}

Status check(const StepCall& call) {
  const ReaderCall& reader = call.reader;
  Status status = check(reader);
  if (status == kDone)
    status = check_ranges({{"batch", reader.batch, 1, kMostRows},
                           {"words of a sentence", call.row, 0, kMostRows},
                           {"vocabulary", call.vocabulary, 0, kMostRows},
                           {"longest", call.longest, 0, kMostRows},
                           {"answers", call.answers, 1, kMostRows}});
  for (int64_t b = 0; status == kDone && b < reader.batch; ++b) {
    if (call.questions[b] < 0 || call.questions[b] >= reader.sentences) status = kBadSentence;
    if (call.correct[b] < 0 || call.correct[b] >= call.answers) status = kBadAnswer;
  }
  return status;
}

Status check(const UpdateCall& call) {
  Status status = check_ranges({{"runs", call.runs, 0, kMostRows}, {"threads", call.threads, 1, kMostThreads}});
  for (int64_t run = 0; status == kDone && run < call.runs; ++run)
    status = check_ranges({{"weights of a run", call.size[run], 0, kMostNumbers}});
  return status;
}

Status check(const ScanCall& call) {
  const Status status = check_ranges({{"batch", call.batch, 0, kMostRows},
                                      {"time", call.time, 0, kMostRows},
                                      {"dim", call.dim, 0, kMostRows},
                                      {"threads", call.threads, 1, kMostThreads}});
  if (status != kDone) return status;
  const int64_t rows = call.batch * call.time;
  return check_ranges({{"batch times time", rows, 0, kMostNumbers},
                       {"numbers in v", rows > 0 ? (call.dim > kMostNumbers / rows ? INT64_MAX : rows * call.dim) : 0, 0,
                        kMostNumbers}});
}

Status check(const TriadCall& call) {
  return check_ranges({{"count", call.count, 0, kMostNumbers}, {"threads", call.threads, 1, kMostThreads}});
}

const char* refusal() { return message; }

}  // namespace qrn
