// Bytes as they come, taken out as lines of bounded size.
#ifndef WEIR_WEBRTC_PATCH_ADAPTER_PROGRAM_LINE_BUFFER_H_
#define WEIR_WEBRTC_PATCH_ADAPTER_PROGRAM_LINE_BUFFER_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace weir {

class LineBuffer {
 public:
  enum class Next {
    kNothing,  // no whole line is there
    kLine,     // `line` holds it, without its end
    kTooLong,  // a line of more than `max_line_size` bytes was left out
  };

  explicit LineBuffer(size_t max_line_size) : max_line_size_(max_line_size) {}

  void Append(std::string_view bytes) { bytes_ += bytes; }
  Next Take(std::string& line);
  // After the last byte: a last line may have no end.
  Next TakeLast(std::string& line);

 private:
  const size_t max_line_size_;
  std::string bytes_;
  // Up to where `bytes_` is known to hold no end of line.
  size_t searched_ = 0;
  bool skipping_ = false;
};

}  // namespace weir

#endif  // WEIR_WEBRTC_PATCH_ADAPTER_PROGRAM_LINE_BUFFER_H_
