// Repairs a video stream at the receiver. Every frame needs all frames since the last key frame to be decoded.
#ifndef WEIR_SIMULATOR_REPAIR_VIDEO_REPAIR_H_
#define WEIR_SIMULATOR_REPAIR_VIDEO_REPAIR_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <vector>

#include "core/event.h"
#include "core/ring_buffer.h"
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

  explicit VideoRepair(int64_t start_ns) : waiting_since_ns_(start_ns) {}

  // Announces a packet that will arrive at `arrival_time_ns`. Call in the order of sending, before OnPacket. True if
  // next_timeout_ns() may have changed.
  bool OnAnnounced(const Packet& packet, int64_t arrival_time_ns) {
    if (!packet.is_original_video()) return false;
    const bool gap = packet.media_sequence_number != next_announced_ || arrival_time_ns < last_announced_arrival_ns_;
    next_announced_ = packet.media_sequence_number + 1;
    last_announced_arrival_ns_ = arrival_time_ns;
    if (gap) gaps_ns_.push(arrival_time_ns);
    return gap;
  }
  // The path has lost a packet of any kind, which FEC may recover.
  void OnLost(const Packet& packet) {
    if (packet.is_original_video()) fec_.OnLost(packet);
  }
  // Call for packets of any kind except FEC, in the order of arrival.
  void OnPacket(const Packet& packet, int64_t arrival_time_ns);
  // Call for FEC packets. Returns the packet that it recovers, if any.
  std::optional<Packet> OnFec(const Packet& packet, int64_t arrival_time_ns);
  void SetRoundTripTime(int64_t round_trip_time_ns) { nack_requester_.SetRoundTripTime(round_trip_time_ns); }

  // When a request may be due.
  int64_t next_timeout_ns() const;
  // Call after OnPacket for all packets that have arrived by `now_ns`.
  Requests TakeRequests(int64_t now_ns);

 private:
  int64_t KeyFrameDeadlineNs() const;

  NackRequester nack_requester_;
  FecReceiver fec_;
  FrameAssembly assembly_;
  // Future arrivals that reveal a gap, or close one made by reordering. The next one is on top.
  std::priority_queue<int64_t, std::vector<int64_t>, std::greater<>> gaps_ns_;
  int64_t next_announced_ = 0;
  int64_t last_announced_arrival_ns_ = 0;
  bool decoded_any_ = false;
  bool overflow_ = false;
  // Time of the last decodable frame, or of the last expired deadline.
  int64_t waiting_since_ns_;
  int64_t last_packet_ns_ = kNeverNs;
  int64_t last_key_frame_packet_ns_ = kNeverNs;
};

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_REPAIR_VIDEO_REPAIR_H_
