// Checks a batch and decides which of its rows are worked on together.
#pragma once

#include <vector>

#include "pool.h"
#include "reader.h"

namespace qrn {

// Lists as long as a batch has sentences are in memory that is kept between calls, like everything else of that size.
template <class T> struct KeptMemory {
  using value_type = T;
  KeptMemory() = default;
  template <class U> KeptMemory(const KeptMemory<U>&) {}
  T* allocate(size_t count) {
    return static_cast<T*>(acquire_block(size_t(checked_product(int64_t(count), sizeof(T)))));
  }
  void deallocate(T* start, size_t) { release_block(start); }
  friend bool operator==(const KeptMemory&, const KeptMemory&) { return true; }
  friend bool operator!=(const KeptMemory&, const KeptMemory&) { return false; }
};
template <class T> using LongList = std::vector<T, KeptMemory<T>>;

class OwnedPlan {
 public:
  Status make(const ReaderCall& call);
  const Plan& view() const { return plan_; }

 private:
  void make_groups(const ReaderCall& call);
  void make_chunks(const ReaderCall& call);

  Plan plan_;
  std::vector<int64_t> offset_, group_, chunk_;
  LongList<int64_t> original_;
  LongList<int32_t> row_table_, place_;
};

}  // namespace qrn
