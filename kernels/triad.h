// c = a + 2 b over arrays that no cache holds, written past it: how fast this machine's memory is at best.
#pragma once

#include "pool.h"
#include "reader.h"
#include "simd.h"

namespace qrn {
namespace QRN_VARIANT {

// Numbers of a task: long enough for the processor to see where it is going.
constexpr int64_t kTriadNumbers = int64_t(1) << 16;

inline void triad(const TriadCall& call) {
  const bool aligned = reinterpret_cast<uintptr_t>(call.c) % QRN_VECTOR_BYTES == 0;
  auto run = [&](int64_t task, int64_t) {
    const int64_t end = (task + 1) * kTriadNumbers < call.count ? (task + 1) * kTriadNumbers : call.count;
    int64_t i = task * kTriadNumbers;
    for (; aligned && i + kLanes<float> <= end; i += kLanes<float>)
      store_past_cache<float>(call.c + i, load(call.a + i) + 2 * load(call.b + i));
    for (; i < end; ++i) call.c[i] = call.a[i] + 2 * call.b[i];
    finish_stores();
  };
  parallel(call, (call.count + kTriadNumbers - 1) / kTriadNumbers, run);
}

}  // namespace QRN_VARIANT
}  // namespace qrn
