#include "onnx/model_session.h"

namespace weir::internal {
namespace {

// Policies are small; this keeps a hostile shape from asking for gigabytes.
constexpr int64_t kMaxElements = 1 << 20;

}  // namespace

Result<size_t> TensorElements(const TensorInfo& info) {
  int64_t elements = 1;
  for (const int64_t size : info.shape) {
    const int64_t dimension = size < 0 ? 1 : size;
    if (dimension > kMaxElements) return Error{"'" + info.name + "' is too large"};
    elements *= dimension;
    if (elements > kMaxElements) return Error{"'" + info.name + "' is too large"};
  }
  return static_cast<size_t>(elements);
}

}  // namespace weir::internal
