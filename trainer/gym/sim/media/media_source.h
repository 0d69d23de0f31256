// What an RTP sender has to send: filler that follows the target exactly, or synthetic video with audio beside it.
#ifndef WEIR_TRAINER_GYM_SIM_MEDIA_MEDIA_SOURCE_H_
#define WEIR_TRAINER_GYM_SIM_MEDIA_MEDIA_SOURCE_H_

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
  // Of a retransmission: what is sent again.
  int64_t retransmitted_sequence_number = 0;
};

// Media appears at times of the source's own; the sender takes packets in that order.
class MediaSource {
 public:
  virtual ~MediaSource() = default;

  // All that may be spent on this source from now on, headers included.
  virtual void SetTargetRate(DataRate target_rate, int64_t now_ns) = 0;
  // A source that is not active (the initial state, and a pause) has nothing to send and forgets what it owed.
  virtual void SetActive(bool active, int64_t now_ns) = 0;
  // The receiver can decode nothing before the next key frame.
  virtual void RequestKeyFrame(int64_t /*now_ns*/) {}

  // When the next packet is there; kNeverNs when none will be unless the target or the activity changes.
  virtual int64_t next_packet_ns() const = 0;
  // Must not be called before next_packet_ns().
  virtual MediaPacket TakePacket(int64_t now_ns) = 0;

  // An elastic source makes no packet while earlier ones wait in the pacer.
  virtual bool elastic() const = 0;
};

}  // namespace weir::sim

#endif  // WEIR_TRAINER_GYM_SIM_MEDIA_MEDIA_SOURCE_H_
