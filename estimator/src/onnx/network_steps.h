// A network as a list of steps over one array of float32. Every value is padded to a multiple of kPadding elements; the
// contents of the padding do not matter.
#ifndef WEIR_ESTIMATOR_SRC_ONNX_NETWORK_STEPS_H_
#define WEIR_ESTIMATOR_SRC_ONNX_NETWORK_STEPS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "onnx/packed_tree.h"

namespace weir::internal {

constexpr size_t kPadding = 8;
constexpr size_t PaddedSize(size_t size) { return (size + kPadding - 1) / kPadding * kPadding; }

// A value among the network's constants or in the session's workspace.
struct Operand {
  bool is_constant = false;
  uint32_t offset = 0;
  uint32_t size = 0;
};

struct NetworkStep {
  enum class Kind : uint8_t {
    kAdd,            // a + b
    kMultiply,       // a b
    kLarger,         // the larger of a and b
    kClip,           // a, at least `low` and at most `high`
    kCopy,           // a
    kExp,            // of the `elements` of a, the others stay as they are, which is 0; or of all when there are none
    kLog,            // likewise
    kTanh,           // likewise
    kDense,          // b + sum of weights[k] a[elements[k]]
    kTree,           // of constants from `weights` on, the one that the `splits` lead to by the elements of a
    kSmallestOfRow,  // of each `row_size` elements of a, the smallest
    kLargestOfRow,
  };

  Kind kind = Kind::kCopy;
  Operand a, b;
  Operand out;
  float low = 0;
  float high = 0;
  uint32_t row_size = 0;
  // Among the constants. kDense: for each kDenseBlock outputs, and then for each kPadding, a row for each element.
  uint32_t weights = 0;
  // Except for kDense a multiple of kPadding, of which some may stand twice.
  std::vector<uint32_t> elements = {};
  std::vector<TreeSplit> splits = {};
};

// How many outputs of kDense are computed at a time, in registers.
constexpr size_t kDenseBlock = 4 * kPadding;

// Runs them in their order. Allocates nothing.
void RunSteps(std::span<const NetworkStep> steps, const float* constants, float* workspace);

}  // namespace weir::internal

#endif  // WEIR_ESTIMATOR_SRC_ONNX_NETWORK_STEPS_H_
