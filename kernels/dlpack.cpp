#include "dlpack.h"

#include "pool.h"

namespace qrn {
namespace {

constexpr int32_t kCpu = 1;
constexpr uint8_t kFloatingPoint = 2;

constexpr int kMostDimensions = 8;

struct Described {
  DLManagedTensor managed;
  int64_t shape[kMostDimensions], strides[kMostDimensions];
};

}  // namespace

DLManagedTensor* make_tensor(const int64_t* shape, int dimensions, bool twice) {
  if (dimensions < 0 || dimensions > kMostDimensions) return nullptr;
  int64_t count = 1;
  for (int i = 0; i < dimensions; ++i) count = checked_product(count, shape[i]);
  const int64_t item = twice ? 8 : 4, line = 64;
  const int64_t numbers = (checked_product(count, item) + line - 1) / line * line;
  char* const block = static_cast<char*>(acquire_block(size_t(checked_sum(numbers, sizeof(Described)))));
  auto* const described = reinterpret_cast<Described*>(block + numbers);
  int64_t stride = 1;
  for (int i = dimensions - 1; i >= 0; --i) {
    described->shape[i] = shape[i];
    described->strides[i] = stride;
    stride *= shape[i];
  }
  described->managed = {
      {block, {kCpu, 0}, dimensions, {kFloatingPoint, uint8_t(8 * item), 1}, described->shape, described->strides, 0},
      block,
      [](DLManagedTensor* self) { release_block(self->manager_ctx); }};
  return &described->managed;
}

}  // namespace qrn
