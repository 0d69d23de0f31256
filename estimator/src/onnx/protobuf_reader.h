// Reads the wire format of protobuf, strictly: what two parsers could take for different things is malformed here, so
// that nothing can be shown to a check and something else to ONNX Runtime.
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

// Walks over a message, or over a packed list. Malformed are: a tag above 32 bits, the field number 0, groups, a varint
// that is longer than it must be or above 64 bits, and whatever ends too early. After one of the three returned false,
// `malformed()` tells whether that was for broken input rather than at the end.
class ProtobufReader {
 public:
  // `bytes` outlives this and all fields.
  explicit ProtobufReader(std::string_view bytes) : rest_(bytes) {}

  bool Next(ProtobufField& field);
  // The elements of a packed list, which have no tags.
  bool NextVarint(uint64_t& value);
  bool NextFixed32(uint32_t& value);

  bool malformed() const { return malformed_; }

 private:
  bool Fail();
  bool ReadVarint(uint64_t& value);
  bool ReadFixed(size_t size, uint64_t& value);

  std::string_view rest_;
  bool malformed_ = false;
};

}  // namespace weir::internal

#endif  // WEIR_ESTIMATOR_SRC_ONNX_PROTOBUF_READER_H_
