#include "onnx/protobuf_reader.h"

namespace weir::internal {

bool ProtobufReader::Fail() {
  malformed_ = true;
  return false;
}

bool ProtobufReader::Next(ProtobufField& field) {
  if (rest_.empty()) return false;
  uint64_t tag = 0;
  if (!ReadVarint(tag) || tag > UINT32_MAX || tag >> 3 == 0) return Fail();
  field = ProtobufField();
  field.number = static_cast<uint32_t>(tag >> 3);
  field.wire_type = static_cast<ProtobufWireType>(tag & 7);
  switch (field.wire_type) {
    case ProtobufWireType::kVarint:
      return ReadVarint(field.value) || Fail();
    case ProtobufWireType::kFixed64:
      return ReadFixed(8, field.value) || Fail();
    case ProtobufWireType::kFixed32:
      return ReadFixed(4, field.value) || Fail();
    case ProtobufWireType::kBytes: {
      uint64_t size = 0;
      if (!ReadVarint(size) || size > rest_.size()) return Fail();
      field.bytes = rest_.substr(0, size);
      rest_.remove_prefix(size);
      return true;
    }
  }
  return Fail();  // groups, which have never been part of ONNX
}

bool ProtobufReader::NextVarint(uint64_t& value) { return !rest_.empty() && (ReadVarint(value) || Fail()); }

bool ProtobufReader::NextFixed32(uint32_t& value) {
  if (rest_.empty()) return false;
  uint64_t bits = 0;
  if (!ReadFixed(4, bits)) return Fail();
  value = static_cast<uint32_t>(bits);
  return true;
}

bool ProtobufReader::ReadVarint(uint64_t& value) {
  value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (rest_.empty()) return false;
    const auto byte = static_cast<uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    if (shift == 63 && byte > 1) return false;
    value |= uint64_t{byte & 0x7fu} << shift;
    if ((byte & 0x80) == 0) return byte != 0 || shift == 0;
  }
  return false;
}

bool ProtobufReader::ReadFixed(size_t size, uint64_t& value) {
  if (size > rest_.size()) return false;
  value = 0;
  for (size_t i = 0; i < size; ++i) value |= uint64_t{static_cast<uint8_t>(rest_[i])} << (8 * i);
  rest_.remove_prefix(size);
  return true;
}

}  // namespace weir::internal
