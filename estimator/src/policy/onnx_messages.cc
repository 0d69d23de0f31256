#include "onnx_messages.h"

#include <algorithm>
#include <array>

namespace weir::internal::onnx {
namespace {

bool HasWireType(Type type, ProtobufWireType wire_type) {
  switch (type) {
    case Type::kInteger:
    case Type::kEnum:
      return wire_type == ProtobufWireType::kVarint;
    case Type::kFloat:
      return wire_type == ProtobufWireType::kFixed32;
    case Type::kBytes:
      return wire_type == ProtobufWireType::kBytes;
    case Type::kIntegers:
      return wire_type == ProtobufWireType::kVarint || wire_type == ProtobufWireType::kBytes;
    case Type::kFloats:
      return wire_type == ProtobufWireType::kFixed32 || wire_type == ProtobufWireType::kBytes;
  }
  return false;
}

}  // namespace

Objection ForEachField(const Message& message, std::string_view bytes,
                       const std::function<Objection(const Field&)>& visit) {
  std::array<int, 16> seen{};
  ProtobufReader reader(bytes);
  Field field;
  while (reader.Next(field)) {
    const auto rule = std::ranges::find(message.fields, field.number, &FieldRule::number);
    const auto refuse = [&](const std::string& why) -> Objection {
      return "field " + std::to_string(field.number) + " of its " + std::string(message.name) + " " + why;
    };
    if (rule == message.fields.end()) return refuse("is none that a policy needs");
    if (!HasWireType(rule->type, field.wire_type)) return refuse("is not written as ONNX has it");
    if (!rule->refusal.empty()) return std::string(rule->refusal);
    if (++seen[static_cast<size_t>(rule - message.fields.begin())] > rule->at_most)
      return refuse("occurs more than " + std::to_string(rule->at_most) + (rule->at_most == 1 ? " time" : " times"));
    // Protobuf keeps the low 32 bits.
    if (rule->type == Type::kEnum && field.value > INT32_MAX) return refuse("is out of range");
    if (Objection objection = visit(field)) return objection;
  }
  return reader.malformed() ? Objection(kBroken) : std::nullopt;
}

}  // namespace weir::internal::onnx
