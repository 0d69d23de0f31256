// Length-prefixed frames over two file descriptors: u32 length of the payload, u8 type, payload; little-endian.
#ifndef WEIR_SIMULATOR_SERVE_FRAME_CHANNEL_H_
#define WEIR_SIMULATOR_SERVE_FRAME_CHANNEL_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

namespace weir {

static_assert(std::endian::native == std::endian::little, "frames are written as they lie in memory");

struct Frame {
  char type = 0;
  std::string_view payload;
};

// Builds one frame at a time, reusing its memory.
class FrameWriter {
 public:
  void Start(char type) {
    bytes_.assign(5, '\0');
    bytes_[4] = type;
  }
  template <class T>
  void Add(const T& value) {
    static_assert(std::is_arithmetic_v<T>);
    AddBytes(&value, sizeof(value));
  }
  void AddBytes(const void* data, size_t size) {
    const auto* bytes = static_cast<const char*>(data);
    bytes_.insert(bytes_.end(), bytes, bytes + size);
  }
  std::string_view Finish() {
    const auto length = static_cast<uint32_t>(bytes_.size() - 5);
    std::memcpy(bytes_.data(), &length, sizeof(length));
    return {bytes_.data(), bytes_.size()};
  }

 private:
  std::vector<char> bytes_;
};

class FrameChannel {
 public:
  // A longer frame is invalid.
  static constexpr uint32_t kMaxPayloadBytes = uint32_t{64} << 20;

  FrameChannel(int input_fd, int output_fd) : input_fd_(input_fd), output_fd_(output_fd) {}

  // Blocks until a whole frame has arrived. Returns nullopt at the end of the input and after an error, which
  // `broken()` reports. The payload is valid until the next call.
  std::optional<Frame> Read();
  // Blocks until all is written. False if the reader is gone.
  bool Write(std::string_view frame);
  bool broken() const { return broken_; }

 private:
  bool Fill(size_t size);

  const int input_fd_;
  const int output_fd_;
  bool broken_ = false;
  std::vector<char> buffer_;
  size_t begin_ = 0;
  size_t end_ = 0;
};

}  // namespace weir

#endif  // WEIR_SIMULATOR_SERVE_FRAME_CHANNEL_H_
