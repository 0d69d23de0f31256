#include "lines/line_reader.h"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace weir::peer {

LineReader::Event LineReader::Next(std::string& line) {
  std::array<char, 65536> chunk;  // NOLINT(cppcoreguidelines-pro-type-member-init): read() fills what is used
  while (true) {
    switch (end_of_file_ ? buffer_.TakeLast(line) : buffer_.Take(line)) {
      case LineBuffer::Next::kLine:
        return Event::kLine;
      case LineBuffer::Next::kTooLong:
        return Event::kTooLong;
      case LineBuffer::Next::kNothing:
        if (end_of_file_) return Event::kEndOfFile;
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
      buffer_.Append({chunk.data(), static_cast<size_t>(size)});
    } else if (size == 0 || (errno != EINTR && errno != EAGAIN)) {
      end_of_file_ = true;
    }
  }
}

}  // namespace weir::peer
