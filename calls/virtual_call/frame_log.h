// The frames of a virtual call: captured, encoded, sent, rendered.
#ifndef WEIR_CALLS_VIRTUAL_CALL_FRAME_LOG_H_
#define WEIR_CALLS_VIRTUAL_CALL_FRAME_LOG_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_map>
#include <vector>

#include "api/rtp_packet_infos.h"
#include "api/video/encoded_image.h"
#include "api/video/video_frame.h"
#include "api/video/video_sink_interface.h"
#include "core/sim_time.h"
#include "virtual_call/viewing.h"
#include "virtual_call/virtual_clock.h"

namespace weir::sim {

// Identifies frames by RTP timestamp. The encoder's timestamps differ from those of packets by a random offset (RFC
// 3550 section 5.1), which the first packet reveals.
class FrameLog final : public webrtc::VideoSinkInterface<webrtc::VideoFrame> {
 public:
  // `viewing` receives the rendered frames; may be null.
  FrameLog(const VirtualClock* clock, Viewing* viewing) : clock_(clock), viewing_(viewing) {}

  // Call for frames that enter the encoder, and for frames that leave it.
  void OnCaptured(const webrtc::VideoFrame& frame);
  void OnEncoded(const webrtc::EncodedImage& image);
  // Call for packets of the video stream except retransmissions, and for retransmissions that arrive.
  void OnPacketSent(uint32_t rtp_timestamp);
  void OnRetransmission(uint32_t rtp_timestamp);
  // A decoded frame, with its render time.
  void OnFrame(const webrtc::VideoFrame& frame) override;

  // Columns as in weir.result/1 of the frames that were sent, in the scenario's time. Completion and rendering after
  // `end` are null. "complete_time_us" is that of decoding; "arrived_time_us" that of the last packet with which the
  // frame was complete; "qp" is the encoder's quantizer, -1 if unknown.
  nlohmann::ordered_json Columns(SimTime end) const;

 private:
  struct Frame {
    SimTime capture_time = kTimeZero;
    SimTime encoded_time = kTimeZero;
    SimTime sent_time = kTimeZero;
    SimTime arrived_time = kNever;
    SimTime decoded_time = kNever;
    SimTime rendered_time = kNever;
    int64_t bytes = 0;
    int qp = -1;
    int height = 0;
    bool key_frame = false;
    bool is_sent = false;
    bool is_retransmitted = false;
  };

  Frame* Find(uint32_t packet_timestamp);
  size_t IndexOf(const Frame& frame) const { return static_cast<size_t>(&frame - frames_.data()); }
  // When the last of a frame's packets arrived; when it was decoded if they are unknown.
  SimTime ArrivedTime(const webrtc::RtpPacketInfos& packets, SimTime decoded_time) const;
  // The time for which libwebrtc's receiver held each frame for audio, by the simulator's model of the receiver.
  std::vector<SimDuration> LipSync() const;
  // The encoder's output in the second up to the frame.
  double BitrateBps(const Frame& frame) const;

  const VirtualClock* const clock_;
  Viewing* const viewing_;
  std::vector<Frame> frames_;
  // By the encoder's timestamp.
  std::unordered_map<uint32_t, SimTime> capture_times_;
  std::unordered_map<uint32_t, size_t> index_;
  std::optional<uint32_t> timestamp_offset_;
  SimTime last_rendered_ = kTimeZero;
};

}  // namespace weir::sim

#endif  // WEIR_CALLS_VIRTUAL_CALL_FRAME_LOG_H_
