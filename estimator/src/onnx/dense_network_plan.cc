#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "onnx/dense_network.h"
#include "weir/names.h"

namespace weir::internal {
namespace {

using Kind = NetworkStep::Kind;

// The version of ONNX's operators that `weir export` writes.
constexpr int64_t kOpset = 17;
// Bounds of memory, in elements: constants, which a file repeats by using them often, and the workspace of a session.
constexpr size_t kMaxConstants = size_t{1} << 22;
constexpr size_t kMaxWorkspace = size_t{1} << 20;

// A tensor of the model. Its elements are in row-major order.
struct Value {
  Operand operand;
  OnnxShape shape;
};

struct OperatorKind {
  std::string_view name;
  Kind kind;
};
constexpr OperatorKind kFolds[] = {
    {"Add", Kind::kAdd}, {"Sum", Kind::kAdd}, {"Mul", Kind::kMultiply}, {"Max", Kind::kLarger}};
constexpr OperatorKind kFunctions[] = {{"Exp", Kind::kExp}, {"Log", Kind::kLog}, {"Tanh", Kind::kTanh}};
constexpr OperatorKind kReductions[] = {{"ReduceMax", Kind::kLargestOfRow}, {"ReduceMin", Kind::kSmallestOfRow}};

// The shape without leading 1s, which broadcasting ignores.
std::span<const int64_t> Significant(const OnnxShape& shape) {
  const auto first = std::ranges::find_if(shape, [](int64_t size) { return size != 1; });
  return {first, shape.end()};
}

size_t Size(const OnnxShape& shape) { return static_cast<size_t>(*Elements(shape, INT64_MAX)); }

bool IsRow(const OnnxShape& shape) { return shape.size() == 2 && shape[0] == 1; }

// Plans a model whose shapes are consistent and bounded. A function that returns nothing does not support the node.
class Planner {
 public:
  explicit Planner(const OnnxModel& model) : model_(model) {}

  Result<NetworkPlan> Plan() {
    if (model_.opset != kOpset) return Error{"operators of ONNX's opset " + std::to_string(model_.opset)};
    for (const OnnxTensor& constant : model_.constants) constants_.emplace(constant.name, &constant);
    for (const OnnxValueInfo& input : model_.inputs) {
      OnnxShape shape = Bound(*input.shape);
      plan_.inputs.push_back(Allocate(shape));
      values_.emplace(input.name, Value{plan_.inputs.back(), std::move(shape)});
    }
    for (const OnnxNode& node : model_.nodes) {
      const std::optional<Operand> out = PlanNode(node);
      if (!out || plan_.workspace_size > kMaxWorkspace) {
        const std::string why = out ? " with so many values" : " as it is used there";
        return Error{"operator " + Quoted(node.operator_name) + why};
      }
      values_.emplace(node.outputs.front(), Value{*out, node.shape});
    }
    for (const OnnxValueInfo& output : model_.outputs) {
      const Value* const value = FindValue(output.name);
      if (value == nullptr) return Error{"output " + Quoted(output.name) + ", which is a constant"};
      plan_.outputs.push_back(value->operand);
    }
    return std::move(plan_);
  }

 private:
  Operand Allocate(const OnnxShape& shape) {
    const Operand operand{false, static_cast<uint32_t>(plan_.workspace_size), static_cast<uint32_t>(Size(shape))};
    plan_.workspace_size += PaddedSize(operand.size);
    return operand;
  }
  // Appends zeros to the constants, for ElementsOf(). Returns nothing if they are too many.
  std::optional<Operand> AddConstant(size_t size) {
    const Operand operand{true, static_cast<uint32_t>(plan_.constants.size()), static_cast<uint32_t>(size)};
    if (PaddedSize(size) > kMaxConstants - plan_.constants.size()) return std::nullopt;
    plan_.constants.resize(plan_.constants.size() + PaddedSize(size));
    return operand;
  }
  std::optional<Operand> AddConstant(const std::vector<float>& elements) {
    const std::optional<Operand> operand = AddConstant(elements.size());
    if (operand) std::ranges::copy(elements, ElementsOf(*operand).begin());
    return operand;
  }
  std::span<float> ElementsOf(const Operand& constant) {
    return std::span(plan_.constants).subspan(constant.offset, constant.size);
  }
  Operand Add(NetworkStep step) { return plan_.steps.emplace_back(step).out; }

  const Value* FindValue(std::string_view name) const {
    const auto found = values_.find(name);
    return found == values_.end() ? nullptr : &found->second;
  }
  // Returns null if there is no float32 constant with this name.
  const OnnxTensor* FindConstant(std::string_view name) const {
    const auto found = constants_.find(name);
    return found == constants_.end() || !found->second->is_float32() ? nullptr : found->second;
  }
  // Returns a value or constant of shape [1,N].
  std::optional<Operand> FindRowOperand(std::string_view name) {
    if (const Value* value = FindValue(name)) return IsRow(value->shape) ? std::optional(value->operand) : std::nullopt;
    const OnnxTensor* constant = FindConstant(name);
    return constant != nullptr && IsRow(constant->shape) ? AddConstant(constant->floats) : std::nullopt;
  }
  // Returns a value of this shape, or a constant broadcast to it: of the same shape except for leading 1s, or a single
  // element.
  std::optional<Operand> Broadcast(std::string_view name, const OnnxShape& shape) {
    if (const Value* value = FindValue(name))
      return value->shape == shape ? std::optional(value->operand) : std::nullopt;
    const OnnxTensor* constant = FindConstant(name);
    if (constant == nullptr) return std::nullopt;
    if (std::ranges::equal(Significant(constant->shape), Significant(shape))) return AddConstant(constant->floats);
    if (constant->floats.size() != 1) return std::nullopt;
    return AddConstant(std::vector<float>(Size(shape), constant->floats.front()));
  }

  std::optional<Operand> PlanNode(const OnnxNode& node) {
    const std::string_view name = node.operator_name;
    if (name == "Gemm") return Gemm(node);
    if (name == "Concat") return Concat(node);
    if (const OperatorKind* row = FindRow(kFolds, name)) return Fold(node, row->kind);
    const Value* const value = FindValue(node.inputs.front());
    if (value == nullptr) return std::nullopt;
    const Operand& a = value->operand;
    if (const OperatorKind* row = FindRow(kFunctions, name))
      return Add({.kind = row->kind, .a = a, .out = Allocate(node.shape)});
    if (const OperatorKind* row = FindRow(kReductions, name)) return Reduce(node, *value, row->kind);
    if (name == "Clip") return Clip(node, a);
    if (name == "Relu") return Relu(node, a);
    if (name == "Reshape") return a;
    return std::nullopt;
  }

  // a B + c for a row a.
  std::optional<Operand> Gemm(const OnnxNode& node) {
    const bool is_transposed = node.Integer("transB", 0) != 0;
    if (node.attributes.size() != (node.Attribute("transB") == nullptr ? 0u : 1u) || node.inputs.size() != 3)
      return std::nullopt;
    const std::optional<Operand> a = FindRowOperand(node.inputs[0]);
    const OnnxTensor* const matrix = FindConstant(node.inputs[1]);
    const std::optional<Operand> c = Broadcast(node.inputs[2], node.shape);
    if (!a || matrix == nullptr || !c) return std::nullopt;
    const size_t outputs = Size(node.shape), padded = PaddedSize(outputs);
    const std::optional<Operand> weights = AddConstant(a->size * padded);
    if (!weights) return std::nullopt;
    auto weight = ElementsOf(*weights).begin();
    for (size_t block = 0, width = 0; block < padded; block += width) {
      width = DenseBlockSize(padded - block);
      for (size_t i = 0; i < a->size; ++i) {
        for (size_t j = block; j < block + width; ++j, ++weight) {
          if (j < outputs) *weight = matrix->floats[is_transposed ? j * a->size + i : i * outputs + j];
        }
      }
    }
    return Add({.kind = Kind::kDense, .a = *a, .b = *c, .out = Allocate(node.shape), .weights = *weights});
  }

  // Concatenates rows.
  std::optional<Operand> Concat(const OnnxNode& node) {
    if (node.Integer("axis", 0) != 1) return std::nullopt;
    const Operand out = Allocate(node.shape);
    uint32_t place = out.offset;
    for (const std::string_view name : node.inputs) {
      const std::optional<Operand> row = FindRowOperand(name);
      if (!row) return std::nullopt;
      Add({.kind = Kind::kCopy, .a = *row, .out = {false, place, row->size}});
      place += row->size;
    }
    return out;
  }

  // Folds two or more inputs, from the left.
  std::optional<Operand> Fold(const OnnxNode& node, Kind kind) {
    if (node.inputs.size() < 2) return std::nullopt;
    const Operand out = Allocate(node.shape);
    std::optional<Operand> left = Broadcast(node.inputs.front(), node.shape);
    for (size_t i = 1; i < node.inputs.size(); ++i) {
      const std::optional<Operand> right = Broadcast(node.inputs[i], node.shape);
      if (!left || !right) return std::nullopt;
      left = Add({.kind = kind, .a = *left, .b = *right, .out = out});
    }
    return out;
  }

  // Reduces over the last dimension.
  std::optional<Operand> Reduce(const OnnxNode& node, const Value& value, Kind kind) {
    const OnnxAttribute* const axes = node.Attribute("axes");
    const std::vector<int64_t> last{static_cast<int64_t>(value.shape.size()) - 1};
    if (axes == nullptr || axes->integers != last || node.inputs.size() != 1) return std::nullopt;
    const auto row_size = static_cast<uint32_t>(value.shape.back());
    return Add({.kind = kind, .a = value.operand, .out = Allocate(node.shape), .row_size = row_size});
  }

  std::optional<Operand> Clip(const OnnxNode& node, const Operand& a) {
    if (node.inputs.size() != 3) return std::nullopt;
    const OnnxTensor* const low = FindConstant(node.inputs[1]);
    const OnnxTensor* const high = FindConstant(node.inputs[2]);
    if (low == nullptr || high == nullptr) return std::nullopt;
    return Add({.kind = Kind::kClip,
                .a = a,
                .out = Allocate(node.shape),
                .low = low->floats.front(),
                .high = high->floats.front()});
  }

  std::optional<Operand> Relu(const OnnxNode& node, const Operand& a) {
    const std::optional<Operand> zeros = AddConstant(a.size);
    if (!zeros) return std::nullopt;
    return Add({.kind = Kind::kLarger, .a = a, .b = *zeros, .out = Allocate(node.shape)});
  }

  const OnnxModel& model_;
  NetworkPlan plan_;
  std::map<std::string_view, const OnnxTensor*> constants_;
  std::map<std::string_view, Value> values_;
};

}  // namespace

Result<NetworkPlan> PlanNetwork(const OnnxModel& model) { return Planner(model).Plan(); }

}  // namespace weir::internal
