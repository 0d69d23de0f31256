#include "onnx/onnx_inspection.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

namespace weir::internal {
namespace {

using Objection = std::optional<std::string>;

constexpr int64_t kMaxElements = kMaxTensorBytes / static_cast<int64_t>(sizeof(float));

// Visits the nodes of a graph in order and keeps the shape of every tensor and the cost so far.
class GraphInspector {
 public:
  explicit GraphInspector(OnnxModel& model) : model_(model) {}

  Objection Inspect() {
    for (const OnnxTensor& constant : model_.constants) {
      if (auto objection = Define(constant.name, {constant.shape, &constant})) return objection;
    }
    for (const OnnxValueInfo& input : model_.inputs) {
      if (!input.shape || !Elements(Bound(*input.shape), kMaxElements))
        return "its input " + Quoted(input.name) + " has no shape, or is too large";
      if (auto objection = Define(input.name, {Bound(*input.shape)})) return objection;
    }
    for (OnnxNode& node : model_.nodes) {
      if (auto objection = InspectNode(node)) return objection;
    }
    for (OnnxValueInfo& output : model_.outputs) {
      const auto found = values_.find(output.name);
      if (found == values_.end()) return "its output " + Quoted(output.name) + " is not computed";
      if (auto objection = CompareDeclared(output)) return objection;
      if (!output.shape) output.shape = found->second.shape;
    }
    for (const OnnxValueInfo& intermediate : model_.intermediates) {
      if (auto objection = CompareDeclared(intermediate)) return objection;
    }
    return std::nullopt;
  }

 private:
  Objection Define(std::string_view name, OnnxValue value) {
    // ONNX Runtime takes names as C strings, which end at a 0.
    if (name.empty() || name.find('\0') != std::string_view::npos) return "a tensor of it has no proper name";
    if (!values_.emplace(name, std::move(value)).second) return "its tensor " + Quoted(name) + " is given twice";
    return std::nullopt;
  }

  Objection InspectNode(OnnxNode& node) {
    const std::string which = "operator " + Quoted(node.operator_name);
    std::vector<const OnnxValue*> inputs;
    for (const std::string_view name : node.inputs) {
      const auto found = values_.find(name);
      if (!name.empty() && found == values_.end())
        return which + " takes " + Quoted(name) + ", which nothing before it computes";
      inputs.push_back(name.empty() ? nullptr : &found->second);
    }
    const int64_t opset = node.domain.empty() ? model_.opset : model_.machine_learning_opset;
    const Result<OnnxOutput> output = InferOnnxOutput(node, opset, inputs);
    if (!output) return output.error();
    if (node.outputs.size() != 1) return which + " has " + std::to_string(node.outputs.size()) + " outputs";
    if (auto objection = Count(output.value())) return which + *objection;
    node.shape = output.value().shape;
    return Define(node.outputs.front(), {node.shape});
  }

  Objection Count(const OnnxOutput& output) {
    const auto elements = Elements(output.shape, kMaxElements);
    if (!elements) return " makes a tensor of more than " + std::to_string(kMaxTensorBytes) + " bytes";
    bytes_ += *elements * static_cast<int64_t>(sizeof(float));
    operations_ += *elements * output.operations_per_element;
    if (bytes_ > kMaxTotalTensorBytes)
      return " brings the tensors of one decision above " + std::to_string(kMaxTotalTensorBytes) + " bytes";
    if (operations_ > kMaxOperations)
      return " brings one decision above " + std::to_string(kMaxOperations) + " multiplications";
    return std::nullopt;
  }

  // Compares the shapes because ONNX Runtime plans with those that a file declares.
  Objection CompareDeclared(const OnnxValueInfo& declared) const {
    const auto found = values_.find(declared.name);
    if (found == values_.end()) return "it declares " + Quoted(declared.name) + ", which nothing computes";
    const bool same = !declared.shape || std::ranges::equal(*declared.shape, found->second.shape,
                                                            [](int64_t a, int64_t b) { return a == b || a == -1; });
    if (same && found->second.is_float32()) return std::nullopt;
    return "it declares for " + Quoted(declared.name) + " another shape or type than it has";
  }

  OnnxModel& model_;
  std::map<std::string_view, OnnxValue> values_;
  int64_t bytes_ = 0, operations_ = 0;
};

Objection InspectMetadata(const OnnxModel& model) {
  std::vector<std::string_view> keys;
  size_t bytes = 0;
  for (const auto& [key, value] : model.metadata) {
    if (std::ranges::find(keys, key) != keys.end()) return "its metadata has " + Quoted(key) + " twice";
    keys.push_back(key);
    bytes += key.size() + value.size();
  }
  if (bytes <= kMaxMetadataBytes) return std::nullopt;
  return "its metadata has " + std::to_string(bytes) + " bytes, at most " + std::to_string(kMaxMetadataBytes) +
         " are allowed";
}

}  // namespace

std::optional<std::string> FindOnnxObjection(OnnxModel& model) {
  if (model.opset < kOldestOpset || model.opset > kNewestOpset) {
    return "it uses version " + std::to_string(model.opset) + " of the ONNX operators; export it with one from " +
           std::to_string(kOldestOpset) + " to " + std::to_string(kNewestOpset);
  }
  if (auto objection = InspectMetadata(model)) return objection;
  return GraphInspector(model).Inspect();
}

}  // namespace weir::internal
