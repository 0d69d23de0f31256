#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "onnx/onnx_inspection.h"

namespace weir::internal {
namespace {

using Inputs = std::vector<const OnnxValue*>;
using Output = Result<OnnxOutput>;

constexpr int64_t kMaxRank = 8;
constexpr size_t kManyInputs = 32;
// From this version on axes are an input instead of an attribute.
constexpr int64_t kUnsqueezeTakesAxes = 13, kReduceTakesAxes = 18;
// The only version of the machine-learning operators; later ones have another operator for trees.
constexpr int64_t kMachineLearningOpset = 3;

struct Context {
  const OnnxNode& node;
  int64_t opset;
  // At least as many as the operator has; null for an omitted input.
  const Inputs& inputs;

  const OnnxShape& shape(size_t input) const { return inputs[input]->shape; }
};

Error Wrong(const OnnxNode& node, const std::string& why) {
  return Error{"operator " + Quoted(node.operator_name) + " " + why};
}
Error DoNotFit(const OnnxNode& node) { return Wrong(node, "has inputs whose shapes do not fit"); }

// Broadcasts two shapes as NumPy does. Returns nothing if they are not compatible.
std::optional<OnnxShape> Broadcast(OnnxShape a, OnnxShape b) {
  const size_t rank = std::max(a.size(), b.size());
  a.insert(a.begin(), rank - a.size(), 1);
  b.insert(b.begin(), rank - b.size(), 1);
  for (size_t i = 0; i < rank; ++i) {
    if (a[i] != b[i] && a[i] != 1 && b[i] != 1) return std::nullopt;
    a[i] = std::max(a[i], b[i]);
  }
  return a;
}

int64_t Elements(const OnnxShape& shape) {
  int64_t elements = 1;
  for (const int64_t dimension : shape) elements *= dimension;
  return elements;
}

// Returns the index of an axis, or nothing if it does not exist. Negative axes count from the end.
std::optional<size_t> Axis(int64_t axis, size_t rank) {
  const auto size = static_cast<int64_t>(rank);
  if (axis < -size || axis >= size) return std::nullopt;
  return static_cast<size_t>(axis < 0 ? axis + size : axis);
}

Output SameShape(const Context& context) { return OnnxOutput{context.shape(0)}; }

Output Elementwise(const Context& context) {
  OnnxShape shape = context.shape(0);
  for (size_t i = 1; i < context.inputs.size(); ++i) {
    const auto wider = Broadcast(shape, context.shape(i));
    if (!wider) return DoNotFit(context.node);
    shape = *wider;
  }
  return OnnxOutput{shape, static_cast<int64_t>(context.inputs.size())};
}

Output Clip(const Context& context) {
  for (size_t i = 1; i < context.inputs.size(); ++i) {
    if (context.inputs[i] != nullptr && !context.shape(i).empty()) return DoNotFit(context.node);
  }
  return SameShape(context);
}

Output Gemm(const Context& context) {
  OnnxShape a = context.shape(0), b = context.shape(1);
  if (a.size() != 2 || b.size() != 2) return DoNotFit(context.node);
  if (context.node.Integer("transA", 0) != 0) std::swap(a[0], a[1]);
  if (context.node.Integer("transB", 0) != 0) std::swap(b[0], b[1]);
  const OnnxShape shape{a[0], b[1]};
  const bool has_bias = context.inputs.size() == 3 && context.inputs[2] != nullptr;
  const bool fits = !has_bias || Broadcast(shape, context.shape(2)) == shape;
  if (a[1] != b[0] || !fits) return DoNotFit(context.node);
  return OnnxOutput{shape, a[1]};
}

Output MatMul(const Context& context) {
  OnnxShape a = context.shape(0), b = context.shape(1);
  if (a.size() < 2 || b.size() < 2) return DoNotFit(context.node);
  const int64_t rows = a[a.size() - 2], columns = b.back(), depth = a.back();
  if (b[b.size() - 2] != depth) return DoNotFit(context.node);
  a.resize(a.size() - 2);
  b.resize(b.size() - 2);
  auto shape = Broadcast(a, b);
  if (!shape) return DoNotFit(context.node);
  shape->insert(shape->end(), {rows, columns});
  return OnnxOutput{*shape, depth};
}

Output Concat(const Context& context) {
  OnnxShape shape = context.shape(0);
  const auto axis = Axis(context.node.Integer("axis", INT64_MAX), shape.size());
  if (!axis) return Wrong(context.node, "has no axis that fits");
  for (size_t i = 1; i < context.inputs.size(); ++i) {
    OnnxShape other = context.shape(i);
    if (other.size() != shape.size()) return DoNotFit(context.node);
    const int64_t added = std::exchange(other[*axis], shape[*axis]);
    if (other != shape) return DoNotFit(context.node);
    shape[*axis] += added;
  }
  return OnnxOutput{shape};
}

// The list in the node's `input`, or nothing if it is omitted.
std::optional<std::vector<int64_t>> Parameter(const Context& context, size_t input) {
  if (input >= context.inputs.size() || context.inputs[input] == nullptr) return std::nullopt;
  return context.inputs[input]->constant->integers;
}

// The axes, from the input or attribute that the operator's version uses, or nothing if they are omitted.
std::optional<std::vector<int64_t>> Axes(const Context& context, int64_t first_opset_with_input) {
  if (context.opset >= first_opset_with_input) return Parameter(context, 1);
  const OnnxAttribute* attribute = context.node.Attribute("axes");
  return attribute == nullptr ? std::nullopt : std::optional(attribute->integers);
}

// Returns for each axis of `rank` whether it is among `axes`, or nothing if one does not exist or is given twice.
std::optional<std::vector<bool>> Marked(const std::vector<int64_t>& axes, size_t rank) {
  std::vector<bool> marked(rank);
  for (const int64_t given : axes) {
    const auto axis = Axis(given, rank);
    if (!axis || marked[*axis]) return std::nullopt;
    marked[*axis] = true;
  }
  return marked;
}

Output Reduce(const Context& context) {
  const OnnxShape& input = context.shape(0);
  const auto axes = Axes(context, kReduceTakesAxes);
  const auto marked = axes && !axes->empty() ? Marked(*axes, input.size()) : std::vector<bool>(input.size(), true);
  if (!marked) return Wrong(context.node, "has no axes that fit");
  OnnxOutput output;
  for (size_t i = 0; i < input.size(); ++i) {
    if ((*marked)[i]) output.operations_per_element *= input[i];
    if (!(*marked)[i] || context.node.Integer("keepdims", 1) != 0) output.shape.push_back((*marked)[i] ? 1 : input[i]);
  }
  return output;
}

Output Unsqueeze(const Context& context) {
  const OnnxShape& input = context.shape(0);
  const auto axes = Axes(context, kUnsqueezeTakesAxes);
  const auto marked = axes ? Marked(*axes, input.size() + axes->size()) : std::nullopt;
  if (!marked || marked->size() > kMaxRank) return Wrong(context.node, "has no axes that fit");
  OnnxOutput output;
  auto next = input.begin();
  for (const bool added : *marked) output.shape.push_back(added ? 1 : *next++);
  return output;
}

Output Reshape(const Context& context) {
  const OnnxShape& input = context.shape(0);
  OnnxShape shape = *Parameter(context, 1);
  std::optional<size_t> open;
  int64_t others = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0 && i < input.size()) shape[i] = input[i];
    const bool is_open = shape[i] == -1 && !open;
    if (is_open) {
      open = i;
      continue;
    }
    if (shape[i] < 1 || shape[i] > Elements(input) / others) return DoNotFit(context.node);
    others *= shape[i];
  }
  if (open) shape[*open] = Elements(input) / others;
  if (shape.size() > kMaxRank || Elements(shape) != Elements(input)) return DoNotFit(context.node);
  return OnnxOutput{shape};
}

Output Slice(const Context& context) {
  OnnxShape shape = context.shape(0);
  const auto starts = *Parameter(context, 1), ends = *Parameter(context, 2);
  std::vector<int64_t> axes(starts.size()), steps(starts.size(), 1);
  for (size_t i = 0; i < axes.size(); ++i) axes[i] = static_cast<int64_t>(i);
  axes = Parameter(context, 3).value_or(axes);
  steps = Parameter(context, 4).value_or(steps);
  const bool one_each = ends.size() == starts.size() && axes.size() == starts.size() && steps.size() == starts.size();
  if (!one_each || !Marked(axes, shape.size())) return DoNotFit(context.node);
  for (size_t i = 0; i < starts.size(); ++i) {
    int64_t& size = shape[*Axis(axes[i], shape.size())];
    if (steps[i] < 1 || steps[i] > size)
      return Wrong(context.node, "has a step that is not from 1 to the size of its axis");
    const auto place = [&](int64_t index) { return std::clamp<int64_t>(index < 0 ? index + size : index, 0, size); };
    const int64_t length = place(ends[i]) - place(starts[i]);
    if (length < 1) return Wrong(context.node, "leaves nothing over");
    size = (length - 1) / steps[i] + 1;
  }
  return OnnxOutput{shape};
}

// A tree on one row. A decision reads at most all nodes.
Output Tree(const Context& context) {
  const OnnxShape& input = context.shape(0);
  if (input.size() != 2 || input[0] != 1) return DoNotFit(context.node);
  const Result<int64_t> nodes = InspectOnnxTree(context.node, input[1]);
  if (!nodes) return Wrong(context.node, nodes.error());
  return OnnxOutput{{1, 1}, nodes.value()};
}

struct AttributeRule {
  std::string_view name;
  OnnxAttributeType type = OnnxAttributeType::kInteger;
  // Must be 0 or 1: of other numbers, some runtimes take only 1 as true, and others all except 0.
  bool is_flag = false;
};

struct Operator {
  std::string_view name;
  Output (*infer)(const Context&);
  // Number of float32 tensors, which precede the lists.
  size_t min_tensors = 1, max_tensors = 1;
  // Number of lists of integers, which are constants of the file.
  size_t min_lists = 0, max_lists = 0;
  std::span<const AttributeRule> attributes = {};
  std::string_view domain = {};
};

constexpr auto kFloat = OnnxAttributeType::kFloat, kFloats = OnnxAttributeType::kFloats;
constexpr auto kText = OnnxAttributeType::kText, kTexts = OnnxAttributeType::kTexts;
constexpr auto kIntegers = OnnxAttributeType::kIntegers;
constexpr AttributeRule kOfConcat[] = {{"axis"}};
constexpr AttributeRule Flag(std::string_view name) { return {.name = name, .is_flag = true}; }
constexpr AttributeRule kOfGemm[] = {{"alpha", kFloat}, {"beta", kFloat}, Flag("transA"), Flag("transB")};
constexpr AttributeRule kOfReduce[] = {{"axes", kIntegers}, Flag("keepdims")};
constexpr AttributeRule kOfUnsqueeze[] = {{"axes", kIntegers}};
constexpr AttributeRule kOfTree[] = {
    {"aggregate_function", kText},     {"n_targets"},
    {"nodes_falsenodeids", kIntegers}, {"nodes_featureids", kIntegers},
    {"nodes_modes", kTexts},           {"nodes_nodeids", kIntegers},
    {"nodes_treeids", kIntegers},      {"nodes_truenodeids", kIntegers},
    {"nodes_values", kFloats},         {"post_transform", kText},
    {"target_ids", kIntegers},         {"target_nodeids", kIntegers},
    {"target_treeids", kIntegers},     {"target_weights", kFloats},
};

// The operators of Weir's exporter and of the MMSys 2024 baseline model, and similar ones. The shapes bound the memory
// and time of each.
constexpr Operator kOperators[] = {
    {"Abs", SameShape},
    {"Add", Elementwise, 2, 2},
    {"Clip", Clip, 1, 3},
    {"Concat", Concat, 1, kManyInputs, 0, 0, kOfConcat},
    {"Div", Elementwise, 2, 2},
    {"Exp", SameShape},
    {"Gemm", Gemm, 2, 3, 0, 0, kOfGemm},
    {"Identity", SameShape},
    {"Log", SameShape},
    {"MatMul", MatMul, 2, 2},
    {"Max", Elementwise, 1, kManyInputs},
    {"Min", Elementwise, 1, kManyInputs},
    {"Mul", Elementwise, 2, 2},
    {"Neg", SameShape},
    {"ReduceMax", Reduce, 1, 1, 0, 1, kOfReduce},
    {"ReduceMin", Reduce, 1, 1, 0, 1, kOfReduce},
    {"Relu", SameShape},
    {"Reshape", Reshape, 1, 1, 1, 1},
    {"Sigmoid", SameShape},
    {"Slice", Slice, 1, 1, 2, 4},
    {"Sqrt", SameShape},
    {"Sub", Elementwise, 2, 2},
    {"Sum", Elementwise, 1, kManyInputs},
    {"Tanh", SameShape},
    {"TreeEnsembleRegressor", Tree, 1, 1, 0, 0, kOfTree, kMachineLearning},
    {"Unsqueeze", Unsqueeze, 1, 1, 0, 1, kOfUnsqueeze},
};

// True for an input that may be omitted before others: the lower bound of Clip, the axes of Slice.
bool MayBeMissing(const Operator& known, size_t input) {
  return known.max_tensors < kManyInputs && input >= known.min_tensors &&
         (input < known.max_tensors || input >= known.max_tensors + known.min_lists);
}

std::optional<Error> CheckInputs(const Operator& known, const Context& context) {
  const size_t count = context.inputs.size();
  const size_t least = known.min_lists > 0 ? known.max_tensors + known.min_lists : known.min_tensors;
  if (count < least || count > known.max_tensors + known.max_lists)
    return Wrong(context.node, "has " + std::to_string(count) + " inputs");
  for (size_t i = 0; i < count; ++i) {
    const OnnxValue* input = context.inputs[i];
    if (input == nullptr && MayBeMissing(known, i)) continue;
    if (input == nullptr) return Wrong(context.node, "lacks its input " + std::to_string(i));
    if (i < known.max_tensors && !input->is_float32())
      return Wrong(context.node, "computes with integers; only float32 is allowed");
    if (i >= known.max_tensors && (input->is_float32() || input->shape.size() != 1))
      return Wrong(context.node, "has a shape or axes that are no constant list of integers");
  }
  return std::nullopt;
}

std::optional<Error> CheckAttributes(const Operator& known, const OnnxNode& node) {
  for (size_t i = 0; i < node.attributes.size(); ++i) {
    const OnnxAttribute& attribute = node.attributes[i];
    const auto rule = std::ranges::find(known.attributes, attribute.name, &AttributeRule::name);
    if (rule == known.attributes.end() || rule->type != attribute.type)
      return Wrong(node, "has the attribute " + Quoted(attribute.name) + ", which is not allowed");
    if (rule->is_flag && attribute.integer != 0 && attribute.integer != 1)
      return Wrong(node, "has the attribute " + Quoted(attribute.name) + ", which is neither 0 nor 1");
    if (node.Attribute(attribute.name) != &attribute)
      return Wrong(node, "has the attribute " + Quoted(attribute.name) + " twice");
  }
  return std::nullopt;
}

}  // namespace

Output InferOnnxOutput(const OnnxNode& node, int64_t opset, const Inputs& inputs) {
  const auto known = std::ranges::find_if(kOperators, [&](const Operator& other) {
    return other.name == node.operator_name && other.domain == node.domain;
  });
  if (known == std::end(kOperators)) return Wrong(node, "is not allowed; a policy may use " + OnnxOperatorNames());
  if (!node.domain.empty() && opset != kMachineLearningOpset)
    return Wrong(node, "is of version " + std::to_string(opset) + " of " + std::string(node.domain) +
                           "; only version " + std::to_string(kMachineLearningOpset) + " is allowed");
  const Context context{node, opset, inputs};
  if (auto error = CheckAttributes(*known, node)) return *error;
  if (auto error = CheckInputs(*known, context)) return *error;
  return known->infer(context);
}

std::string OnnxOperatorNames() {
  std::string names;
  for (const Operator& known : kOperators) names += (names.empty() ? "" : ", ") + std::string(known.name);
  return names;
}

}  // namespace weir::internal
