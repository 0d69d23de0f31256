// An ONNX file as a list of operators over tensors of float32: what an evaluator of our own can be made from.
#ifndef WEIR_ESTIMATOR_SRC_POLICY_ONNX_GRAPH_H_
#define WEIR_ESTIMATOR_SRC_POLICY_ONNX_GRAPH_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model_session.h"

namespace weir::internal {

// The values of an attribute: those of a single integer, or of a list.
using OnnxAttribute = std::vector<int64_t>;

struct OnnxNode {
  std::string op;
  std::vector<std::string> inputs;
  std::string output;
  std::map<std::string, OnnxAttribute> attributes;
};

// An initialiser; one of the two has its values.
struct OnnxConstant {
  std::vector<int64_t> shape;
  std::vector<float> floats;
  std::vector<int64_t> integers;
};

struct OnnxGraph {
  int64_t opset = 0;
  std::vector<TensorInfo> inputs;
  std::vector<TensorInfo> outputs;
  std::map<std::string, OnnxConstant> constants;
  std::vector<OnnxNode> nodes;
};

// Nothing when the file says anything that the structures above cannot: operators with several outputs or of another
// domain, attributes that are not integers, initialisers of other types or that are inputs too. `bytes` has passed
// FindOnnxObjection().
std::optional<OnnxGraph> ReadOnnxGraph(std::span<const std::byte> bytes);

// The model's metadata_props; of a key that stands twice, the last.
std::map<std::string, std::string> ReadOnnxMetadata(std::span<const std::byte> bytes);

}  // namespace weir::internal

#endif  // WEIR_ESTIMATOR_SRC_POLICY_ONNX_GRAPH_H_
