#include "onnx_graph.h"

#include <bit>
#include <cstring>
#include <string_view>
#include <utility>

#include "protobuf_reader.h"

namespace weir::internal {
namespace {

// Field numbers of the messages of onnx.proto3 that are read.
namespace model {
constexpr uint32_t kGraph = 7, kOpsetImport = 8, kMetadata = 14;
}
namespace opset {
constexpr uint32_t kDomain = 1, kVersion = 2;
}
namespace entry {
constexpr uint32_t kKey = 1, kValue = 2;
}
namespace graph {
constexpr uint32_t kNode = 1, kInitializer = 5, kInput = 11, kOutput = 12, kSparseInitializer = 15;
}
namespace node {
constexpr uint32_t kInput = 1, kOutput = 2, kOperator = 4, kAttribute = 5, kDomain = 7;
}
namespace attribute {
constexpr uint32_t kName = 1, kInteger = 3, kIntegers = 8, kDocumentation = 13, kType = 20;
}
namespace tensor {
constexpr uint32_t kDimensions = 1, kDataType = 2, kFloats = 4, kIntegers = 7, kName = 8, kRaw = 9, kDocumentation = 12,
                   kLocation = 14;
constexpr uint64_t kFloat = 1, kInt64 = 7;
}  // namespace tensor
namespace value {
constexpr uint32_t kName = 1, kType = 2;
}
namespace type {
constexpr uint32_t kTensor = 1;
}
namespace tensor_type {
constexpr uint32_t kElement = 1, kShape = 2;
}
namespace shape {
constexpr uint32_t kDimension = 1;
}
namespace dimension {
constexpr uint32_t kValue = 1;
}

// Calls `visit(field)`, which says whether it can go on, for each field; false when it cannot, or on broken input.
template <class Visit>
bool ReadFields(std::string_view message, Visit visit) {
  ProtobufReader reader(message);
  ProtobufField field;
  while (reader.Next(field)) {
    if (!visit(field)) return false;
  }
  return !reader.malformed();
}

// A repeated integer: packed, or one at a time.
bool ReadIntegers(const ProtobufField& field, std::vector<int64_t>& integers) {
  if (!field.is_bytes) {
    integers.push_back(static_cast<int64_t>(field.value));
    return true;
  }
  ProtobufReader reader(field.bytes);
  uint64_t integer = 0;
  while (reader.NextPacked(integer)) integers.push_back(static_cast<int64_t>(integer));
  return !reader.malformed();
}

// Appends the elements of a little-endian array.
template <class T>
bool AppendRaw(std::string_view bytes, std::vector<T>& elements) {
  static_assert(std::endian::native == std::endian::little);
  if (bytes.size() % sizeof(T) != 0) return false;
  const size_t before = elements.size();
  elements.resize(before + bytes.size() / sizeof(T));
  if (!bytes.empty()) std::memcpy(elements.data() + before, bytes.data(), bytes.size());
  return true;
}

// How many elements a tensor of this shape has; nothing for one that no policy needs.
std::optional<size_t> Elements(const std::vector<int64_t>& shape) {
  constexpr int64_t kMax = int64_t{1} << 24;
  int64_t elements = 1;
  for (const int64_t size : shape) {
    if (size < 1 || size > kMax / elements) return std::nullopt;
    elements *= size;
  }
  return static_cast<size_t>(elements);
}

bool ReadConstant(std::string_view message, OnnxGraph& graph) {
  OnnxConstant constant;
  std::string_view name, raw;
  uint64_t data_type = 0;
  const bool readable = ReadFields(message, [&](const ProtobufField& field) {
    switch (field.number) {
      case tensor::kDimensions:
        return ReadIntegers(field, constant.shape);
      case tensor::kDataType:
        data_type = field.value;
        return true;
      case tensor::kFloats:
        return field.is_bytes && AppendRaw(field.bytes, constant.floats);
      case tensor::kIntegers:
        return ReadIntegers(field, constant.integers);
      case tensor::kName:
        name = field.bytes;
        return true;
      case tensor::kRaw:
        raw = field.bytes;
        return true;
      default:
        return field.number == tensor::kDocumentation || field.number == tensor::kLocation;
    }
  });
  if (!readable) return false;
  if (!raw.empty() && !(constant.floats.empty() && constant.integers.empty())) return false;
  const std::optional<size_t> elements = Elements(constant.shape);
  if (data_type == tensor::kFloat) {
    if (!AppendRaw(raw, constant.floats) || constant.floats.size() != elements) return false;
  } else if (data_type == tensor::kInt64) {
    if (!AppendRaw(raw, constant.integers) || constant.integers.size() != elements) return false;
  } else {
    return false;
  }
  return graph.constants.emplace(name, std::move(constant)).second;
}

bool ReadAttribute(std::string_view message, OnnxNode& node) {
  std::string_view name;
  OnnxAttribute integers;
  const bool readable = ReadFields(message, [&](const ProtobufField& field) {
    switch (field.number) {
      case attribute::kName:
        name = field.bytes;
        return true;
      case attribute::kInteger:
      case attribute::kIntegers:
        return ReadIntegers(field, integers);
      default:
        return field.number == attribute::kType || field.number == attribute::kDocumentation;
    }
  });
  return readable && node.attributes.emplace(name, std::move(integers)).second;
}

bool ReadNode(std::string_view message, OnnxGraph& graph) {
  OnnxNode& node = graph.nodes.emplace_back();
  size_t outputs = 0;
  const bool readable = ReadFields(message, [&](const ProtobufField& field) {
    switch (field.number) {
      case node::kInput:
        node.inputs.emplace_back(field.bytes);
        return true;
      case node::kOutput:
        node.output = field.bytes;
        ++outputs;
        return true;
      case node::kOperator:
        node.op = field.bytes;
        return true;
      case node::kAttribute:
        return ReadAttribute(field.bytes, node);
      case node::kDomain:
        return field.bytes.empty();
      default:
        return true;  // names and documentation
    }
  });
  return readable && outputs == 1;
}

bool ReadShape(std::string_view message, std::vector<int64_t>& dimensions) {
  return ReadFields(message, [&](const ProtobufField& field) {
    if (field.number != shape::kDimension) return true;
    int64_t& size = dimensions.emplace_back(-1);
    return ReadFields(field.bytes, [&](const ProtobufField& part) {
      if (part.number == dimension::kValue) size = static_cast<int64_t>(part.value);
      return true;
    });
  });
}

bool ReadTensorType(std::string_view message, TensorInfo& info) {
  return ReadFields(message, [&](const ProtobufField& field) {
    if (field.number == tensor_type::kElement) info.is_float32 = field.value == tensor::kFloat;
    return field.number != tensor_type::kShape || ReadShape(field.bytes, info.shape);
  });
}

bool ReadTensorInfo(std::string_view message, std::vector<TensorInfo>& infos) {
  TensorInfo& info = infos.emplace_back();
  return ReadFields(message, [&](const ProtobufField& field) {
    if (field.number == value::kName) info.name = field.bytes;
    if (field.number != value::kType) return true;
    return ReadFields(field.bytes, [&](const ProtobufField& kind) {
      return kind.number != type::kTensor || ReadTensorType(kind.bytes, info);
    });
  });
}

bool ReadGraph(std::string_view message, OnnxGraph& out) {
  return ReadFields(message, [&](const ProtobufField& field) {
    switch (field.number) {
      case graph::kNode:
        return ReadNode(field.bytes, out);
      case graph::kInitializer:
        return ReadConstant(field.bytes, out);
      case graph::kInput:
        return ReadTensorInfo(field.bytes, out.inputs);
      case graph::kOutput:
        return ReadTensorInfo(field.bytes, out.outputs);
      default:
        return field.number != graph::kSparseInitializer;
    }
  });
}

std::string_view Text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

std::optional<OnnxGraph> ReadOnnxGraph(std::span<const std::byte> bytes) {
  OnnxGraph out;
  int graphs = 0, opsets = 0;
  const bool readable = ReadFields(Text(bytes), [&](const ProtobufField& field) {
    if (field.number == model::kGraph) return ++graphs == 1 && ReadGraph(field.bytes, out);
    if (field.number != model::kOpsetImport) return true;
    ++opsets;
    return ReadFields(field.bytes, [&](const ProtobufField& part) {
      if (part.number == opset::kVersion) out.opset = static_cast<int64_t>(part.value);
      return part.number != opset::kDomain || part.bytes.empty();
    });
  });
  if (!readable || graphs != 1 || opsets != 1) return std::nullopt;
  for (const TensorInfo& input : out.inputs) {
    if (out.constants.contains(input.name)) return std::nullopt;
  }
  return out;
}

std::map<std::string, std::string> ReadOnnxMetadata(std::span<const std::byte> bytes) {
  std::map<std::string, std::string> metadata;
  ReadFields(Text(bytes), [&](const ProtobufField& field) {
    if (field.number != model::kMetadata) return true;
    std::string_view key, value;
    const bool readable = ReadFields(field.bytes, [&](const ProtobufField& part) {
      if (part.number == entry::kKey) key = part.bytes;
      if (part.number == entry::kValue) value = part.bytes;
      return true;
    });
    if (readable) metadata.insert_or_assign(std::string(key), value);
    return true;
  });
  return metadata;
}

}  // namespace weir::internal
