#include "onnx/onnx_messages.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace weir::internal::onnx {
namespace {

bool HasWireType(Type type, ProtobufWireType wire_type) {
  switch (type) {
    case Type::kInteger:
    case Type::kEnum:
      return wire_type == ProtobufWireType::kVarint;
    case Type::kFloat:
      return wire_type == ProtobufWireType::kFixed32;
    case Type::kText:
    case Type::kBytes:
      return wire_type == ProtobufWireType::kBytes;
    case Type::kIntegers:
      return wire_type == ProtobufWireType::kVarint || wire_type == ProtobufWireType::kBytes;
    case Type::kFloats:
      return wire_type == ProtobufWireType::kFixed32 || wire_type == ProtobufWireType::kBytes;
  }
  return false;
}

// RFC 3629: no longer than need be, no surrogates, nothing above U+10FFFF.
bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    const auto lead = static_cast<uint8_t>(text.front());
    const size_t size = lead < 0x80 ? 1 : lead >> 5 == 0x6 ? 2 : lead >> 4 == 0xe ? 3 : lead >> 3 == 0x1e ? 4 : 0;
    if (size == 0 || size > text.size()) return false;
    uint32_t code_point = size == 1 ? lead : lead & (0x7fu >> size);
    for (const char c : text.substr(1, size - 1)) {
      if ((c & 0xc0) != 0x80) return false;
      code_point = code_point << 6 | (static_cast<uint8_t>(c) & 0x3fu);
    }
    constexpr std::array<uint32_t, 5> kSmallest{0, 0, 0x80, 0x800, 0x10000};
    if (code_point < kSmallest[size] || code_point > 0x10ffff || code_point >> 11 == 0x1b) return false;
    text.remove_prefix(size);
  }
  return true;
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
    // Data that begins with an unknown field is not ONNX.
    const bool is_first = std::ranges::count(seen, 0) == std::ssize(seen);
    if (rule == message.fields.end()) return is_first ? std::string(kBroken) : *refuse("is none that a policy needs");
    if (!HasWireType(rule->type, field.wire_type)) return refuse("is not written as ONNX has it");
    if (!rule->refusal.empty()) return std::string(rule->refusal);
    if (++seen[static_cast<size_t>(rule - message.fields.begin())] > rule->at_most)
      return refuse("occurs more than " + std::to_string(rule->at_most) + (rule->at_most == 1 ? " time" : " times"));
    if (rule->type == Type::kText && !IsUtf8(field.bytes)) return refuse("is not UTF-8");
    // Protobuf keeps the low 32 bits.
    if (rule->type == Type::kEnum && field.value > INT32_MAX) return refuse("is out of range");
    if (Objection objection = visit(field)) return objection;
  }
  return reader.malformed() ? Objection(kBroken) : std::nullopt;
}

}  // namespace weir::internal::onnx
