// Lines from a file descriptor, of bounded size, with a way to be woken.
#ifndef WEIR_WEBRTC_PATCH_PEER_LINES_LINE_READER_H_
#define WEIR_WEBRTC_PATCH_PEER_LINES_LINE_READER_H_

#include <cstddef>
#include <string>

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
  // True when `line` was taken out of the buffer, or skipped for its length (then `too_long`).
  bool TakeLine(std::string& line, bool& too_long);

  const int fd_;
  const int wake_fd_;
  std::string buffer_;
  // Up to where `buffer_` is known to hold no end of line.
  size_t searched_ = 0;
  bool skipping_ = false;
  bool end_of_file_ = false;
};

}  // namespace weir::peer

#endif  // WEIR_WEBRTC_PATCH_PEER_LINES_LINE_READER_H_
