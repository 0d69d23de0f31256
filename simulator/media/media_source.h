// The media that an RTP sender sends. FillerSource follows the target exactly; VideoSource (video_source.h) is
// synthetic video with audio.
#ifndef WEIR_SIMULATOR_MEDIA_MEDIA_SOURCE_H_
#define WEIR_SIMULATOR_MEDIA_MEDIA_SOURCE_H_

#include <cstdint>

#include "core/sim_time.h"
#include "link/packet.h"
#include "weir/arrival.h"
#include "weir/sender_controller.h"
#include "weir/units.h"

namespace weir::sim {

inline constexpr uint32_t kMaxPayloadBytes = 1200;

// A packet before RTP: media, or the pacer's padding, which has kind kProbe. Padding's bytes are payload (as RTX
// padding, which repeats old packets) or, for the smallest probes and while congested, RTP padding.
struct MediaPacket {
  PacketKind kind = PacketKind::kVideo;
  uint32_t payload_bytes = 0;
  uint32_t padding_bytes = 0;
  // When it was captured, by an exact clock.
  SimTime capture_time = kTimeZero;
  FramePart frame_part{};
  FecPart fec{};
  // For a retransmission: the original packet. For FEC: the first packet of its group.
  int64_t repaired_sequence_number = 0;
  // Set by the pacer.
  PacedPacketInfo pacing_info{};
};

// Produces packets at its own times. The sender takes them in that order.
class MediaSource {
 public:
  virtual ~MediaSource() = default;

  // Sets the source's rate from now on, headers included.
  virtual void SetTargetRate(DataRate target_rate, SimTime now) = 0;
  // An inactive source (initially, and in a pause) has nothing to send and discards what it had not sent.
  virtual void SetActive(bool active, SimTime now) = 0;
  // One of `frames` captured frames is not encoded; 0 encodes all.
  virtual void SetFrameDropInterval(int64_t /*frames*/) {}
  // While held, no frame is encoded. The next frame is captured after the hold.
  virtual void HoldFrames(bool /*hold*/, SimTime /*now*/) {}
  // Called when the receiver can decode nothing before the next key frame.
  virtual void RequestKeyFrame(SimTime /*now*/) {}

  // When the next packet is available; kNever if there is none until the target or the activity changes.
  virtual SimTime next_packet_time() const = 0;
  // Must not be called before next_packet_time().
  virtual MediaPacket TakePacket(SimTime now) = 0;

  // An elastic source makes no packet while earlier ones wait in the pacer.
  virtual bool elastic() const = 0;
};

class FillerSource final : public MediaSource {
 public:
  // `overhead_bytes`: bytes per packet, besides payload, that the target counts. `max_rate`: the highest rate, with
  // headers.
  FillerSource(uint32_t overhead_bytes, DataRate max_rate);

  void SetTargetRate(DataRate target_rate, SimTime now) override;
  void SetActive(bool active, SimTime now) override;
  SimTime next_packet_time() const override { return next_packet_time_; }
  MediaPacket TakePacket(SimTime now) override;
  bool elastic() const override { return true; }

 private:
  const int64_t overhead_bytes_;
  const int64_t max_rate_bps_;
  int64_t rate_bps_ = 0;
  // Payload and interval of packets at that rate. The interval is unset while the rate is 0.
  int64_t payload_bytes_ = 0;
  SimDuration interval_ = SimDuration::Zero();
  bool active_ = false;
  SimTime next_packet_time_;
  // The current frame, and when its thirtieth of a second ends.
  SimTime frame_capture_time_ = kTimeZero;
  SimTime frame_end_ = kTimeZero;
  // Bits that the next packet still lacks; kept while the rate is 0.
  int64_t missing_bits_;
};

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_MEDIA_MEDIA_SOURCE_H_
