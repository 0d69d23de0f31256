// A decision tree in 8 bytes a split: what a decision reads of a tree with 500 leaves fits into 4 kB.
#ifndef WEIR_ESTIMATOR_SRC_ONNX_PACKED_TREE_H_
#define WEIR_ESTIMATOR_SRC_ONNX_PACKED_TREE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "onnx/onnx_tree.h"

namespace weir::internal {

// A leaf is nothing but the number of its answer, in its parent.
struct TreeSplit {
  static constexpr size_t kMaxLevels = 254;
  // Value of `lower` for the next split in the array.
  static constexpr uint8_t kNext = 255;
  // Values of `higher` from here on are leaves.
  static constexpr uint16_t kFirstLeaf = 0xff00;

  float threshold = 0;
  // Where values above the threshold lead, and NaN: a split, or kFirstLeaf and a level.
  uint16_t higher = kFirstLeaf;
  uint8_t feature = 0;
  // Where the others lead: kNext, or a level.
  uint8_t lower = kNext;
};
static_assert(sizeof(TreeSplit) == 8);

struct PackedTree {
  // In preorder: a split, all that lies below its threshold, all that lies above.
  std::vector<TreeSplit> splits;
  // The different answers of its leaves.
  std::vector<float> levels;
};

// Nothing when it has more splits, features or different answers than fit in there.
std::optional<PackedTree> PackTree(const OnnxTree& tree);

// The level that a tree answers with. `features` points to all that its splits look at.
size_t FindLevel(std::span<const TreeSplit> splits, const float* features);

}  // namespace weir::internal

#endif  // WEIR_ESTIMATOR_SRC_ONNX_PACKED_TREE_H_
