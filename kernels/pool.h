// Threads that wait for work, and memory that is kept between calls.
#pragma once

#include <cstddef>
#include <cstdint>

namespace qrn {

// Runs task(context, index, worker) for every index in [0, tasks), on at most `threads` threads including the caller.
// `worker` is below `threads` and no two tasks of one worker overlap. Which worker runs a task is arbitrary, so
// a task's result must not depend on it. A call from a second thread while the pool is busy runs alone, and so does
// everything where no thread can be started. Once *stop is 1 (see stopped), tasks not yet started are skipped.
using Task = void (*)(void* context, int64_t index, int64_t worker);
void run_tasks(int64_t threads, int64_t tasks, Task task, void* context, const int32_t* stop);

// Whether the calls that ask this come in a row, one soon after the other. Then workers are awake, or worth waking: for one
// call alone that takes longer than it gains, and much longer where other libraries' threads hold the cores.
bool calls_follow_closely();

// With the threads and the stop flag of a call.
template <class Call, class Body> void parallel(const Call& call, int64_t tasks, Body& body) {
  run_tasks(
      call.threads, tasks,
      [](void* context, int64_t index, int64_t worker) { (*static_cast<Body*>(context))(index, worker); }, &body, call.stop);
}

// The product or sum of sizes; throws std::bad_alloc where it is more than any memory.
int64_t checked_product(int64_t a, int64_t b);
int64_t checked_sum(int64_t a, int64_t b);

// Uninitialised memory aligned to 64 bytes; throws std::bad_alloc. Released blocks are kept for the next call: asking the system
// for fresh pages in every training step would cost as much as the computation.
void* acquire_block(size_t bytes);
void release_block(void* block);

// Owns a block of `count` items for one scope. Always inlined: a copy compiled for one instruction set must not serve another.
struct Block {
  __attribute__((always_inline)) Block(int64_t count, int64_t item)
      : start(acquire_block(size_t(checked_product(count, item)))) {}
  __attribute__((always_inline)) ~Block() { release_block(start); }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  void* start;
};

}  // namespace qrn
