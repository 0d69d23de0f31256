// Endless sources of pictures to send.
#ifndef WEIR_CALLS_PEER_FRAME_SOURCE_H_
#define WEIR_CALLS_PEER_FRAME_SOURCE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "api/scoped_refptr.h"
#include "api/video/i420_buffer.h"

namespace weir::peer {

// The largest width and height.
inline constexpr int kMaxFrameSize = 4096;
inline constexpr double kMaxFramesPerSecond = 120;

struct FrameFormat {
  int width = 0;
  int height = 0;
  double frames_per_second = 0;
};

class FrameSource {
 public:
  virtual ~FrameSource() = default;
  virtual const FrameFormat& format() const = 0;
  // Returns picture number `index` since the start; null if it cannot be read.
  virtual webrtc::scoped_refptr<webrtc::I420Buffer> Frame(int64_t index) = 0;
};

// Opens a YUV4MPEG2 file with 4:2:0 sampling and 8 bits, which repeats when it ends. Throws ProgramError.
std::unique_ptr<FrameSource> OpenY4mFile(const std::string& path);

// Makes moving detail that uses the whole bitrate of an encoder, numbered 0 to 299 in a loop. The format must be valid:
// even sizes in [2, kMaxFrameSize]. Frames are numbered if DrawFrameNumber() accepts their size.
std::unique_ptr<FrameSource> MakePattern(const FrameFormat& format);

}  // namespace weir::peer

#endif  // WEIR_CALLS_PEER_FRAME_SOURCE_H_
