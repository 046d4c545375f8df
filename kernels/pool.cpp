#include "pool.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace qrn {
namespace {

inline void pause() {
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Results below the smallest normal number become zero while this lives: states and gradients decay towards zero over
// long stories, and many processors are a hundred times slower on denormal numbers.
class FlushToZero {
 public:
#if defined(__x86_64__)
  FlushToZero() : saved_(_mm_getcsr()) { _mm_setcsr(saved_ | 0x8040); }
  ~FlushToZero() { _mm_setcsr(saved_); }

 private:
  unsigned saved_;
#elif defined(__aarch64__)
  FlushToZero() {
    asm volatile("mrs %0, fpcr" : "=r"(saved_));
    asm volatile("msr fpcr, %0" : : "r"(saved_ | (uint64_t(1) << 24)));
  }
  ~FlushToZero() { asm volatile("msr fpcr, %0" : : "r"(saved_)); }

 private:
  uint64_t saved_;
#else
  FlushToZero() {}
#endif
};

// Waiting costs little if it is short, and must not hold a core if it is long.
template <class Ready> bool spin(int rounds, Ready ready) {
  for (int i = 0; i < rounds; ++i) {
    if (ready()) return true;
    pause();
  }
  return ready();
}

constexpr int kSpinRounds = 2000;

class Pool {
 public:
  // The ticket holds the number of the job (upper half) and its next task (lower half). A worker reads the job, then
  // takes a task by exchanging the ticket; success proves that the job it read is still the current one. While the job
  // is rewritten the ticket is closed: its task number is beyond all tasks, and what was read before is void.
  void run(int64_t threads, int64_t tasks, Task task, void* context) {
    if (threads > tasks) threads = tasks;
    std::unique_lock<std::mutex> busy(busy_, std::try_to_lock);
    if (threads <= 1 || tasks > kMostTasks || !busy.owns_lock()) {
      const FlushToZero flush;
      for (int64_t i = 0; i < tasks; ++i) task(context, i, 0);
      return;
    }
    grow(threads - 1);
    const uint64_t number = ticket_.load() >> 32;
    ticket_.store(number << 32 | kClosed);
    job_.task.store(task);
    job_.context.store(context);
    job_.tasks.store(tasks);
    job_.threads.store(threads);
    done_.store(0);
    ticket_.store((number + 1) << 32);
    if (sleepers_.load() > 0) {
      { const std::lock_guard<std::mutex> lock(sleep_); }
      wake_.notify_all();
    }
    {
      const FlushToZero flush;
      work(0);
    }
    auto finished = [&] { return done_.load() == tasks; };
    if (!spin(kSpinRounds, finished)) {
      std::unique_lock<std::mutex> lock(finish_);
      waiting_.store(true);
      finished_.wait(lock, finished);
      waiting_.store(false);
    }
  }

 private:
  static constexpr int64_t kMostTasks = int64_t(1) << 30;
  static constexpr uint64_t kClosed = 0xffffffffu;

  struct Job {
    std::atomic<Task> task{nullptr};
    std::atomic<void*> context{nullptr};
    std::atomic<int64_t> tasks{0};
    std::atomic<int64_t> threads{0};
  };

  void grow(int64_t workers) {
    while (int64_t(workers_.size()) < workers) {
      const int64_t number = int64_t(workers_.size()) + 1;
      workers_.emplace_back([this, number] { live(number); });
      workers_.back().detach();
    }
  }

  // Take tasks of the current job until none is left.
  void work(int64_t worker) {
    for (;;) {
      uint64_t ticket = ticket_.load();
      const Task task = job_.task.load();
      void* const context = job_.context.load();
      const int64_t tasks = job_.tasks.load();
      const int64_t threads = job_.threads.load();
      const int64_t index = int64_t(ticket & kClosed);
      if (index >= tasks || worker >= threads) return;
      if (!ticket_.compare_exchange_weak(ticket, ticket + 1)) continue;
      task(context, index, worker);
      if (done_.fetch_add(1) + 1 == tasks && waiting_.load()) {
        { const std::lock_guard<std::mutex> lock(finish_); }
        finished_.notify_one();
      }
    }
  }

  [[noreturn]] void live(int64_t worker) {
    const FlushToZero flush;
    uint64_t seen = 0;
    for (;;) {
      auto called = [&] { return (ticket_.load() >> 32) != seen; };
      if (!spin(kSpinRounds, called)) {
        std::unique_lock<std::mutex> lock(sleep_);
        sleepers_.fetch_add(1);
        wake_.wait(lock, called);
        sleepers_.fetch_sub(1);
      }
      seen = ticket_.load() >> 32;
      work(worker);
    }
  }

  Job job_;
  alignas(64) std::atomic<uint64_t> ticket_{0};
  alignas(64) std::atomic<int64_t> done_{0};
  alignas(64) std::atomic<int> sleepers_{0};
  std::atomic<bool> waiting_{false};
  std::mutex busy_, sleep_, finish_;
  std::condition_variable wake_, finished_;
  std::vector<std::thread> workers_;
};

// Never destroyed: workers may outlive main. A forked child has none of the workers and starts a pool of its own.
Pool& pool() {
  static std::mutex guard;
  static Pool* current = nullptr;
  static pid_t owner = 0;
  const std::lock_guard<std::mutex> lock(guard);
  if (current == nullptr || owner != getpid()) {
    current = new Pool;
    owner = getpid();
  }
  return *current;
}

constexpr size_t kHeader = 64, kAlignment = 64, kMostKept = 8;
constexpr size_t kLargePage = size_t(2) << 20;
constexpr size_t kLarge = 16 * kLargePage;  // rounding up to large pages must not cost much

// An eighth of the machine's memory: fresh pages for every step would make long stories cost more a sentence.
size_t most_bytes_kept() {
  static const size_t most =
      std::max(size_t(256) << 20, size_t(sysconf(_SC_PHYS_PAGES)) / 8 * size_t(sysconf(_SC_PAGESIZE)));
  return most;
}

std::mutex blocks_guard;
std::vector<char*>& kept_blocks() {
  static auto* const blocks = new std::vector<char*>;
  return *blocks;
}

size_t& size_of(char* block) { return *reinterpret_cast<size_t*>(block); }

}  // namespace

void run_tasks(int64_t threads, int64_t tasks, Task task, void* context) {
  if (tasks > 0) pool().run(threads, tasks, task, context);
}

void expect_writes(void* start, size_t bytes) {
#if defined(MADV_HUGEPAGE)
  const uintptr_t from = (reinterpret_cast<uintptr_t>(start) + kLargePage - 1) / kLargePage * kLargePage;
  const uintptr_t to = (reinterpret_cast<uintptr_t>(start) + bytes) / kLargePage * kLargePage;
  if (from < to) madvise(reinterpret_cast<void*>(from), to - from, MADV_HUGEPAGE);
#else
  (void)start, (void)bytes;
#endif
}

void* acquire_block(size_t bytes) {
  bytes = (bytes + kHeader + 4095) / 4096 * 4096;
  {
    const std::lock_guard<std::mutex> lock(blocks_guard);
    auto& blocks = kept_blocks();
    size_t best = blocks.size();
    for (size_t i = 0; i < blocks.size(); ++i)
      if (size_of(blocks[i]) >= bytes && size_of(blocks[i]) <= 2 * bytes + (size_t(1) << 20) &&
          (best == blocks.size() || size_of(blocks[i]) < size_of(blocks[best])))
        best = i;
    if (best < blocks.size()) {
      char* const block = blocks[best];
      blocks.erase(blocks.begin() + std::ptrdiff_t(best));
      return block + kHeader;
    }
  }
  const bool large = bytes >= kLarge;
  if (large) bytes = (bytes + kLargePage - 1) / kLargePage * kLargePage;
  char* const block = static_cast<char*>(std::aligned_alloc(large ? kLargePage : kAlignment, bytes));
  if (block == nullptr) return nullptr;
  expect_writes(block, bytes);
  size_of(block) = bytes;
  return block + kHeader;
}

void release_block(void* start) {
  if (start == nullptr) return;
  char* block = static_cast<char*>(start) - kHeader;
  std::vector<char*> dropped;
  {
    const std::lock_guard<std::mutex> lock(blocks_guard);
    auto& blocks = kept_blocks();
    blocks.push_back(block);
    size_t total = 0;
    for (char* kept : blocks) total += size_of(kept);
    // Oldest first: what was just in use is the likeliest to fit again.
    while (blocks.size() > kMostKept || (total > most_bytes_kept() && !blocks.empty())) {
      total -= size_of(blocks.front());
      dropped.push_back(blocks.front());
      blocks.erase(blocks.begin());
    }
  }
  for (char* old : dropped) std::free(old);
}

}  // namespace qrn
