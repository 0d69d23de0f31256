// Lines from a file descriptor, of bounded size, with a way to be woken.
#ifndef WEIR_WEBRTC_PATCH_PEER_LINES_LINE_READER_H_
#define WEIR_WEBRTC_PATCH_PEER_LINES_LINE_READER_H_

#include <cstddef>
#include <string>

#include "program/json_lines.h"

namespace weir::peer {

class LineReader {
 public:
  static constexpr size_t kMaxLineSize = size_t{1} << 20;

  enum class Event {
    kLine,      // `line` holds it, without its end
    kTooLong,   // a line of more than kMaxLineSize bytes was left out
    kWoken,     // `wake_fd` became readable
    kEndOfFile  // or the descriptor failed
  };

  LineReader(int fd, int wake_fd) : fd_(fd), wake_fd_(wake_fd) {}

  // Blocks until there is an event. A last line without an end counts as one.
  Event Next(std::string& line);

 private:
  const int fd_;
  const int wake_fd_;
  LineBuffer buffer_{kMaxLineSize};
  bool end_of_file_ = false;
};

}  // namespace weir::peer

#endif  // WEIR_WEBRTC_PATCH_PEER_LINES_LINE_READER_H_
