#include "lines/line_reader.h"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

namespace weir::peer {

bool LineReader::TakeLine(std::string& line, bool& too_long) {
  const size_t end = buffer_.find('\n', searched_);
  too_long = false;
  if (end == std::string::npos) {
    searched_ = buffer_.size();
    if (skipping_ || buffer_.size() > kMaxLineSize) {
      skipping_ = true;
      buffer_.clear();
      searched_ = 0;
    }
    return false;
  }
  too_long = std::exchange(skipping_, false) || end > kMaxLineSize;
  if (!too_long) line.assign(buffer_, 0, end);
  buffer_.erase(0, end + 1);
  searched_ = 0;
  return true;
}

LineReader::Event LineReader::Next(std::string& line) {
  std::array<char, 65536> chunk;  // NOLINT(cppcoreguidelines-pro-type-member-init): read() fills what is used
  while (true) {
    bool too_long = false;
    if (TakeLine(line, too_long)) return too_long ? Event::kTooLong : Event::kLine;
    if (end_of_file_) {
      if (std::exchange(skipping_, false)) return Event::kTooLong;
      if (buffer_.empty()) return Event::kEndOfFile;
      line = std::exchange(buffer_, {});
      searched_ = 0;
      return Event::kLine;
    }
    std::array<pollfd, 2> fds{
        {{.fd = wake_fd_, .events = POLLIN, .revents = 0}, {.fd = fd_, .events = POLLIN, .revents = 0}}};
    if (poll(fds.data(), fds.size(), -1) < 0) {
      if (errno == EINTR) continue;
      return Event::kEndOfFile;
    }
    if (fds[0].revents != 0) return Event::kWoken;
    const ssize_t size = read(fd_, chunk.data(), chunk.size());
    if (size > 0) {
      buffer_.append(chunk.data(), static_cast<size_t>(size));
    } else if (size == 0 || (errno != EINTR && errno != EAGAIN)) {
      end_of_file_ = true;
    }
  }
}

}  // namespace weir::peer
