// Tensors handed to PyTorch, by the structures of DLPack's C interface (github.com/dmlc/dlpack, stable since 2018).
#pragma once

#include <cstdint>

extern "C" {

typedef struct {
  int32_t device_type, device_id;
} DLDevice;

typedef struct {
  uint8_t code, bits;
  uint16_t lanes;
} DLDataType;

typedef struct {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t *shape, *strides;
  uint64_t byte_offset;
} DLTensor;

typedef struct DLManagedTensor {
  DLTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(struct DLManagedTensor* self);
} DLManagedTensor;
}

namespace qrn {

// One block of memory (see pool.h) for the numbers and, behind them, their description; null if there are too many
// dimensions, throws std::bad_alloc.
DLManagedTensor* make_tensor(const int64_t* shape, int dimensions, bool twice);

}  // namespace qrn
