// A strict reader of the protobuf wire format. Input that two parsers could interpret differently is malformed, so that
// a file cannot pass the checks as one model and run in ONNX Runtime as another.
// https://protobuf.dev/programming-guides/encoding
#ifndef WEIR_ESTIMATOR_SRC_ONNX_PROTOBUF_READER_H_
#define WEIR_ESTIMATOR_SRC_ONNX_PROTOBUF_READER_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace weir::internal {

enum class ProtobufWireType : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

// One field of a message.
struct ProtobufField {
  uint32_t number = 0;
  ProtobufWireType wire_type = ProtobufWireType::kVarint;
  uint64_t value = 0;      // of a varint, or the bits of a fixed value
  std::string_view bytes;  // of a string, bytes, an inner message or a packed list
};

// Iterates over a message or a packed list. The following are malformed: a tag above 32 bits, field number 0, groups, a
// varint that is longer than necessary or above 64 bits, and truncated input. After a Next function returned false,
// `malformed()` distinguishes malformed input from the end.
class ProtobufReader {
 public:
  // `bytes` must outlive the reader and all fields.
  explicit ProtobufReader(std::string_view bytes) : rest_(bytes) {}

  bool Next(ProtobufField& field) {
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

  // Reads the elements of a packed list, which have no tags.
  bool NextVarint(uint64_t& value) { return !rest_.empty() && (ReadVarint(value) || Fail()); }
  bool NextFixed32(uint32_t& value) {
    if (rest_.empty()) return false;
    uint64_t bits = 0;
    if (!ReadFixed(4, bits)) return Fail();
    value = static_cast<uint32_t>(bits);
    return true;
  }

  bool malformed() const { return malformed_; }

 private:
  bool Fail() {
    malformed_ = true;
    return false;
  }

  bool ReadVarint(uint64_t& value) {
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

  bool ReadFixed(size_t size, uint64_t& value) {
    if (size > rest_.size()) return false;
    value = 0;
    for (size_t i = 0; i < size; ++i) value |= uint64_t{static_cast<uint8_t>(rest_[i])} << (8 * i);
    rest_.remove_prefix(size);
    return true;
  }

  std::string_view rest_;
  bool malformed_ = false;
};

}  // namespace weir::internal

#endif  // WEIR_ESTIMATOR_SRC_ONNX_PROTOBUF_READER_H_
