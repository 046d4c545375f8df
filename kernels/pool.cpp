#include "pool.h"
#include "reader.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

#include <pthread.h>
#include <sched.h>
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

// To wake a thread takes longer than PyTorch from the end of a forward call to its backward call: some 0.2 ms, then.
constexpr int kWorkerRounds = 8000, kCallerRounds = 2000;

// Calls that begin within this many nanoseconds of each other are in a row, and after this many more are to be expected.
constexpr int64_t kSoon = 5'000'000, kLoneCalls = 4;

// Waiting costs little if it is short, and must not hold a core if it is long.
template <class Ready> bool spin(int rounds, Ready ready) {
  for (int i = 0; i < rounds; ++i) {
    if (ready()) return true;
    pause();
  }
  return ready();
}

int current_core() {
#if defined(__linux__)
  return sched_getcpu();
#else
  return -1;
#endif
}

class Pool {
 public:
  // The ticket holds the number of the job (upper half) and how many pieces of it were taken from the front and from the
  // back (16 bits each). A worker reads the job, then takes a piece by exchanging the ticket; success proves that the
  // job it read is still the current one. While the job is rewritten the ticket is closed: more is taken than there is,
  // and what was read before is void.
  //
  // The caller takes from the front and every other worker from the back, so that two threads get the same tasks in
  // every call on the same data: it is still in their caches.
  void run(int64_t threads, int64_t tasks, Task task, void* context, const int32_t* stop) {
    if (threads > tasks) threads = tasks;
    std::unique_lock<std::mutex> busy(busy_, std::defer_lock);
    if (threads > 1 && busy.try_lock()) threads = grow(threads - 1) + 1;
    if (threads <= 1 || !busy.owns_lock()) {
      const FlushToZero flush;
      for (int64_t i = 0; i < tasks && !stopped(stop); ++i) task(context, i, 0);
      return;
    }
    const uint64_t number = ticket_.load() >> 32;
    ticket_.store(number << 32 | kClosed);
    job_.task.store(task);
    job_.context.store(context);
    job_.tasks.store(tasks);
    const int64_t size = (tasks + kMostPieces - 1) / kMostPieces, pieces = (tasks + size - 1) / size;
    job_.size.store(size);
    job_.pieces.store(pieces);
    job_.threads.store(threads);
    job_.stop.store(stop);
    job_.core.store(current_core());
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
    auto finished = [&] { return done_.load() == pieces; };
    if (!spin(kCallerRounds, finished)) {
      std::unique_lock<std::mutex> lock(finish_);
      waiting_.store(true);
      finished_.wait(lock, finished);
      waiting_.store(false);
    }
  }

 private:
  static constexpr int64_t kMostPieces = 0x7fff;
  static constexpr uint64_t kHalf = 0xffffu, kClosed = 0xffffffffu;

  struct Job {
    std::atomic<Task> task{nullptr};
    std::atomic<void*> context{nullptr};
    std::atomic<int64_t> tasks{0}, size{0}, pieces{0};  // a piece is `size` tasks
    std::atomic<int64_t> threads{0};
    std::atomic<const int32_t*> stop{nullptr};
    std::atomic<int> core{-1};  // the caller's
  };

  // This many workers, or as many as the system allows.
  int64_t grow(int64_t wanted) {
    while (workers_ < wanted) {
      const int64_t number = workers_ + 1;
      try {
        std::thread([this, number] { live(number); }).detach();
      } catch (const std::system_error&) {
        break;
      }
      workers_ = number;
    }
    return std::min(workers_, wanted);
  }

  // Take tasks of the current job until none is left.
  void work(int64_t worker) {
    for (;;) {
      uint64_t ticket = ticket_.load();
      const Task task = job_.task.load();
      void* const context = job_.context.load();
      const int64_t tasks = job_.tasks.load(), size = job_.size.load(), pieces = job_.pieces.load();
      const int64_t threads = job_.threads.load();
      const int32_t* const stop = job_.stop.load();
      const int64_t front = int64_t(ticket & kHalf), back = int64_t(ticket >> 16 & kHalf), left = pieces - front - back;
      if (left <= 0 || worker >= threads) return;
      // Several at once while there are many: short tasks take no longer than two threads' quarrel over the ticket.
      const int64_t taken = std::max(int64_t(1), left / (4 * threads));
      const bool from_back = worker % 2 == 1;
      if (!ticket_.compare_exchange_weak(ticket, ticket + uint64_t(taken) * (from_back ? kHalf + 1 : 1))) continue;
      const int64_t first = (from_back ? pieces - taken - back : front) * size, end = std::min(first + taken * size, tasks);
      for (int64_t i = first; i < end && !stopped(stop); ++i) task(context, from_back ? end - 1 - (i - first) : i, worker);
      if (done_.fetch_add(taken) + taken == pieces && waiting_.load()) {
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
      // Where other libraries' threads spin, the system lets a worker that wakes take the core of the very caller it is
      // to help. That one must not wait for the worker to wait.
      const int core = current_core();
      const bool in_the_way = core >= 0 && core == job_.core.load();
      if (in_the_way ? !called() : !spin(kWorkerRounds, called)) {
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
  int64_t workers_ = 0;
};

std::mutex pool_guard, blocks_guard;

// Never destroyed: workers may outlive main.
Pool*& current_pool() {
  static Pool* current = nullptr;
  return current;
}

// A forked child has none of the workers, and a mutex that another thread held stays locked in it forever: so a fork
// waits until the guards are free, and the child starts its own pool.
void follow_forks() {
  static const int done = pthread_atfork(
      [] { pool_guard.lock(), blocks_guard.lock(); }, [] { blocks_guard.unlock(), pool_guard.unlock(); },
      [] {
        current_pool() = nullptr;
        blocks_guard.unlock(), pool_guard.unlock();
      });
  if (done != 0) throw std::bad_alloc();
}

Pool& pool() {
  follow_forks();
  const std::lock_guard<std::mutex> lock(pool_guard);
  if (current_pool() == nullptr) current_pool() = new Pool;
  return *current_pool();
}

constexpr int64_t kMostMemory = int64_t(1) << 48;  // more than any machine has
constexpr size_t kAlignment = 64, kMostKept = 32;
constexpr size_t kPage = 4096, kLargePage = size_t(2) << 20;

// Arrays that begin at the same place of their pages compete for the same lines of the first cache, and what is written to one
// delays reading the others: so each block begins somewhere else, by a step that divides a page in seven.
constexpr size_t kStagger = 9 * kAlignment, kPlaces = 7;

// Lies just before the memory that is handed out.
struct alignas(kAlignment) Header {
  size_t bytes;  // from here to the end of the block
  void* block;   // to be freed
};
constexpr size_t kHeader = sizeof(Header);

// A share of the machine's memory.
size_t memory_share(size_t parts) {
  static const size_t memory = size_t(sysconf(_SC_PHYS_PAGES)) * size_t(sysconf(_SC_PAGESIZE));
  return std::max(size_t(256) << 20, memory / parts);
}

// Fresh pages for every step would make long stories cost more per sentence. Up to an eighth of the memory is simply
// kept; from there to a half the system may take it back when anyone needs it.
size_t surely_kept() { return memory_share(8); }
size_t most_kept() { return memory_share(2); }

std::vector<Header*>& kept_blocks() {
  static auto* const blocks = [] {
    auto* const made = new std::vector<Header*>;
    made->reserve(kMostKept + 1);  // so that releasing never needs memory
    return made;
  }();
  return *blocks;
}

// Asks the system for large pages behind memory that is about to be written for the first time.
void expect_writes(void* start, size_t bytes) {
#if defined(MADV_HUGEPAGE)
  const uintptr_t from = (reinterpret_cast<uintptr_t>(start) + kLargePage - 1) / kLargePage * kLargePage;
  const uintptr_t to = (reinterpret_cast<uintptr_t>(start) + bytes) / kLargePage * kLargePage;
  if (from < to) madvise(reinterpret_cast<void*>(from), to - from, MADV_HUGEPAGE);
#else
  (void)start, (void)bytes;
#endif
}

// The system may take these pages from here on, until they are written to again.
void offer_back(void* start, size_t bytes) {
#if defined(MADV_FREE)
  const uintptr_t page = uintptr_t(sysconf(_SC_PAGESIZE));
  const uintptr_t from = (reinterpret_cast<uintptr_t>(start) + page - 1) / page * page;
  const uintptr_t to = (reinterpret_cast<uintptr_t>(start) + bytes) / page * page;
  if (from < to) madvise(reinterpret_cast<void*>(from), to - from, MADV_FREE);
#else
  (void)start, (void)bytes;
#endif
}

}  // namespace

bool calls_follow_closely() {
  static std::atomic<int64_t> last{0}, row{0};
  const int64_t now = std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
  const bool soon = now - last.exchange(now, std::memory_order_relaxed) < kSoon;
  const int64_t calls = soon ? row.load(std::memory_order_relaxed) + 1 : 1;
  row.store(calls, std::memory_order_relaxed);
  return calls > kLoneCalls;
}

void run_tasks(int64_t threads, int64_t tasks, Task task, void* context, const int32_t* stop) {
  if (tasks > 0) pool().run(threads, tasks, task, context, stop);
}

int64_t checked_product(int64_t a, int64_t b) {
  int64_t result;
  if (a < 0 || b < 0 || __builtin_mul_overflow(a, b, &result) || result > kMostMemory) throw std::bad_alloc();
  return result;
}

int64_t checked_sum(int64_t a, int64_t b) {
  if (a < 0 || b < 0 || a > kMostMemory - b) throw std::bad_alloc();
  return a + b;
}

void* acquire_block(size_t bytes) {
  follow_forks();
  bytes = (bytes + kHeader + kPage - 1) / kPage * kPage;
  size_t place;
  {
    const std::lock_guard<std::mutex> lock(blocks_guard);
    auto& blocks = kept_blocks();
    size_t best = blocks.size();  // of the best size the last one released, which is likeliest to be in the cache
    for (size_t i = 0; i < blocks.size(); ++i)
      if (blocks[i]->bytes >= bytes && blocks[i]->bytes <= 2 * bytes + (size_t(1) << 20) &&
          (best == blocks.size() || blocks[i]->bytes <= blocks[best]->bytes))
        best = i;
    if (best < blocks.size()) {
      Header* const header = blocks[best];
      blocks.erase(blocks.begin() + std::ptrdiff_t(best));
      return header + 1;
    }
    static size_t made = 0;
    place = ++made % kPlaces * kStagger;
  }
  // Large pages begin at multiples of their size; the rest of the block has ordinary ones, so no memory is lost.
  void* block = nullptr;
  if (posix_memalign(&block, bytes >= kLargePage ? kLargePage : kAlignment, bytes + place) != 0) throw std::bad_alloc();
  expect_writes(block, bytes + place);
  return new (static_cast<char*>(block) + place) Header{bytes, block} + 1;
}

void release_block(void* start) {
  if (start == nullptr) return;
  const std::lock_guard<std::mutex> lock(blocks_guard);
  auto& blocks = kept_blocks();
  blocks.push_back(static_cast<Header*>(start) - 1);
  size_t total = 0;
  for (const Header* kept : blocks) total += kept->bytes;
  if (total > surely_kept()) offer_back(start, blocks.back()->bytes - kHeader);
  // Oldest first: the most recently used block is the likeliest to fit again.
  while (blocks.size() > kMostKept || (total > most_kept() && !blocks.empty())) {
    total -= blocks.front()->bytes;
    std::free(blocks.front()->block);
    blocks.erase(blocks.begin());
  }
}

}  // namespace qrn
