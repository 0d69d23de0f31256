#include "program/line_buffer.h"

#include <utility>

namespace weir {

LineBuffer::Next LineBuffer::Take(std::string& line) {
  const size_t end = bytes_.find('\n', searched_);
  if (end == std::string::npos) {
    searched_ = bytes_.size();
    if (skipping_ || bytes_.size() > max_line_size_) {
      skipping_ = true;
      bytes_.clear();
      searched_ = 0;
    }
    return Next::kNothing;
  }
  const bool too_long = std::exchange(skipping_, false) || end > max_line_size_;
  if (!too_long) line.assign(bytes_, 0, end);
  bytes_.erase(0, end + 1);
  searched_ = 0;
  return too_long ? Next::kTooLong : Next::kLine;
}

LineBuffer::Next LineBuffer::TakeLast(std::string& line) {
  if (std::exchange(skipping_, false)) return Next::kTooLong;
  if (bytes_.empty()) return Next::kNothing;
  line = std::exchange(bytes_, {});
  searched_ = 0;
  return Next::kLine;
}

}  // namespace weir
