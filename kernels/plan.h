// Checks a batch and decides which of its rows are worked on together.
#pragma once

#include <vector>

#include "reader.h"

namespace qrn {

class OwnedPlan {
 public:
  Status make(const ReaderCall& call);
  const Plan& view() const { return plan_; }

 private:
  void make_groups(const ReaderCall& call);
  void make_chunks(const ReaderCall& call);

  Plan plan_;
  std::vector<int64_t> original_, offset_, group_, chunk_;
  std::vector<int32_t> row_table_, place_;
};

}  // namespace qrn
