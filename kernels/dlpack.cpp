#include "dlpack.h"

#include "pool.h"

namespace qrn {
namespace {

constexpr int32_t kCpu = 1;
constexpr uint8_t kFloatingPoint = 2;

struct Described {
  DLManagedTensor managed;
  int64_t shape, stride;
};

}  // namespace

DLManagedTensor* make_tensor(int64_t count, bool twice) {
  const int64_t item = twice ? 8 : 4, line = 64;
  const int64_t numbers = (checked_product(count, item) + line - 1) / line * line;
  char* const block = static_cast<char*>(acquire_block(size_t(checked_sum(numbers, sizeof(Described)))));
  auto* const described = reinterpret_cast<Described*>(block + numbers);
  described->shape = count;
  described->stride = 1;
  described->managed = {{block, {kCpu, 0}, 1, {kFloatingPoint, uint8_t(8 * item), 1}, &described->shape, &described->stride, 0},
                        block,
                        [](DLManagedTensor* self) { release_block(self->manager_ctx); }};
  return &described->managed;
}

}  // namespace qrn
