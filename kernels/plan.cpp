#include "plan.h"

#include <algorithm>

namespace qrn {
namespace {

// Short stories are joined to this many rows, so that matrix products have rows to work on.
constexpr int64_t kGroupRows = 128;
constexpr int64_t kMostChunks = 8;

// Every chunk has gradient sums as large as the table, to be cleared and added up; more chunks feed more threads. This
// many keep that work below a thirtieth of the reading (rows cost about d^2 per layer after the first, and d per layer).
int64_t chunk_count(const ReaderCall& call, const Plan& plan) {
  const double per_table_row =
      0.002 * double(call.dim) * double(call.layers - 1) * (call.vector ? 3.0 : 1.0) + 0.03 * double(call.layers);
  const double affordable = double(plan.rows) / double(std::max<int64_t>(plan.used, 1)) * per_table_row;
  const int64_t wanted = std::min(kMostChunks, int64_t(affordable));
  return std::max<int64_t>(1, std::min(plan.groups, std::max<int64_t>(wanted, 2)));
}

}  // namespace

Status OwnedPlan::make(const ReaderCall& call) {
  offset_.reserve(size_t(call.batch) + 1);
  for (int64_t example = 0; example < call.batch; ++example) {
    const int64_t length = std::max<int64_t>(call.lengths[example], 0);
    if (length > call.time) return kBadLength;
    offset_.push_back(plan_.rows);
    plan_.rows += length;
  }
  offset_.push_back(plan_.rows);

  place_.assign(size_t(call.sentences), -1);
  row_table_.reserve(size_t(plan_.rows));
  original_.reserve(size_t(std::min(plan_.rows, call.sentences)));
  for (int64_t example = 0; example < call.batch; ++example) {
    const int64_t length = offset_[size_t(example) + 1] - offset_[size_t(example)];
    for (int64_t t = 0; t < length; ++t) {
      const int64_t sentence = call.stories[example * call.time + t];
      if (sentence < 0 || sentence >= call.sentences) return kBadSentence;
      int32_t& used = place_[size_t(sentence)];
      if (used < 0) {
        used = int32_t(original_.size());
        original_.push_back(sentence);
      }
      row_table_.push_back(used);
    }
  }
  plan_.used = int64_t(original_.size());
  make_groups(call);
  make_chunks(call);
  plan_.original = original_.data();
  plan_.row_table = row_table_.data();
  plan_.place = place_.data();
  plan_.offset = offset_.data();
  plan_.group = group_.data();
  plan_.chunk = chunk_.data();
  return kDone;
}

void OwnedPlan::make_groups(const ReaderCall& call) {
  group_.push_back(0);
  for (int64_t example = 0; example < call.batch; ++example) {
    const int64_t first = group_.back();
    const int64_t joined = offset_[size_t(example) + 1] - offset_[size_t(first)];
    if (example > first && joined > kGroupRows) group_.push_back(example);
  }
  if (call.batch > 0) group_.push_back(call.batch);
  plan_.groups = int64_t(group_.size()) - 1;
  for (size_t g = 0; g + 1 < group_.size(); ++g) {
    plan_.most_examples = std::max(plan_.most_examples, group_[g + 1] - group_[g]);
    plan_.most_rows = std::max(plan_.most_rows, offset_[size_t(group_[g + 1])] - offset_[size_t(group_[g])]);
  }
}

// Chunks of nearly equal numbers of rows.
void OwnedPlan::make_chunks(const ReaderCall& call) {
  const int64_t wanted = chunk_count(call, plan_);
  chunk_.push_back(0);
  for (int64_t g = 1; g < plan_.groups; ++g) {
    const int64_t before = offset_[size_t(group_[size_t(g)])];
    if (int64_t(chunk_.size()) < wanted && before * wanted >= plan_.rows * int64_t(chunk_.size())) chunk_.push_back(g);
  }
  if (plan_.groups > 0) chunk_.push_back(plan_.groups);
  plan_.chunks = int64_t(chunk_.size()) - 1;
}

}  // namespace qrn
