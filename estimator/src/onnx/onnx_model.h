// An ONNX file as plain data, so far as a policy may use ONNX: one graph of standard and machine-learning operators on
// float32 tensors, with everything it needs in the file. All reading of the file's bytes is here.
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
// Nothing when there are more than `most`, or none.
std::optional<int64_t> Elements(const OnnxShape& shape, int64_t most);
// With 1 for each free dimension: one decision at a time.
OnnxShape Bound(OnnxShape shape);

// A constant (an initializer): its elements are in one of the two lists, and the shape gives their number.
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
  // An input that is left out has the name "".
  std::vector<std::string_view> inputs;
  std::vector<std::string_view> outputs;
  std::vector<OnnxAttribute> attributes;
  // The shape of its output; FindOnnxObjection() adds it.
  OnnxShape shape;

  // Null when the node has no such attribute.
  const OnnxAttribute* Attribute(std::string_view name) const;
  int64_t Integer(std::string_view name, int64_t otherwise) const;
  float Number(std::string_view name, float otherwise) const;
};

// Declaration of a float32 tensor. A dimension of -1 is free.
struct OnnxValueInfo {
  std::string_view name;
  // Nothing: of any rank. FindOnnxObjection() adds that of an output.
  std::optional<OnnxShape> shape;
};

struct OnnxModel {
  // The versions of the standard and of the machine-learning operators; 0: not imported.
  int64_t opset = 0, machine_learning_opset = 0;
  // In the order of the file, which need not be one in which they can be computed.
  std::vector<OnnxNode> nodes;
  std::vector<OnnxTensor> constants;
  std::vector<OnnxValueInfo> inputs, outputs, intermediates;
  std::vector<std::pair<std::string_view, std::string_view>> metadata;

  std::optional<std::string_view> Metadata(std::string_view key) const;
};

// Refuses whatever is not named above (subgraphs, functions, weights in other files, other types, other domains),
// fields that onnx.proto does not have, fields given twice and more of anything than a policy has use for. Nothing is
// said about names, operators and shapes. The views are into `bytes`. Its work is linear in the size of the input.
Result<OnnxModel> ParseOnnxModel(std::span<const std::byte> bytes);

// For messages: a name from an untrusted file, short and printable, in quotes.
std::string Quoted(std::string_view text);

}  // namespace weir::internal

#endif  // WEIR_ESTIMATOR_SRC_ONNX_ONNX_MODEL_H_
