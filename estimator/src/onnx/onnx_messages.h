// The messages of onnx.proto that a policy may contain: their fields, wire types and numbers of occurrences.
// https://github.com/onnx/onnx/blob/main/onnx/onnx.proto
#ifndef WEIR_ESTIMATOR_SRC_ONNX_ONNX_MESSAGES_H_
#define WEIR_ESTIMATOR_SRC_ONNX_ONNX_MESSAGES_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "onnx/protobuf_reader.h"

namespace weir::internal::onnx {

using Field = ProtobufField;
// The reason why a file is refused, or nothing.
using Objection = std::optional<std::string>;

inline constexpr std::string_view kBroken = "it is not an ONNX model, or is truncated";
inline constexpr std::string_view kExternal = "it keeps weights in another file (external data); export it as one file";
inline constexpr std::string_view kSubgraph =
    "an attribute holds a graph, and loops and branches have no bounded running time";
inline constexpr std::string_view kTensorAttribute =
    "it is no model of Weir or of MMSys 2024: an attribute holds a tensor, as in PyTorch's Constant nodes "
    "(docs/your_own_model.md converts them)";
inline constexpr std::string_view kSparse = "it has sparse tensors; export it with dense ones";
inline constexpr std::string_view kNotFloat = "is not a float32 tensor";

// Far more than policies have, and far less than would take long.
inline constexpr int kMaxNodes = 1024, kMaxValues = 2048, kMaxNodeInputs = 32, kMaxAttributes = 16, kMaxMetadata = 256;
inline constexpr int kAny = INT32_MAX;
inline constexpr int kMaxRank = 8;

// Wire type of a field. Text must be UTF-8, which not all parsers enforce. Lists of numbers may be packed or not; all
// parsers read both.
enum class Type : uint8_t { kInteger, kEnum, kFloat, kText, kBytes, kIntegers, kFloats };

// One field of a message. With a `refusal` it is a field of ONNX that a policy must not have.
struct FieldRule {
  uint32_t number;
  Type type;
  int at_most = 1;
  std::string_view refusal = {};
};

struct Message {
  std::string_view name;
  std::span<const FieldRule> fields;
};

// The messages of onnx.proto. Fields that are not listed are refused.
namespace model {
enum : uint32_t { kIrVersion = 1, kGraph = 7, kOpsetImport = 8, kMetadata = 14, kTrainingInfo = 20, kFunctions = 25 };
inline constexpr FieldRule kFields[] = {
    {kIrVersion, Type::kInteger},
    {2, Type::kText},     // producer_name
    {3, Type::kText},     // producer_version
    {4, Type::kText},     // domain
    {5, Type::kInteger},  // model_version
    {6, Type::kText},     // doc_string
    {kGraph, Type::kBytes},
    {kOpsetImport, Type::kBytes, 8},
    {kMetadata, Type::kBytes, kMaxMetadata},
    {kTrainingInfo, Type::kBytes, kAny, "it carries training information; export it for inference"},
    {kFunctions, Type::kBytes, kAny, "it defines functions of its own; inline them when exporting"},
};
inline constexpr Message kMessage{"ModelProto", kFields};
}  // namespace model
namespace graph {
enum : uint32_t { kNode = 1, kInitializer = 5, kInput = 11, kOutput = 12, kValueInfo = 13, kSparseInitializer = 15 };
inline constexpr FieldRule kFields[] = {
    {kNode, Type::kBytes, kMaxNodes},        {2, Type::kText},   // name
    {kInitializer, Type::kBytes, kMaxNodes}, {10, Type::kText},  // doc_string
    {kInput, Type::kBytes, kMaxValues},      {kOutput, Type::kBytes, kMaxValues},
    {kValueInfo, Type::kBytes, kMaxValues},  {kSparseInitializer, Type::kBytes, kAny, kSparse},
};
inline constexpr Message kMessage{"GraphProto", kFields};
}  // namespace graph
namespace node {
enum : uint32_t { kInput = 1, kOutput = 2, kOperator = 4, kAttribute = 5, kDomain = 7 };
inline constexpr FieldRule kFields[] = {
    {kInput, Type::kText, kMaxNodeInputs},
    {kOutput, Type::kText, kMaxNodeInputs},
    {3, Type::kText},  // name
    {kOperator, Type::kText},
    {kAttribute, Type::kBytes, kMaxAttributes},
    {6, Type::kText},  // doc_string
    {kDomain, Type::kText},
};
inline constexpr Message kMessage{"NodeProto", kFields};
}  // namespace node
namespace attribute {
enum : uint32_t { kName = 1, kFloat = 2, kInteger = 3, kText = 4, kFloats = 7, kIntegers = 8, kTexts = 9, kType = 20 };
inline constexpr FieldRule kFields[] = {
    {kName, Type::kText},
    {kFloat, Type::kFloat},
    {kInteger, Type::kInteger},
    {kText, Type::kBytes},
    {5, Type::kBytes, kAny, kTensorAttribute},
    {6, Type::kBytes, kAny, kSubgraph},
    {kFloats, Type::kFloats, kAny},
    {kIntegers, Type::kIntegers, kAny},
    {kTexts, Type::kBytes, kAny},
    {10, Type::kBytes, kAny, kTensorAttribute},
    {11, Type::kBytes, kAny, kSubgraph},
    {13, Type::kText},  // doc_string
    {kType, Type::kEnum},
    {22, Type::kBytes, kAny, kSparse},
    {23, Type::kBytes, kAny, kSparse},
};
inline constexpr Message kMessage{"AttributeProto", kFields};
}  // namespace attribute
namespace tensor {
enum : uint32_t { kDims = 1, kDataType = 2, kFloatData = 4, kInt64Data = 7, kName = 8, kRawData = 9, kLocation = 14 };
inline constexpr uint64_t kFloat32 = 1, kInt64 = 7;  // of the enum DataType
inline constexpr FieldRule kFields[] = {
    {kDims, Type::kIntegers, kAny},
    {kDataType, Type::kEnum},
    {kFloatData, Type::kFloats, kAny},
    {kInt64Data, Type::kIntegers, kAny},
    {kName, Type::kText},
    {kRawData, Type::kBytes},
    {12, Type::kText},  // doc_string
    {13, Type::kBytes, kAny, kExternal},
    {kLocation, Type::kEnum},
};
inline constexpr Message kMessage{"TensorProto", kFields};
}  // namespace tensor
namespace value_info {
enum : uint32_t { kName = 1, kType = 2 };
inline constexpr FieldRule kFields[] = {
    {kName, Type::kText},
    {kType, Type::kBytes},
    {3, Type::kText},  // doc_string
};
inline constexpr Message kMessage{"ValueInfoProto", kFields};
}  // namespace value_info
namespace type {
enum : uint32_t { kTensor = 1 };
inline constexpr FieldRule kFields[] = {
    {kTensor, Type::kBytes},
    {4, Type::kBytes, kAny, kNotFloat},  // a sequence
    {5, Type::kBytes, kAny, kNotFloat},  // a map
    {6, Type::kText},                    // denotation
    {8, Type::kBytes, kAny, kNotFloat},  // a sparse tensor
    {9, Type::kBytes, kAny, kNotFloat},  // an optional value
};
inline constexpr Message kMessage{"TypeProto", kFields};
}  // namespace type
namespace tensor_type {
enum : uint32_t { kElement = 1, kShape = 2 };
inline constexpr FieldRule kFields[] = {{kElement, Type::kEnum}, {kShape, Type::kBytes}};
inline constexpr Message kMessage{"TypeProto.Tensor", kFields};
}  // namespace tensor_type
namespace shape {
inline constexpr FieldRule kFields[] = {{1, Type::kBytes, kMaxRank}};
inline constexpr Message kMessage{"TensorShapeProto", kFields};
}  // namespace shape
namespace dimension {
enum : uint32_t { kValue = 1, kParameter = 2 };
inline constexpr FieldRule kFields[] = {{kValue, Type::kInteger}, {kParameter, Type::kText}, {3, Type::kText}};
inline constexpr Message kMessage{"TensorShapeProto.Dimension", kFields};
}  // namespace dimension
namespace opset {
enum : uint32_t { kDomain = 1, kVersion = 2 };
inline constexpr FieldRule kFields[] = {{kDomain, Type::kText}, {kVersion, Type::kInteger}};
inline constexpr Message kMessage{"OperatorSetIdProto", kFields};
}  // namespace opset
namespace entry {
enum : uint32_t { kKey = 1, kValue = 2 };
inline constexpr FieldRule kFields[] = {{kKey, Type::kText}, {kValue, Type::kText}};
inline constexpr Message kMessage{"StringStringEntryProto", kFields};
}  // namespace entry

// Calls `visit` for each field of the message until it returns an objection. Also objects to malformed input and to
// fields that the message does not allow.
Objection ForEachField(const Message& message, std::string_view bytes,
                       const std::function<Objection(const Field&)>& visit);

}  // namespace weir::internal::onnx

#endif  // WEIR_ESTIMATOR_SRC_ONNX_ONNX_MESSAGES_H_
