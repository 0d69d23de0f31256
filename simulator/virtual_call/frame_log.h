// The frames of a virtual call: captured, encoded, sent, rendered.
#ifndef WEIR_SIMULATOR_VIRTUAL_CALL_FRAME_LOG_H_
#define WEIR_SIMULATOR_VIRTUAL_CALL_FRAME_LOG_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_map>
#include <vector>

#include "api/video/encoded_image.h"
#include "api/video/video_frame.h"
#include "api/video/video_sink_interface.h"
#include "core/event.h"
#include "virtual_call/viewing.h"
#include "virtual_call/virtual_clock.h"

namespace weir::sim {

// A frame is known by its RTP timestamp. The encoder's differs from that of packets by a random offset (RFC 3550
// section 5.1), which the first packet shows.
class FrameLog final : public webrtc::VideoSinkInterface<webrtc::VideoFrame> {
 public:
  // `viewing` receives the rendered frames; may be null.
  FrameLog(const VirtualClock* clock, Viewing* viewing) : clock_(clock), viewing_(viewing) {}

  // Frames on their way into the encoder and out of it.
  void OnCaptured(const webrtc::VideoFrame& frame);
  void OnEncoded(const webrtc::EncodedImage& image);
  // A packet of the video stream, not a retransmission.
  void OnPacketSent(uint32_t rtp_timestamp);
  // A decoded frame, with its render time.
  void OnFrame(const webrtc::VideoFrame& frame) override;

  // Columns as in weir.result/1, of the frames that were sent; times of the scenario. What comes after `end_ns` has not
  // come. "rendered_time_us" has what the jitter buffer adds; "qp" is the encoder's quantizer, -1 if unknown.
  nlohmann::ordered_json Columns(int64_t end_ns) const;

 private:
  struct Frame {
    int64_t capture_ns = 0;
    int64_t sent_ns = 0;
    int64_t decoded_ns = kNeverNs;
    int64_t rendered_ns = kNeverNs;
    int64_t bytes = 0;
    int qp = -1;
    int height = 0;
    bool key_frame = false;
    bool sent = false;
  };

  Frame* Find(uint32_t packet_timestamp);
  // Encoder's output in the second up to the frame.
  double BitrateBps(const Frame& frame) const;

  const VirtualClock* const clock_;
  Viewing* const viewing_;
  std::vector<Frame> frames_;
  // By the encoder's timestamp.
  std::unordered_map<uint32_t, int64_t> capture_times_ns_;
  std::unordered_map<uint32_t, size_t> index_;
  std::optional<uint32_t> timestamp_offset_;
  int64_t last_rendered_ns_ = 0;
};

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_VIRTUAL_CALL_FRAME_LOG_H_
