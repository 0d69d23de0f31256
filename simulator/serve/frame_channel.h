// Length-prefixed frames over two file descriptors: u32 length of the payload, u8 type, payload; little-endian.
#ifndef WEIR_SIMULATOR_SERVE_FRAME_CHANNEL_H_
#define WEIR_SIMULATOR_SERVE_FRAME_CHANNEL_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace weir {

static_assert(std::endian::native == std::endian::little, "frames are written as they lie in memory");

struct Frame {
  char type = 0;
  std::string_view payload;
};

// Appends numbers to a payload.
template <class T, size_t N>
void Append(std::string& payload, std::span<const T, N> values) {
  static_assert(std::is_arithmetic_v<T>);
  payload.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
}
template <class T>
void Append(std::string& payload, const T& value) {
  Append(payload, std::span<const T, 1>(&value, 1));
}

class FrameChannel {
 public:
  // A longer frame is invalid.
  static constexpr uint32_t kMaxPayloadBytes = uint32_t{64} << 20;

  FrameChannel(int input_fd, int output_fd) : input_fd_(input_fd), output_fd_(output_fd) {}

  // Blocks until a whole frame has arrived. Returns nullopt at the end of the input and after an error, which
  // `broken()` reports. The payload is valid until the next call.
  std::optional<Frame> Read();
  // Blocks until all is written. If the reader is gone, the channel is then broken.
  void Write(char type, std::string_view payload);
  bool broken() const { return broken_; }

 private:
  bool Fill(size_t size);

  const int input_fd_;
  const int output_fd_;
  bool broken_ = false;
  std::vector<char> buffer_;
  size_t begin_ = 0;
  size_t end_ = 0;
  std::string output_;
};

}  // namespace weir

#endif  // WEIR_SIMULATOR_SERVE_FRAME_CHANNEL_H_
