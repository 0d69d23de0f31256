#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "onnx/network.h"
#include "onnx/onnx_tree.h"

namespace weir::internal {
namespace {

using Kind = NetworkStep::Kind;

// The version of ONNX whose operators are supported.
constexpr int64_t kOpset = 17;
// Bounds of memory and time. A file of PolicyModel::kMaxSize has no more constants.
constexpr size_t kMaxConstants = size_t{1} << 22;
constexpr int64_t kMaxElements = int64_t{1} << 20;
constexpr size_t kMaxSteps = 256;

// A tensor of the model. Its elements are in row-major order.
struct Value {
  Operand operand;
  OnnxShape shape;
};

// The shape without leading 1s, which broadcasting ignores.
std::span<const int64_t> Significant(const OnnxShape& shape) {
  const auto first = std::ranges::find_if(shape, [](int64_t size) { return size != 1; });
  return {first, shape.end()};
}

size_t Size(const OnnxShape& shape) { return static_cast<size_t>(*Elements(shape, kMaxElements)); }

// Plans a model whose shapes are consistent and bounded.
class Planner {
 public:
  explicit Planner(const OnnxModel& model) : model_(model) {}

  Result<NetworkPlan> Plan() {
    for (const OnnxTensor& constant : model_.constants) constants_.emplace(constant.name, &constant);
    if (model_.opset != kOpset) Fail("operators of ONNX's opset " + std::to_string(model_.opset));
    for (const OnnxValueInfo& input : model_.inputs) AddInput(input);
    for (const OnnxNode& node : model_.nodes) {
      if (!error_) AddNode(node);
    }
    for (const OnnxValueInfo& output : model_.outputs) AddOutput(output);
    if (error_) return *error_;
    LeaveOutUnused();
    return std::move(plan_);
  }

 private:
  void Fail(std::string what) {
    if (!error_) error_ = Error{std::move(what)};
  }
  // Reports an unsupported node. Returns a placeholder.
  Operand Unknown(const OnnxNode& node) {
    Fail("operator " + Quoted(node.operator_name) + " as it is used there");
    return {};
  }

  Operand Allocate(size_t size) {
    const auto offset = static_cast<uint32_t>(plan_.workspace_size);
    if (size > static_cast<size_t>(kMaxElements) - plan_.workspace_size) {
      Fail("so many values");
      return {};
    }
    plan_.workspace_size += PaddedSize(size);
    return {false, offset, static_cast<uint32_t>(size)};
  }
  Operand AddConstant(std::span<const float> elements) {
    const auto offset = static_cast<uint32_t>(plan_.constants.size());
    if (elements.size() > kMaxConstants - plan_.constants.size()) {
      Fail("so many constants");
      return {};
    }
    plan_.constants.insert(plan_.constants.end(), elements.begin(), elements.end());
    plan_.constants.resize(PaddedSize(plan_.constants.size()));
    return {true, offset, static_cast<uint32_t>(elements.size())};
  }
  Operand OutputOf(const OnnxNode& node) { return Allocate(Size(node.shape)); }
  Operand Add(NetworkStep step) {
    if (plan_.steps.size() == kMaxSteps) Fail("so many operators");
    if (error_) return {};
    return plan_.steps.emplace_back(std::move(step)).out;
  }

  void AddInput(const OnnxValueInfo& input) {
    OnnxShape shape = Bound(*input.shape);
    const Operand operand = Allocate(Size(shape));
    plan_.inputs.push_back(operand);
    values_.emplace(input.name, Value{operand, std::move(shape)});
  }

  void AddOutput(const OnnxValueInfo& output) {
    const auto found = values_.find(output.name);
    if (found == values_.end()) return Fail("output " + Quoted(output.name));
    plan_.outputs.push_back(found->second.operand);
  }

  void AddNode(const OnnxNode& node) {
    const Operand computed = Compute(node);
    if (!error_) values_.emplace(node.outputs.front(), Value{computed, node.shape});
  }

  Operand Compute(const OnnxNode& node) {
    const std::string_view op = node.operator_name;
    if (op == "Gemm") return Gemm(node);
    if (op == "Concat") return Concat(node);
    if (op == "Reshape") return Reshape(node);
    if (op == "ReduceMin") return Reduce(node, Kind::kSmallestOfRow);
    if (op == "ReduceMax") return Reduce(node, Kind::kLargestOfRow);
    if (op == "TreeEnsembleRegressor") return Tree(node);
    if (!node.attributes.empty()) return Unknown(node);
    if (op == "Add" || op == "Sum") return Fold(node, Kind::kAdd);
    if (op == "Mul") return Fold(node, Kind::kMultiply);
    if (op == "Max") return Fold(node, Kind::kLarger);
    if (op == "Clip") return Clip(node);
    if (op == "Relu") return Relu(node);
    if (op == "Exp") return OfElements(node, Kind::kExp);
    if (op == "Log") return OfElements(node, Kind::kLog);
    if (op == "Tanh") return OfElements(node, Kind::kTanh);
    if (op == "Sigmoid") return OfElements(node, Kind::kSigmoid);
    if (op == "Slice") return Slice(node);
    return Unknown(node);
  }

  const Value* FindValue(std::string_view name) const {
    const auto found = values_.find(name);
    return found == values_.end() ? nullptr : &found->second;
  }
  // Returns null if there is no tensor of this type with this name.
  const OnnxTensor* FindFloats(std::string_view name) const {
    const auto found = constants_.find(name);
    return found == constants_.end() || !found->second->is_float32() ? nullptr : found->second;
  }

  // The constant with this name, if it is a single integer.
  std::optional<int64_t> FindInteger(std::string_view name) const {
    const auto found = constants_.find(name);
    if (found == constants_.end() || found->second->integers.size() != 1) return std::nullopt;
    return found->second->integers.front();
  }

  // A value of shape [1,N], or a constant.
  std::optional<Value> FindRow(std::string_view name) {
    std::optional<Value> row;
    if (const Value* value = FindValue(name)) {
      row = *value;
    } else if (const OnnxTensor* constant = FindFloats(name)) {
      row = Value{AddConstant(constant->floats), constant->shape};
    }
    return row && row->shape.size() == 2 && row->shape[0] == 1 ? row : std::nullopt;
  }

  // A value of this shape, or a constant broadcast to it: of the same shape except for leading 1s, or a single element.
  std::optional<Operand> Broadcast(std::string_view name, const OnnxShape& shape) {
    if (const Value* value = FindValue(name))
      return value->shape == shape ? std::optional(value->operand) : std::nullopt;
    const OnnxTensor* constant = FindFloats(name);
    if (constant == nullptr) return std::nullopt;
    if (std::ranges::equal(Significant(constant->shape), Significant(shape))) return AddConstant(constant->floats);
    if (constant->floats.size() != 1) return std::nullopt;
    return AddConstant(std::vector<float>(Size(shape), constant->floats.front()));
  }

  // Folds two or more inputs, from the left.
  Operand Fold(const OnnxNode& node, Kind kind) {
    if (node.inputs.size() < 2) return Unknown(node);
    std::optional<Operand> left = Broadcast(node.inputs.front(), node.shape);
    for (size_t i = 1; i < node.inputs.size(); ++i) {
      const auto right = Broadcast(node.inputs[i], node.shape);
      if (!left || !right) return Unknown(node);
      left = Add({.kind = kind, .a = *left, .b = *right, .out = OutputOf(node)});
    }
    return *left;
  }

  Operand OfElements(const OnnxNode& node, Kind kind) {
    const Value* of = FindValue(node.inputs.front());
    if (of == nullptr) return Unknown(node);
    return Add({.kind = kind, .a = of->operand, .b = of->operand, .out = OutputOf(node)});
  }

  Operand Clip(const OnnxNode& node) {
    if (node.inputs.size() != 3) return Unknown(node);
    const Value* of = FindValue(node.inputs[0]);
    const OnnxTensor* low = FindFloats(node.inputs[1]);
    const OnnxTensor* high = FindFloats(node.inputs[2]);
    if (of == nullptr || low == nullptr || high == nullptr) return Unknown(node);
    return Add({.kind = Kind::kClip,
                .a = of->operand,
                .b = of->operand,
                .out = OutputOf(node),
                .low = low->floats.front(),
                .high = high->floats.front()});
  }

  Operand Relu(const OnnxNode& node) {
    const Value* of = FindValue(node.inputs.front());
    if (of == nullptr) return Unknown(node);
    const Operand zeros = AddConstant(std::vector<float>(of->operand.size));
    return Add({.kind = Kind::kLarger, .a = of->operand, .b = zeros, .out = OutputOf(node)});
  }

  // a B + c for a row a.
  Operand Gemm(const OnnxNode& node) {
    bool transposed = false;
    for (const OnnxAttribute& attribute : node.attributes) {
      if (attribute.name != "transB") return Unknown(node);
      transposed = attribute.integer != 0;
    }
    if (node.inputs.size() != 3) return Unknown(node);
    const std::optional<Value> row = FindRow(node.inputs[0]);
    const OnnxTensor* matrix = FindFloats(node.inputs[1]);
    const std::optional<Operand> bias = Broadcast(node.inputs[2], node.shape);
    if (!row || matrix == nullptr || !bias) return Unknown(node);
    const auto inputs = static_cast<size_t>(row->shape[1]);
    const auto outputs = static_cast<size_t>(node.shape[1]);
    const auto weight = [&, rows = transposed ? 1 : outputs, columns = transposed ? inputs : 1](size_t i, size_t j) {
      return j < outputs ? matrix->floats[i * rows + j * columns] : 0.0f;
    };
    NetworkStep step{.kind = Kind::kDense, .a = row->operand, .b = *bias, .out = OutputOf(node)};
    // Skips inputs whose weights are all 0: the rule reads only a few elements of the observation.
    for (size_t i = 0; i < inputs; ++i) {
      bool counts = false;
      for (size_t j = 0; j < outputs; ++j) counts = counts || weight(i, j) != 0;
      if (counts) step.elements.push_back(static_cast<uint32_t>(i));
    }
    if (step.elements.size() * PaddedSize(outputs) > kMaxConstants) return Unknown(node);
    std::vector<float> weights;
    weights.reserve(step.elements.size() * PaddedSize(outputs));
    for (size_t block = 0; block < PaddedSize(outputs);) {
      const size_t width = DenseBlockSize(PaddedSize(outputs) - block);
      for (const uint32_t element : step.elements) {
        for (size_t j = 0; j < width; ++j) weights.push_back(weight(element, block + j));
      }
      block += width;
    }
    step.weights = AddConstant(weights).offset;
    return Add(std::move(step));
  }

  Operand Tree(const OnnxNode& node) {
    const std::optional<Value> row = FindRow(node.inputs[0]);
    if (!row) return Unknown(node);
    std::optional<PackedTree> tree = PackTree(ReadOnnxTree(node, row->shape[1]).value());
    if (!tree) return Unknown(node);
    return Add({.kind = Kind::kTree,
                .a = row->operand,
                .b = row->operand,
                .out = OutputOf(node),
                .weights = AddConstant(tree->levels).offset,
                .splits = std::move(tree->splits)});
  }

  // Concatenates rows.
  Operand Concat(const OnnxNode& node) {
    if (node.Integer("axis", 0) != 1) return Unknown(node);
    const Operand out = OutputOf(node);
    uint32_t place = out.offset;
    for (const std::string_view name : node.inputs) {
      const std::optional<Value> row = FindRow(name);
      if (!row) return Unknown(node);
      const Operand part = row->operand;
      Add({.kind = Kind::kCopy, .a = part, .b = part, .out = {false, place, part.size}});
      place += part.size;
    }
    return out;
  }

  // Consecutive columns of a row.
  Operand Slice(const OnnxNode& node) {
    if (node.inputs.size() != 4) return Unknown(node);
    const Value* row = FindValue(node.inputs[0]);
    const auto first = FindInteger(node.inputs[1]), axis = FindInteger(node.inputs[3]);
    if (row == nullptr || row->shape.size() != 2 || row->shape[0] != 1 || axis != 1 || !first || *first < 0)
      return Unknown(node);
    const Operand out = OutputOf(node);
    const Operand part{false, row->operand.offset + static_cast<uint32_t>(*first), out.size};
    return Add({.kind = Kind::kCopy, .a = part, .b = part, .out = out});
  }

  // Changes only the shape.
  Operand Reshape(const OnnxNode& node) {
    const Value* value = FindValue(node.inputs[0]);
    return value == nullptr ? Unknown(node) : value->operand;
  }

  // Reduces over the last dimension.
  Operand Reduce(const OnnxNode& node, Kind kind) {
    const OnnxAttribute* axes = node.Attribute("axes");
    const Value* value = FindValue(node.inputs[0]);
    if (value == nullptr || axes == nullptr || node.inputs.size() != 1 ||
        axes->integers != std::vector<int64_t>{static_cast<int64_t>(value->shape.size()) - 1})
      return Unknown(node);
    const Operand of = value->operand;
    const auto row_size = static_cast<uint32_t>(value->shape.back());
    return Add({.kind = kind, .a = of, .b = of, .out = OutputOf(node), .row_size = row_size});
  }

  // Removes unused elements of exponentials, logarithms and tangents: one formula scales all features, and most
  // features need few of its terms.
  void LeaveOutUnused() {
    for (NetworkStep& step : plan_.steps) {
      if (step.kind != Kind::kExp && step.kind != Kind::kLog && step.kind != Kind::kTanh) continue;
      const std::vector<bool> unused = step.kind == Kind::kTanh ? Zeros(step.a) : Unused(step.out);
      std::vector<uint32_t> used;
      for (uint32_t element = 0; element < step.out.size; ++element) {
        if (!unused[element]) used.push_back(element);
      }
      // Individual elements take longer than whole vectors, and an empty list would mean all elements.
      if (used.empty() || used.size() > step.out.size / 2) continue;
      used.resize(PaddedSize(used.size()), used.back());
      step.elements = std::move(used);
    }
  }
  // The elements that a step multiplies by 0.
  std::vector<bool> MultipliedByZero(const NetworkStep& step) const {
    std::vector<bool> by_zero(step.out.size, false);
    if (step.kind != Kind::kMultiply || !step.b.is_constant) return by_zero;
    for (size_t i = 0; i < by_zero.size(); ++i) by_zero[i] = plan_.constants[step.b.offset + i] == 0;
    return by_zero;
  }
  // The elements that are products with 0, so that their tangents keep their initial 0. The parts of a Concat are
  // written by several steps, the first of which begins at the same offset.
  std::vector<bool> Zeros(const Operand& operand) const {
    for (const NetworkStep& step : plan_.steps) {
      if (!operand.is_constant && step.out.offset == operand.offset && step.out.size == operand.size)
        return MultipliedByZero(step);
    }
    return std::vector<bool>(operand.size, false);
  }
  // The elements that every reader multiplies by 0.
  std::vector<bool> Unused(const Operand& operand) const {
    // True also for an operand that is a part of it.
    const auto is_here = [&](const Operand& other) {
      return !other.is_constant && other.offset >= operand.offset && other.offset < operand.offset + operand.size;
    };
    std::vector<bool> unused(operand.size, std::ranges::none_of(plan_.outputs, is_here));
    for (const NetworkStep& step : plan_.steps) {
      if (!is_here(step.a) && !is_here(step.b)) continue;
      const std::vector<bool> by_zero = MultipliedByZero(step);
      for (size_t i = 0; i < unused.size(); ++i) unused[i] = unused[i] && i < by_zero.size() && by_zero[i];
    }
    return unused;
  }

  const OnnxModel& model_;
  NetworkPlan plan_;
  std::map<std::string_view, const OnnxTensor*> constants_;
  std::map<std::string_view, Value> values_;
  std::optional<Error> error_;
};

}  // namespace

Result<NetworkPlan> PlanNetwork(const OnnxModel& model) { return Planner(model).Plan(); }

}  // namespace weir::internal
