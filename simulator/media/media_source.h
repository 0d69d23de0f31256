// The media that an RTP sender sends. FillerSource follows the target exactly; VideoSource (video_source.h) is
// synthetic video with audio.
#ifndef WEIR_SIMULATOR_MEDIA_MEDIA_SOURCE_H_
#define WEIR_SIMULATOR_MEDIA_MEDIA_SOURCE_H_

#include <cstdint>

#include "link/packet.h"
#include "weir/arrival.h"
#include "weir/units.h"

namespace weir::sim {

inline constexpr uint32_t kMaxPayloadBytes = 1200;

// One packet's worth of media, before RTP.
struct MediaPacket {
  PacketKind kind = PacketKind::kVideo;
  uint32_t payload_bytes = 0;
  // When it was captured, by a clock without error.
  int64_t capture_time_ns = 0;
  FramePart frame_part{};
  FecPart fec{};
  // For a retransmission: the packet that is sent again. For FEC: the first packet of its group.
  int64_t repaired_sequence_number = 0;
};

// Media appears at times of the source's own; the sender takes packets in that order.
class MediaSource {
 public:
  virtual ~MediaSource() = default;

  // All that may be spent on this source from now on, headers included.
  virtual void SetTargetRate(DataRate target_rate, int64_t now_ns) = 0;
  // A source that is not active (the initial state, and a pause) has nothing to send and forgets what it owed.
  virtual void SetActive(bool active, int64_t now_ns) = 0;
  // One frame of so many, as the camera captures them, is not encoded; 0: all are.
  virtual void SetFrameDropInterval(int64_t /*frames*/) {}
  // While held back, no frame is encoded; the next one is captured after that.
  virtual void HoldFrames(bool /*hold*/, int64_t /*now_ns*/) {}
  // The receiver can decode nothing before the next key frame.
  virtual void RequestKeyFrame(int64_t /*now_ns*/) {}

  // When the next packet is there; kNeverNs when none will be unless the target or the activity changes.
  virtual int64_t next_packet_ns() const = 0;
  // Must not be called before next_packet_ns().
  virtual MediaPacket TakePacket(int64_t now_ns) = 0;

  // An elastic source makes no packet while earlier ones wait in the pacer.
  virtual bool elastic() const = 0;
};

class FillerSource final : public MediaSource {
 public:
  // `overhead_bytes`: what the target pays for in each packet beside its payload. `max_rate`: never more than this,
  // headers included.
  FillerSource(uint32_t overhead_bytes, DataRate max_rate);

  void SetTargetRate(DataRate target_rate, int64_t now_ns) override;
  void SetActive(bool active, int64_t now_ns) override;
  int64_t next_packet_ns() const override { return next_packet_ns_; }
  MediaPacket TakePacket(int64_t now_ns) override;
  bool elastic() const override { return true; }

 private:
  const int64_t overhead_bytes_;
  const int64_t max_rate_bps_;
  int64_t rate_bps_ = 0;
  // At that rate: of each packet, and from one to the next. The latter only while the rate is not 0.
  int64_t payload_bytes_ = 0;
  int64_t interval_ns_ = 0;
  bool active_ = false;
  int64_t next_packet_ns_;
  // The frame that is being handed out, and when its thirtieth of a second ends.
  int64_t frame_capture_time_ns_ = 0;
  int64_t frame_end_ns_ = 0;
  // Bits still to be earned for the next packet; kept while the rate is 0.
  int64_t missing_bits_;
};

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_MEDIA_MEDIA_SOURCE_H_
