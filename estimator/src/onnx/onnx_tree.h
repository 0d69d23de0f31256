// The tree of a TreeEnsembleRegressor of ONNX's machine-learning operators, version 3, as plain data.
// https://onnx.ai/onnx/operators/onnx_aionnxml_TreeEnsembleRegressor.html
#ifndef WEIR_ESTIMATOR_SRC_ONNX_ONNX_TREE_H_
#define WEIR_ESTIMATOR_SRC_ONNX_ONNX_TREE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "onnx/onnx_model.h"
#include "weir/result.h"

namespace weir::internal {

struct OnnxTree {
  struct Node {
    bool is_leaf = false;
    // For a split: `if_at_most` when this element of the input is at most `number`, else, also for NaN, `otherwise`.
    uint32_t feature = 0;
    uint32_t if_at_most = 0, otherwise = 0;
    // The threshold of a split, or the answer of a leaf; finite.
    float number = 0;
  };

  // ONNX Runtime recurses once a level when it loads a tree.
  static constexpr int kMaxLevels = 128;

  // The root, which is a split, is first; children come after their parents.
  std::vector<Node> nodes;
};

// Reads a node whose attributes have the right names and types and whose input has `features` elements. One tree with
// one target is known, its nodes numbered by their places, splits BRANCH_LEQ, aggregate SUM, no transform. The error,
// "has ...", when it is another, is no tree, is too deep, or has a feature or a number that cannot be.
Result<OnnxTree> ReadOnnxTree(const OnnxNode& node, int64_t features);

// --- The same in 8 bytes a split: what a decision reads of a tree with 500 leaves fits into 4 kB.

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

#endif  // WEIR_ESTIMATOR_SRC_ONNX_ONNX_TREE_H_
