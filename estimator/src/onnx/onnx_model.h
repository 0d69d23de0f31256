// An ONNX file as plain data, limited to what a policy may use: one graph of standard and machine-learning operators on
// float32 tensors, without external data. All parsing of the file's bytes is here.
#ifndef WEIR_ESTIMATOR_SRC_ONNX_ONNX_MODEL_H_
#define WEIR_ESTIMATOR_SRC_ONNX_ONNX_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weir/result.h"

namespace weir::internal {

using OnnxShape = std::vector<int64_t>;
// Returns nothing if there are more than `most` elements, or none.
std::optional<int64_t> Elements(const OnnxShape& shape, int64_t most);
// Replaces each free dimension by 1, for one decision at a time.
OnnxShape Bound(OnnxShape shape);

// A constant (an initializer). Its elements are in one of the two lists, and the shape gives their number.
struct OnnxTensor {
  std::string_view name;
  OnnxShape shape;
  std::vector<float> floats;
  std::vector<int64_t> integers;

  bool is_float32() const { return !floats.empty(); }
};

enum class OnnxAttributeType : uint8_t {
  kUndefined = 0,
  kFloat = 1,
  kInteger = 2,
  kText = 3,
  kFloats = 6,
  kIntegers = 7,
  kTexts = 8
};

// The domain of the machine-learning operators; that of the standard ones is "".
inline constexpr std::string_view kMachineLearning = "ai.onnx.ml";

struct OnnxAttribute {
  std::string_view name;
  OnnxAttributeType type = OnnxAttributeType::kInteger;
  float number = 0;
  int64_t integer = 0;
  std::string_view text;
  std::vector<float> numbers;
  std::vector<int64_t> integers;
  std::vector<std::string_view> texts;
};

struct OnnxNode {
  std::string_view operator_name;
  std::string_view domain;
  // An omitted input has the name "".
  std::vector<std::string_view> inputs;
  std::vector<std::string_view> outputs;
  std::vector<OnnxAttribute> attributes;
  // The shape of its output, which FindOnnxObjection() adds.
  OnnxShape shape;

  // Returns null if the node has no such attribute.
  const OnnxAttribute* Attribute(std::string_view name) const;
  int64_t Integer(std::string_view name, int64_t otherwise) const;
  float Number(std::string_view name, float otherwise) const;
};

// Declaration of a float32 tensor. A dimension of -1 is free.
struct OnnxValueInfo {
  std::string_view name;
  // Missing if the rank is free. FindOnnxObjection() adds the shape of an output.
  std::optional<OnnxShape> shape;
};

struct OnnxModel {
  // Versions of the standard and the machine-learning operators, or 0 if they are not imported.
  int64_t opset = 0, machine_learning_opset = 0;
  // In the order of the file, in which they may not be computable.
  std::vector<OnnxNode> nodes;
  std::vector<OnnxTensor> constants;
  std::vector<OnnxValueInfo> inputs, outputs, intermediates;
  std::vector<std::pair<std::string_view, std::string_view>> metadata;

  std::optional<std::string_view> Metadata(std::string_view key) const;
};

// Refuses everything that the types above do not represent (subgraphs, functions, external data, other types and
// domains), fields that onnx.proto does not have, repeated fields, and more elements than a policy needs. Does not
// check names, operators and shapes. The views refer to `bytes`. The work is linear in the size of the input.
Result<OnnxModel> ParseOnnxModel(std::span<const std::byte> bytes);

// Quotes a name from an untrusted file for a message: shortened and printable.
std::string Quoted(std::string_view text);

}  // namespace weir::internal

#endif  // WEIR_ESTIMATOR_SRC_ONNX_ONNX_MODEL_H_
