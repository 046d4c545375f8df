// Threads that wait for work, and memory that is kept between calls.
#pragma once

#include <cstddef>
#include <cstdint>

namespace qrn {

// Runs task(context, index, worker) for every index in [0, tasks), on at most `threads` threads including the caller.
// `worker` is below `threads` and no two tasks of one worker overlap. Which worker runs a task is left to chance, so
// a task's result must not depend on it. A call from a second thread while the pool is busy runs alone.
using Task = void (*)(void* context, int64_t index, int64_t worker);
void run_tasks(int64_t threads, int64_t tasks, Task task, void* context);

template <class Body> void parallel(int64_t threads, int64_t tasks, Body& body) {
  run_tasks(
      threads, tasks, [](void* context, int64_t index, int64_t worker) { (*static_cast<Body*>(context))(index, worker); },
      &body);
}

// Uninitialised memory aligned to 64 bytes, or null. Blocks given back are kept for the next call: asking the system
// for fresh pages in every training step would cost as much as the computation.
void* acquire_block(size_t bytes);
void release_block(void* block);

// Asks the system for large pages behind memory that is about to be written for the first time.
void expect_writes(void* start, size_t bytes);

// Owns a block for one scope. Always inlined: a copy compiled for one instruction set must not serve another.
struct Block {
  __attribute__((always_inline)) explicit Block(size_t bytes) : start(acquire_block(bytes)) {}
  __attribute__((always_inline)) ~Block() { release_block(start); }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  void* start;
};

}  // namespace qrn
