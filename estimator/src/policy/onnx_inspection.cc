#include "onnx_inspection.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "protobuf_reader.h"

namespace weir::internal {
namespace {

using Field = ProtobufField;
using Objection = std::optional<std::string>;

constexpr int kMaxDepth = 16;
constexpr std::string_view kBroken = "it is not an ONNX model, or is truncated";

// Field numbers of the messages of onnx.proto3 that are walked.
namespace tensor {
constexpr uint32_t kExternalData = 13, kDataLocation = 14;
}
namespace sparse_tensor {
constexpr uint32_t kValues = 1, kIndices = 2;
}
namespace attribute {
constexpr uint32_t kTensor = 5, kGraph = 6, kTensors = 10, kGraphs = 11, kSparseTensor = 22, kSparseTensors = 23;
}
namespace node {
constexpr uint32_t kOperator = 4, kAttribute = 5, kDomain = 7;
}
namespace graph {
constexpr uint32_t kNode = 1, kInitializer = 5, kSparseInitializer = 15;
}
namespace model {
constexpr uint32_t kIrVersion = 1, kGraph = 7, kOpsetImport = 8, kTrainingInfo = 20, kFunctions = 25;
}

struct RefusedOperator {
  std::string_view name;
  std::string_view reason;
};

constexpr std::string_view kUnbounded = "its running time has no bound";
constexpr std::string_view kRandom = "its output is random";
constexpr std::array kRefusedOperators{
    RefusedOperator{"Loop", kUnbounded},           RefusedOperator{"Scan", kUnbounded},
    RefusedOperator{"SequenceMap", kUnbounded},    RefusedOperator{"RandomNormal", kRandom},
    RefusedOperator{"RandomNormalLike", kRandom},  RefusedOperator{"RandomUniform", kRandom},
    RefusedOperator{"RandomUniformLike", kRandom}, RefusedOperator{"Multinomial", kRandom},
    RefusedOperator{"Bernoulli", kRandom},
};

bool IsStandardDomain(std::string_view domain) {
  return domain.empty() || domain == "ai.onnx" || domain == "ai.onnx.ml";
}

// For messages: a name from an untrusted file, short and printable.
std::string Quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text.substr(0, 64)) out += c >= 0x20 && c < 0x7f ? c : '?';
  return out + (text.size() > 64 ? "...'" : "'");
}

// Calls `visit(field)` for each field until one objects.
template <class Visit>
Objection ForEachField(std::string_view message, Visit visit) {
  ProtobufReader reader(message);
  Field field;
  while (reader.Next(field)) {
    if (Objection objection = visit(field)) return objection;
  }
  return reader.malformed() ? Objection(kBroken) : std::nullopt;
}

Objection InspectGraph(std::string_view message, int depth);

Objection InspectTensor(std::string_view message) {
  return ForEachField(message, [](const Field& field) -> Objection {
    const bool external =
        field.number == tensor::kExternalData || (field.number == tensor::kDataLocation && field.value != 0);
    if (!external) return std::nullopt;
    return "it keeps weights in another file (external data); export it as one file";
  });
}

Objection InspectSparseTensor(std::string_view message) {
  return ForEachField(message, [](const Field& field) -> Objection {
    const bool is_tensor = field.number == sparse_tensor::kValues || field.number == sparse_tensor::kIndices;
    return is_tensor && field.is_bytes ? InspectTensor(field.bytes) : std::nullopt;
  });
}

Objection InspectAttribute(std::string_view message, int depth) {
  return ForEachField(message, [depth](const Field& field) -> Objection {
    if (!field.is_bytes) return std::nullopt;
    switch (field.number) {
      case attribute::kTensor:
      case attribute::kTensors:
        return InspectTensor(field.bytes);
      case attribute::kSparseTensor:
      case attribute::kSparseTensors:
        return InspectSparseTensor(field.bytes);
      case attribute::kGraph:
      case attribute::kGraphs:
        return InspectGraph(field.bytes, depth + 1);
      default:
        return std::nullopt;
    }
  });
}

Objection InspectNode(std::string_view message, int depth) {
  std::string_view name, domain;
  Objection objection = ForEachField(message, [&](const Field& field) -> Objection {
    if (field.number == node::kOperator) name = field.bytes;
    if (field.number == node::kDomain) domain = field.bytes;
    return field.number == node::kAttribute && field.is_bytes ? InspectAttribute(field.bytes, depth) : std::nullopt;
  });
  if (objection) return objection;
  if (!IsStandardDomain(domain)) {
    return "operator " + Quoted(name) + " is of the domain " + Quoted(domain) +
           "; only standard ONNX operators are allowed";
  }
  for (const RefusedOperator& refused : kRefusedOperators) {
    if (name == refused.name) return "operator " + Quoted(name) + " is not allowed: " + std::string(refused.reason);
  }
  return std::nullopt;
}

Objection InspectGraph(std::string_view message, int depth) {
  if (depth > kMaxDepth) return "its graphs are nested too deeply";
  return ForEachField(message, [depth](const Field& field) -> Objection {
    if (!field.is_bytes) return std::nullopt;
    switch (field.number) {
      case graph::kNode:
        return InspectNode(field.bytes, depth);
      case graph::kInitializer:
        return InspectTensor(field.bytes);
      case graph::kSparseInitializer:
        return InspectSparseTensor(field.bytes);
      default:
        return std::nullopt;
    }
  });
}

}  // namespace

std::optional<std::string> FindOnnxObjection(std::span<const std::byte> bytes) {
  bool has_version = false, has_graph = false, has_opset = false;
  const std::string_view message(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  Objection objection = ForEachField(message, [&](const Field& field) -> Objection {
    switch (field.number) {
      case model::kIrVersion:
        has_version = !field.is_bytes;
        return std::nullopt;
      case model::kOpsetImport:
        has_opset = field.is_bytes;
        return std::nullopt;
      case model::kGraph:
        has_graph = field.is_bytes;
        return field.is_bytes ? InspectGraph(field.bytes, 0) : Objection(kBroken);
      case model::kTrainingInfo:
        return "it carries training information; export it for inference";
      case model::kFunctions:
        return "it defines functions of its own; inline them when exporting";
      default:
        return std::nullopt;
    }
  });
  if (objection) return objection;
  if (!has_version || !has_graph || !has_opset) return std::string(kBroken);
  return std::nullopt;
}

}  // namespace weir::internal
