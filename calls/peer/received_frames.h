// Writes received pictures to FILE.y4m, scaled to one size, and an index to FILE.y4m.jsonl, one line per picture.
#ifndef WEIR_CALLS_PEER_RECEIVED_FRAMES_H_
#define WEIR_CALLS_PEER_RECEIVED_FRAMES_H_

#include <atomic>
#include <cstdint>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "api/video/video_frame.h"
#include "api/video/video_sink_interface.h"
#include "rtc_base/thread.h"

namespace weir::peer {

// Each line of the index has frame_number (null when the picture carries none), capture_time_us (null while unknown),
// arrival_time_us (of the last packet that completed the picture; null if unknown), render_time_us, rtp_timestamp,
// width and height as received, and "written": false for a picture that is missing in the .y4m file because the disk
// was too slow or full. Times are CLOCK_MONOTONIC.
class ReceivedFrames final : public webrtc::VideoSinkInterface<webrtc::VideoFrame> {
 public:
  // Maximum number of pictures that wait for the disk, unless `at_once`. Further pictures are not written: the decoder
  // is never blocked.
  static constexpr size_t kMaxWaitingPictures = 45;
  // Maximum number of waiting lines; further pictures leave no record.
  static constexpr size_t kMaxWaitingLines = 10'000;

  // Returns the capture time of a picture on this machine's CLOCK_MONOTONIC.
  using CaptureTime = std::function<std::optional<int64_t>(uint32_t ssrc, uint32_t rtp_timestamp)>;

  // `at_once`: OnFrame() returns after writing the frame. `on_error` is called once when a file can no longer be
  // written, from another thread unless `at_once`. Throws ProgramError.
  static std::unique_ptr<ReceivedFrames> Open(const std::string& path, int width, int height, bool at_once,
                                              CaptureTime capture_time, std::function<void(std::string)> on_error);
  // Writes waiting pictures.
  ~ReceivedFrames() override = default;
  ReceivedFrames(const ReceivedFrames&) = delete;
  ReceivedFrames& operator=(const ReceivedFrames&) = delete;

  void OnFrame(const webrtc::VideoFrame& frame) override;

 private:
  struct Entry {
    // Null for a picture that is not written.
    webrtc::scoped_refptr<webrtc::VideoFrameBuffer> picture;
    std::optional<uint16_t> frame_number;
    std::optional<int64_t> capture_time_us;
    std::optional<int64_t> arrival_time_us;
    int64_t render_time_us = 0;
    uint32_t rtp_timestamp = 0;
    int width = 0;
    int height = 0;
  };

  ReceivedFrames(int width, int height, bool at_once, CaptureTime capture_time,
                 std::function<void(std::string)> on_error)
      : width_(width),
        height_(height),
        capture_time_(std::move(capture_time)),
        on_error_(std::move(on_error)),
        thread_(at_once ? nullptr : webrtc::Thread::Create()) {}

  void Write(const Entry& entry);
  bool WritePicture(webrtc::VideoFrameBuffer& picture);

  const int width_;
  const int height_;
  const CaptureTime capture_time_;
  const std::function<void(std::string)> on_error_;
  std::ofstream video_;
  std::ofstream index_;
  bool failed_ = false;
  // Pictures come from one thread at a time.
  int64_t last_render_time_us_ = 0;

  std::atomic<size_t> waiting_lines_ = 0;
  std::atomic<size_t> waiting_pictures_ = 0;
  // Null if frames are written at once. Executes all posted tasks before it ends. Last: its tasks use the rest.
  const std::unique_ptr<webrtc::Thread> thread_;
};

}  // namespace weir::peer

#endif  // WEIR_CALLS_PEER_RECEIVED_FRAMES_H_
