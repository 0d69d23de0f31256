// The receiver's half of the repair of lossy video: asks for what is missing, and for a key frame where that does not
// help.
#ifndef WEIR_TRAINER_GYM_SIM_REPAIR_VIDEO_REPAIR_H_
#define WEIR_TRAINER_GYM_SIM_REPAIR_VIDEO_REPAIR_H_

#include <cstdint>
#include <vector>

#include "core/ring_buffer.h"
#include "core/sim_time.h"
#include "link/packet.h"
#include "repair/frame_assembly.h"
#include "repair/nack_requester.h"

namespace weir::sim {

// As libwebrtc's receiver does it: a key frame is asked for when the list of missing packets overflows, and when
// packets come but none that can be decoded has for 3 s (200 ms before the first frame).
class VideoRepair {
 public:
  struct Requests {
    std::vector<int64_t> nack;
    bool pli = false;
  };

  explicit VideoRepair(int64_t start_ns) : waiting_since_ns_(start_ns) {}

  // A packet will arrive then; called in the order of sending, before OnPacket. True when next_timeout_ns() may have
  // changed by it.
  bool OnAnnounced(const Packet& packet, int64_t arrival_time_ns) {
    if (packet.rtp.kind != PacketKind::kVideo) return false;
    const bool gap = packet.media_sequence_number != next_announced_ || arrival_time_ns < last_announced_arrival_ns_;
    next_announced_ = packet.media_sequence_number + 1;
    last_announced_arrival_ns_ = arrival_time_ns;
    if (gap) AddGap(arrival_time_ns);
    return gap;
  }
  // A packet of any kind, in the order of arrival.
  void OnPacket(const Packet& packet, int64_t arrival_time_ns);
  void SetRoundTripTime(int64_t round_trip_time_ns) { nack_requester_.SetRoundTripTime(round_trip_time_ns); }

  // When something may have to be asked for.
  int64_t next_timeout_ns() const;
  // After OnPacket for all that has arrived by now.
  Requests TakeRequests(int64_t now_ns);

 private:
  void AddGap(int64_t arrival_time_ns);
  int64_t KeyFrameDeadlineNs() const;

  NackRequester nack_requester_;
  FrameAssembly assembly_;
  // Arrivals to come that will show a gap, or close one that another order of arrival made; ascending.
  RingBuffer<int64_t> gaps_ns_;
  int64_t next_announced_ = 0;
  int64_t last_announced_arrival_ns_ = 0;
  bool decoded_any_ = false;
  bool overflow_ = false;
  // Since the last frame that could be decoded, or the last time that this was looked at.
  int64_t waiting_since_ns_;
  int64_t last_packet_ns_ = kNeverNs;
  int64_t last_key_frame_packet_ns_ = kNeverNs;
};

}  // namespace weir::sim

#endif  // WEIR_TRAINER_GYM_SIM_REPAIR_VIDEO_REPAIR_H_
