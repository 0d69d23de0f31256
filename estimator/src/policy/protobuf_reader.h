// The wire format of protobuf, in which ONNX files are written.
#ifndef WEIR_ESTIMATOR_SRC_POLICY_PROTOBUF_READER_H_
#define WEIR_ESTIMATOR_SRC_POLICY_PROTOBUF_READER_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace weir::internal {

// One field of a protobuf message: number, and its value or bytes.
struct ProtobufField {
  uint32_t number = 0;
  bool is_bytes = false;
  uint64_t value = 0;
  std::string_view bytes;
};

// Walks over the fields of one message. `malformed()` tells after Next() whether it stopped because of broken input.
class ProtobufReader {
 public:
  explicit ProtobufReader(std::string_view message) : rest_(message) {}

  bool Next(ProtobufField& field) {
    if (rest_.empty()) return false;
    uint64_t tag = 0;
    if (!ReadVarint(tag) || tag >> 3 == 0 || tag >> 3 > UINT32_MAX) return Fail();
    field = ProtobufField();
    field.number = static_cast<uint32_t>(tag >> 3);
    switch (tag & 7) {
      case 0:
        return ReadVarint(field.value) || Fail();
      case 1:
        return Skip(8) || Fail();
      case 2: {
        uint64_t size = 0;
        if (!ReadVarint(size) || size > rest_.size()) return Fail();
        field.is_bytes = true;
        field.bytes = rest_.substr(0, size);
        return Skip(size);
      }
      case 5:
        return Skip(4) || Fail();
      default:
        return Fail();  // groups have never been part of ONNX
    }
  }
  // For a message that is a packed list of integers instead.
  bool NextPacked(uint64_t& value) { return !rest_.empty() && (ReadVarint(value) || Fail()); }
  bool malformed() const { return malformed_; }

 private:
  bool Fail() {
    malformed_ = true;
    return false;
  }
  bool Skip(size_t count) {
    if (count > rest_.size()) return false;
    rest_.remove_prefix(count);
    return true;
  }
  bool ReadVarint(uint64_t& value) {
    value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (rest_.empty()) return false;
      const auto byte = static_cast<uint8_t>(rest_.front());
      rest_.remove_prefix(1);
      value |= uint64_t{byte & 0x7fu} << shift;
      if ((byte & 0x80) == 0) return true;
    }
    return false;
  }

  std::string_view rest_;
  bool malformed_ = false;
};

}  // namespace weir::internal

#endif  // WEIR_ESTIMATOR_SRC_POLICY_PROTOBUF_READER_H_
