// Repairs a video stream at the receiver. Every frame needs all frames since the last key frame to be decoded.
#ifndef WEIR_SIMULATOR_REPAIR_VIDEO_REPAIR_H_
#define WEIR_SIMULATOR_REPAIR_VIDEO_REPAIR_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <vector>

#include "core/ring_buffer.h"
#include "core/sim_time.h"
#include "link/packet.h"
#include "repair/fec.h"
#include "repair/nack.h"

namespace weir::sim {

class FrameAssembly {
 public:
  // Call for each original or retransmission, with its unwrapped sequence number. True if it makes a frame decodable.
  bool OnPacket(int64_t sequence_number, FramePart part) {
    if (sequence_number != next_ || !slots_.empty()) return OnOtherPacket(sequence_number, part);
    ++next_;
    return Take(part);
  }

  // Packets before this one are no longer needed.
  int64_t first_needed() const { return next_; }

 private:
  struct Slot {
    bool received = false;
    FramePart part;
  };

  // Takes packets up to the first gap. True if they contain the end of a decodable frame.
  bool TakeContiguous();
  bool Take(FramePart part) {
    if (part.key_frame && part.first) needs_key_frame_ = false;
    return part.last && !needs_key_frame_;
  }
  // Processes a packet next to a gap.
  bool OnOtherPacket(int64_t sequence_number, FramePart part);
  // Continues with the key frame that contains that slot, if it is complete.
  bool SkipToKeyFrame(size_t index);

  // From `next_` on.
  RingBuffer<Slot> slots_;
  int64_t next_ = 0;
  bool needs_key_frame_ = true;
};

// Follows libwebrtc's receiver: it requests a key frame when the list of missing packets overflows, and when packets
// arrive but no frame could be decoded for 3 s (200 ms before the first frame).
class VideoRepair {
 public:
  struct Requests {
    std::vector<int64_t> nack;
    bool pli = false;
  };

  explicit VideoRepair(SimTime start) : waiting_since_(start) {}

  // Announces a packet that will arrive at `arrival_time`. Call in the order of sending, before OnPacket. True if
  // next_timeout() may have changed.
  bool OnAnnounced(const Packet& packet, SimTime arrival_time) {
    if (!packet.is_original_video()) return false;
    const bool gap = packet.media_sequence_number != next_announced_ || arrival_time < last_announced_arrival_;
    next_announced_ = packet.media_sequence_number + 1;
    last_announced_arrival_ = arrival_time;
    if (gap) gaps_.push(arrival_time);
    return gap;
  }
  // The path has lost a packet of any kind, which FEC may recover.
  void OnLost(const Packet& packet) {
    if (packet.is_original_video()) fec_.OnLost(packet);
  }
  // Call for packets of any kind except FEC, in the order of arrival.
  void OnPacket(const Packet& packet, SimTime arrival_time);
  // Call for FEC packets. Returns the packet that it recovers, if any.
  std::optional<Packet> OnFec(const Packet& packet, SimTime arrival_time);
  void SetRoundTripTime(SimDuration round_trip_time) { nack_requester_.SetRoundTripTime(round_trip_time); }

  // When a request may be due.
  SimTime next_timeout() const;
  // Call after OnPacket for all packets that have arrived by `now`.
  Requests TakeRequests(SimTime now);

 private:
  SimTime KeyFrameDeadline() const;

  NackRequester nack_requester_;
  FecReceiver fec_;
  FrameAssembly assembly_;
  // Future arrivals that reveal a gap, or close one made by reordering. The next one is on top.
  std::priority_queue<SimTime, std::vector<SimTime>, std::greater<>> gaps_;
  int64_t next_announced_ = 0;
  SimTime last_announced_arrival_ = kTimeZero;
  bool decoded_any_ = false;
  bool overflow_ = false;
  // Time of the last decodable frame, or of the last expired deadline.
  SimTime waiting_since_;
  SimTime last_packet_ = kNever;
  SimTime last_key_frame_packet_ = kNever;
};

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_REPAIR_VIDEO_REPAIR_H_
