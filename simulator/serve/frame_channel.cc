#include "serve/frame_channel.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace weir {
namespace {

constexpr size_t kHeaderBytes = 5;
constexpr size_t kReadBytes = size_t{1} << 16;

}  // namespace

bool FrameChannel::Fill(size_t size) {
  if (begin_ == end_) begin_ = end_ = 0;
  while (end_ - begin_ < size) {
    if (begin_ > 0 && buffer_.size() - begin_ < size) {
      std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
      end_ -= begin_;
      begin_ = 0;
    }
    buffer_.resize(std::max({buffer_.size(), begin_ + size, kReadBytes}));
    const ssize_t count = read(input_fd_, buffer_.data() + end_, buffer_.size() - end_);
    if (count > 0) {
      end_ += static_cast<size_t>(count);
    } else if (count == 0 || errno != EINTR) {
      broken_ = count < 0 || begin_ != end_;
      return false;
    }
  }
  return true;
}

std::optional<Frame> FrameChannel::Read() {
  if (broken_ || !Fill(kHeaderBytes)) return std::nullopt;
  uint32_t length = 0;
  std::memcpy(&length, buffer_.data() + begin_, sizeof(length));
  const char type = buffer_[begin_ + 4];
  broken_ = length > kMaxPayloadBytes;
  if (broken_ || !Fill(kHeaderBytes + length)) return std::nullopt;
  const Frame frame{type, {buffer_.data() + begin_ + kHeaderBytes, length}};
  begin_ += kHeaderBytes + length;
  return frame;
}

void FrameChannel::Write(char type, std::string_view payload) {
  output_.clear();
  Append(output_, static_cast<uint32_t>(payload.size()));
  output_ += type;
  output_ += payload;
  for (std::string_view rest = output_; !rest.empty() && !broken_;) {
    const ssize_t count = write(output_fd_, rest.data(), rest.size());
    if (count > 0) {
      rest.remove_prefix(static_cast<size_t>(count));
    } else {
      broken_ = count < 0 && errno != EINTR;
    }
  }
}

}  // namespace weir
