// The tree of a TreeEnsembleRegressor of ONNX's machine-learning operators, version 3, as plain data.
// https://onnx.ai/onnx/operators/onnx_aionnxml_TreeEnsembleRegressor.html
#ifndef WEIR_ESTIMATOR_SRC_ONNX_ONNX_TREE_H_
#define WEIR_ESTIMATOR_SRC_ONNX_ONNX_TREE_H_

#include <cstddef>
#include <cstdint>
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

  // The root, which is a split, is first; children come after their parents.
  std::vector<Node> nodes;
};

// Reads a node whose attributes have the right names and types and whose input has `features` elements. One tree with
// one target is known, its nodes numbered by their places, splits BRANCH_LEQ, aggregate SUM, no transform. The error,
// "has ...", when it is another, is no tree, or has a feature or a number that cannot be.
Result<OnnxTree> ReadOnnxTree(const OnnxNode& node, int64_t features);

}  // namespace weir::internal

#endif  // WEIR_ESTIMATOR_SRC_ONNX_ONNX_TREE_H_
