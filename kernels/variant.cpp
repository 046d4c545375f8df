// Compiled once per instruction set, with QRN_VARIANT naming it.
#include "encode.h"
#include "reader_gradient.h"
#include "scan.h"
#include "step.h"
#include "triad.h"
#include "update.h"

#define QRN_TEXT(name) #name
#define QRN_NAME(name) QRN_TEXT(name)

namespace qrn {
namespace QRN_VARIANT {

template <class T> constexpr Kernels kernels() {
  return {QRN_NAME(QRN_VARIANT), read_forward<T>, read_backward<T>, saved_bytes<T>, encode<T>, take_step<T>, update<T>,
          scan_forward<T>, scan_backward<T>, triad};
}

extern const KernelPair table;
const KernelPair table = {kernels<float>(), kernels<double>()};

}  // namespace QRN_VARIANT
}  // namespace qrn
