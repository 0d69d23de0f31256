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
    // For a split: continue at `if_at_most` if this element of the input is at most `number`, else, also for NaN, at
    // `otherwise`.
    uint32_t feature = 0;
    uint32_t if_at_most = 0, otherwise = 0;
    // The threshold of a split, or the answer of a leaf; finite.
    float number = 0;
  };

  // Bounded because ONNX Runtime recurses once per level when it loads a tree.
  static constexpr int kMaxLevels = 128;

  // The root, which is a split, is first. Children follow their parents.
  std::vector<Node> nodes;
};

// Reads a node whose attributes have the right names and types and whose input has `features` elements. Supports one
// tree with one target, node ids equal to indices, splits BRANCH_LEQ, aggregate SUM and no transform. The error,
// "has ...", describes another kind, a malformed or too deep tree, or an invalid feature or number.
Result<OnnxTree> ReadOnnxTree(const OnnxNode& node, int64_t features);

// --- The same tree in 8 bytes per split. The part that a decision reads of a tree with 500 leaves fits into 4 kB.

// A leaf is stored in its parent, as the index of its answer.
struct TreeSplit {
  static constexpr size_t kMaxLevels = 254;
  // Value of `lower` for the next split in the array.
  static constexpr uint8_t kNext = 255;
  // Values of `higher` from here on are leaves.
  static constexpr uint16_t kFirstLeaf = 0xff00;

  float threshold = 0;
  // The target for values above the threshold and NaN: a split, or kFirstLeaf plus a level.
  uint16_t higher = kFirstLeaf;
  uint8_t feature = 0;
  // The target for other values: kNext, or a level.
  uint8_t lower = kNext;
};
static_assert(sizeof(TreeSplit) == 8);

struct PackedTree {
  // In preorder: a split, the subtree below its threshold, the subtree above it.
  std::vector<TreeSplit> splits;
  // The distinct answers of its leaves.
  std::vector<float> levels;
};

// Returns nothing if the tree has more splits, features or distinct answers than this form can represent.
std::optional<PackedTree> PackTree(const OnnxTree& tree);

// Returns the level of the tree's answer. `features` points to all features that its splits use.
size_t FindLevel(std::span<const TreeSplit> splits, const float* features);

}  // namespace weir::internal

#endif  // WEIR_ESTIMATOR_SRC_ONNX_ONNX_TREE_H_
