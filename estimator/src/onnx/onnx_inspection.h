// Inspects an ONNX file before anything is computed. Refuses what an untrusted policy model does not need: operators
// that are not in onnx_operators.cc, and graphs whose tensor shapes imply more memory or time than the bounds below.
#ifndef WEIR_ESTIMATOR_SRC_ONNX_ONNX_INSPECTION_H_
#define WEIR_ESTIMATOR_SRC_ONNX_ONNX_INSPECTION_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "onnx/onnx_model.h"
#include "weir/result.h"

namespace weir::internal {

// Bounds of the computed tensors of one decision; the size of the file bounds the constants.
inline constexpr int64_t kMaxTensorBytes = int64_t{1} << 20;
inline constexpr int64_t kMaxTotalTensorBytes = int64_t{16} << 20;
// Multiply-adds of products, plus elements of all other results. The shipped model has 40,000.
inline constexpr int64_t kMaxOperations = int64_t{1} << 23;
// Size of keys and values. Lists and golden vectors take up to 40 times as much once parsed.
inline constexpr size_t kMaxMetadataBytes = size_t{1} << 20;

// Returns nothing if the model may be computed, by Weir or by ONNX Runtime, or else the reason why not. Adds the shapes
// of nodes, and those that outputs do not declare.
std::optional<std::string> FindOnnxObjection(OnnxModel& model);

// --- The ONNX operators that a policy may use, and the shapes of what they compute, known before anything is computed.

// The versions of the standard operators whose definitions are known here.
inline constexpr int64_t kOldestOpset = 11;
inline constexpr int64_t kNewestOpset = 21;

// A tensor as it is known before a run.
struct OnnxValue {
  OnnxShape shape;
  // Null: computed, and then float32.
  const OnnxTensor* constant = nullptr;

  bool is_float32() const { return constant == nullptr || constant->is_float32(); }
};

// Result of a node: one float32 tensor, and its cost per element in multiply-adds or elements read.
struct OnnxOutput {
  OnnxShape shape;
  int64_t operations_per_element = 1;
};

// `inputs` has an entry for each input of the node, null where one is left out; their shapes have at most 2^22
// elements. `opset` is the version of the operators of its domain. The shape of the output may be of any size. An error
// when the operator, an attribute or an input is not one that a policy may have, or shapes do not fit.
Result<OnnxOutput> InferOnnxOutput(const OnnxNode& node, int64_t opset, const std::vector<const OnnxValue*>& inputs);

// Checks the tree of a TreeEnsembleRegressor, version 3, whose attributes have the right names and types and whose
// input has `features` elements, and returns the number of its nodes. Accepts one tree with one target, node ids equal
// to indices, splits BRANCH_LEQ, aggregate SUM and no transform. The error, "has ...", describes another kind, a
// malformed or too deep tree, or an invalid feature or number.
// https://onnx.ai/onnx/operators/onnx_aionnxml_TreeEnsembleRegressor.html
Result<int64_t> InspectOnnxTree(const OnnxNode& node, int64_t features);

// All names, for messages.
std::string OnnxOperatorNames();

}  // namespace weir::internal

#endif  // WEIR_ESTIMATOR_SRC_ONNX_ONNX_INSPECTION_H_
