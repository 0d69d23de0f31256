#include "onnx/onnx_model.h"

#include <algorithm>
#include <bit>

#include "onnx/onnx_messages.h"
#include "onnx/protobuf_reader.h"

namespace weir::internal {
namespace {

using namespace onnx;  // NOLINT: the field numbers of its messages

// Number of elements of 4 bytes in the largest file that is read.
constexpr int64_t kMaxElements = int64_t{1} << 22;
// Bound of integer constants, which are shapes, axes and the like.
constexpr size_t kMaxIntegers = 64;
// Bound of the elements of an attribute, such as the nodes of a tree.
constexpr size_t kMaxListed = size_t{1} << 16;

// Appends one element, or the packed elements, of a list of numbers.
Objection AppendIntegers(const Field& field, size_t most, std::vector<int64_t>& integers) {
  const auto append = [&](uint64_t value) -> Objection {
    if (integers.size() == most) return "it has a list of more than " + std::to_string(most) + " integers";
    integers.push_back(static_cast<int64_t>(value));
    return std::nullopt;
  };
  if (field.wire_type == ProtobufWireType::kVarint) return append(field.value);
  ProtobufReader reader(field.bytes);
  for (uint64_t value = 0; reader.NextVarint(value);) {
    if (Objection objection = append(value)) return objection;
  }
  return reader.malformed() ? Objection(kBroken) : std::nullopt;
}

Objection AppendFloats(const Field& field, std::vector<float>& floats) {
  if (field.wire_type == ProtobufWireType::kFixed32) {
    floats.push_back(std::bit_cast<float>(static_cast<uint32_t>(field.value)));
    return std::nullopt;
  }
  ProtobufReader reader(field.bytes);
  for (uint32_t bits = 0; reader.NextFixed32(bits);) floats.push_back(std::bit_cast<float>(bits));
  return reader.malformed() ? Objection(kBroken) : std::nullopt;
}

// Reads little-endian elements, the format of raw_data.
template <class Bits, class Number>
void AppendRaw(std::string_view raw, std::vector<Number>& numbers) {
  numbers.reserve(raw.size() / sizeof(Bits));
  for (; raw.size() >= sizeof(Bits); raw.remove_prefix(sizeof(Bits))) {
    Bits bits = 0;
    for (size_t i = 0; i < sizeof(Bits); ++i) bits |= Bits{static_cast<uint8_t>(raw[i])} << (8 * i);
    numbers.push_back(std::bit_cast<Number>(bits));
  }
}

Objection ReadTensor(std::string_view bytes, OnnxTensor& tensor) {
  uint64_t data_type = 0;
  std::optional<std::string_view> raw;
  Objection objection = ForEachField(tensor::kMessage, bytes, [&](const Field& field) -> Objection {
    switch (field.number) {
      case tensor::kDims:
        return AppendIntegers(field, kMaxIntegers, tensor.shape);
      case tensor::kDataType:
        data_type = field.value;
        return std::nullopt;
      case tensor::kFloatData:
        return AppendFloats(field, tensor.floats);
      case tensor::kInt64Data:
        return AppendIntegers(field, kMaxIntegers, tensor.integers);
      case tensor::kName:
        tensor.name = field.bytes;
        return std::nullopt;
      case tensor::kRawData:
        raw = field.bytes;
        return std::nullopt;
      case tensor::kLocation:
        return field.value == 0 ? Objection() : std::string(kExternal);
      default:
        return std::nullopt;
    }
  });
  if (objection) return objection;
  const std::string which = "its constant " + Quoted(tensor.name);
  if (data_type != tensor::kFloat32 && data_type != tensor::kInt64) return which + " is neither float32 nor int64";
  const std::optional<int64_t> counted = Elements(tensor.shape, kMaxElements);
  if (!counted || tensor.shape.size() > kMaxRank) return which + " is empty or too large";
  const auto elements = static_cast<size_t>(*counted);
  const bool is_float32 = data_type == tensor::kFloat32;
  const size_t lists = (raw ? 1 : 0) + (tensor.floats.empty() ? 0 : 1) + (tensor.integers.empty() ? 0 : 1);
  const bool whole = !raw || raw->size() == elements * (is_float32 ? sizeof(uint32_t) : sizeof(uint64_t));
  if (!is_float32 && elements > kMaxIntegers) return which + " has more than 64 integers";
  if (raw && is_float32) AppendRaw<uint32_t>(*raw, tensor.floats);
  if (raw && !is_float32) AppendRaw<uint64_t>(*raw, tensor.integers);
  const size_t given = is_float32 ? tensor.floats.size() : tensor.integers.size();
  if (lists != 1 || !whole || given != elements) return which + " does not have the elements that its shape wants";
  return std::nullopt;
}

Objection ReadAttribute(std::string_view bytes, OnnxAttribute& attribute) {
  uint64_t type = 0;
  std::vector<OnnxAttributeType> values;
  Objection objection = ForEachField(attribute::kMessage, bytes, [&](const Field& field) -> Objection {
    switch (field.number) {
      case attribute::kName:
        attribute.name = field.bytes;
        return std::nullopt;
      case attribute::kFloat:
        values.push_back(OnnxAttributeType::kFloat);
        attribute.number = std::bit_cast<float>(static_cast<uint32_t>(field.value));
        return std::nullopt;
      case attribute::kInteger:
        values.push_back(OnnxAttributeType::kInteger);
        attribute.integer = static_cast<int64_t>(field.value);
        return std::nullopt;
      case attribute::kText:
        values.push_back(OnnxAttributeType::kText);
        attribute.text = field.bytes;
        return std::nullopt;
      case attribute::kFloats:
        if (attribute.numbers.empty()) values.push_back(OnnxAttributeType::kFloats);
        return AppendFloats(field, attribute.numbers);
      case attribute::kIntegers:
        if (attribute.integers.empty()) values.push_back(OnnxAttributeType::kIntegers);
        return AppendIntegers(field, kMaxListed, attribute.integers);
      case attribute::kTexts:
        if (attribute.texts.empty()) values.push_back(OnnxAttributeType::kTexts);
        attribute.texts.push_back(field.bytes);
        return std::nullopt;
      case attribute::kType:
        type = field.value;
        return std::nullopt;
      default:
        return std::nullopt;
    }
  });
  if (objection) return objection;
  if (values.size() != 1 || type != static_cast<uint64_t>(values.front())) {
    return "its attribute " + Quoted(attribute.name) + " is not one number, one text or one list of either";
  }
  if (std::max(attribute.numbers.size(), attribute.texts.size()) > kMaxListed) {
    return "its attribute " + Quoted(attribute.name) + " has more than " + std::to_string(kMaxListed) + " elements";
  }
  attribute.type = values.front();
  return std::nullopt;
}

// Reads one of the two allowed domains.
Objection ReadDomain(std::string_view bytes, std::string_view& domain) {
  domain = bytes == "ai.onnx" ? "" : bytes;
  if (domain.empty() || domain == kMachineLearning) return std::nullopt;
  return "it imports operators of the domain " + Quoted(domain) + "; only ONNX's own are allowed";
}

Objection ReadNode(std::string_view bytes, OnnxNode& node) {
  return ForEachField(node::kMessage, bytes, [&](const Field& field) -> Objection {
    switch (field.number) {
      case node::kInput:
        node.inputs.push_back(field.bytes);
        return std::nullopt;
      case node::kOutput:
        node.outputs.push_back(field.bytes);
        return std::nullopt;
      case node::kOperator:
        node.operator_name = field.bytes;
        return std::nullopt;
      case node::kAttribute:
        return ReadAttribute(field.bytes, node.attributes.emplace_back());
      case node::kDomain:
        return ReadDomain(field.bytes, node.domain);
      default:
        return std::nullopt;
    }
  });
}

Objection ReadDimension(std::string_view bytes, int64_t& dimension) {
  dimension = -1;
  bool is_named = false;
  Objection objection = ForEachField(dimension::kMessage, bytes, [&](const Field& field) -> Objection {
    if (field.number == dimension::kValue) dimension = static_cast<int64_t>(field.value);
    if (field.number == dimension::kValue && dimension < 1) return "a dimension of its tensors is not above 0";
    is_named = is_named || field.number == dimension::kParameter;
    return std::nullopt;
  });
  if (objection) return objection;
  return is_named && dimension >= 0 ? Objection("a dimension of its tensors is both a number and a name")
                                    : std::nullopt;
}

Objection ReadTensorType(std::string_view bytes, OnnxValueInfo& info) {
  uint64_t element = 0;
  Objection objection = ForEachField(tensor_type::kMessage, bytes, [&](const Field& field) -> Objection {
    if (field.number == tensor_type::kElement) {
      element = field.value;
      return std::nullopt;
    }
    info.shape.emplace();
    return ForEachField(shape::kMessage, field.bytes, [&](const Field& dimension) {
      return ReadDimension(dimension.bytes, info.shape->emplace_back());
    });
  });
  if (objection) return objection;
  return element == tensor::kFloat32 ? Objection() : std::string(kNotFloat);
}

Objection ReadValueInfo(std::string_view bytes, OnnxValueInfo& info) {
  std::string_view type_bytes;
  Objection objection = ForEachField(value_info::kMessage, bytes, [&](const Field& field) -> Objection {
    if (field.number == value_info::kName) info.name = field.bytes;
    if (field.number == value_info::kType) type_bytes = field.bytes;
    return std::nullopt;
  });
  if (objection) return objection;
  bool is_tensor = false;
  objection = ForEachField(type::kMessage, type_bytes, [&](const Field& field) -> Objection {
    if (field.number != type::kTensor) return std::nullopt;
    is_tensor = true;
    return ReadTensorType(field.bytes, info);
  });
  if (!objection && !is_tensor) objection = kNotFloat;
  if (objection == kNotFloat) return "its " + Quoted(info.name) + " is not a float32 tensor";
  return objection;
}

Objection ReadGraph(std::string_view bytes, OnnxModel& model) {
  return ForEachField(graph::kMessage, bytes, [&](const Field& field) -> Objection {
    switch (field.number) {
      case graph::kNode:
        return ReadNode(field.bytes, model.nodes.emplace_back());
      case graph::kInitializer:
        return ReadTensor(field.bytes, model.constants.emplace_back());
      case graph::kInput:
        return ReadValueInfo(field.bytes, model.inputs.emplace_back());
      case graph::kOutput:
        return ReadValueInfo(field.bytes, model.outputs.emplace_back());
      case graph::kValueInfo:
        return ReadValueInfo(field.bytes, model.intermediates.emplace_back());
      default:
        return std::nullopt;
    }
  });
}

Objection ReadOpset(std::string_view bytes, OnnxModel& model) {
  std::string_view domain;
  int64_t version = 0;
  Objection objection = ForEachField(opset::kMessage, bytes, [&](const Field& field) -> Objection {
    if (field.number == opset::kDomain) return ReadDomain(field.bytes, domain);
    version = static_cast<int64_t>(field.value);
    return std::nullopt;
  });
  if (objection) return objection;
  int64_t& known = domain.empty() ? model.opset : model.machine_learning_opset;
  if (known != 0) return "it names two versions of the same operators";
  if (version < 1) return "it names a version of operators that is not above 0";
  known = version;
  return std::nullopt;
}

Objection ReadMetadata(std::string_view bytes, OnnxModel& model) {
  auto& made = model.metadata.emplace_back();
  return ForEachField(entry::kMessage, bytes, [&](const Field& field) -> Objection {
    (field.number == entry::kKey ? made.first : made.second) = field.bytes;
    return std::nullopt;
  });
}

Objection ReadModel(std::string_view bytes, OnnxModel& model) {
  bool has_version = false, has_graph = false;
  Objection objection = ForEachField(model::kMessage, bytes, [&](const Field& field) -> Objection {
    switch (field.number) {
      case model::kIrVersion:
        has_version = true;
        // Before version 4 every constant was also an input.
        return field.value >= 4 ? Objection() : "its IR version is below 4; export it again with a newer onnx";
      case model::kGraph:
        has_graph = true;
        return ReadGraph(field.bytes, model);
      case model::kOpsetImport:
        return ReadOpset(field.bytes, model);
      case model::kMetadata:
        return ReadMetadata(field.bytes, model);
      default:
        return std::nullopt;
    }
  });
  if (objection) return objection;
  return has_version && has_graph && model.opset != 0 ? Objection() : std::string(kBroken);
}

}  // namespace

const OnnxAttribute* OnnxNode::Attribute(std::string_view name) const {
  const auto found = std::ranges::find(attributes, name, &OnnxAttribute::name);
  return found == attributes.end() ? nullptr : &*found;
}

int64_t OnnxNode::Integer(std::string_view name, int64_t otherwise) const {
  const OnnxAttribute* attribute = Attribute(name);
  return attribute == nullptr ? otherwise : attribute->integer;
}

float OnnxNode::Number(std::string_view name, float otherwise) const {
  const OnnxAttribute* attribute = Attribute(name);
  return attribute == nullptr ? otherwise : attribute->number;
}

std::optional<std::string_view> OnnxModel::Metadata(std::string_view key) const {
  const auto found = std::ranges::find(metadata, key, &std::pair<std::string_view, std::string_view>::first);
  return found == metadata.end() ? std::nullopt : std::optional(found->second);
}

std::optional<int64_t> Elements(const OnnxShape& shape, int64_t most) {
  int64_t elements = 1;
  for (const int64_t dimension : shape) {
    if (dimension < 1 || dimension > most / elements) return std::nullopt;
    elements *= dimension;
  }
  return elements;
}

OnnxShape Bound(OnnxShape shape) {
  std::ranges::replace(shape, -1, 1);
  return shape;
}

Result<OnnxModel> ParseOnnxModel(std::span<const std::byte> bytes) {
  OnnxModel model;
  const std::string_view message(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (Objection objection = ReadModel(message, model)) return Error{*std::move(objection)};
  return model;
}

std::string Quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text.substr(0, 64)) out += c >= 0x20 && c < 0x7f ? c : '?';
  return out + (text.size() > 64 ? "...'" : "'");
}

}  // namespace weir::internal
