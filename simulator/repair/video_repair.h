// How far a receiver can decode a video stream: every frame needs all frames since the last key frame.
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
  // A packet of the stream, original or retransmitted, by its unwrapped sequence number. True when with it a frame can
  // be decoded that could not before.
  bool OnPacket(int64_t sequence_number, FramePart part) {
    if (sequence_number != next_ || !slots_.empty()) return OnOtherPacket(sequence_number, part);
    ++next_;
    return Take(part);
  }

  // Packets before this one are not needed any more.
  int64_t first_needed() const { return next_; }

 private:
  struct Slot {
    bool received = false;
    FramePart part;
  };

  // Takes what has come without a gap; true when the end of a decodable frame was in it.
  bool TakeContiguous();
  bool Take(FramePart part) {
    if (part.key_frame && part.first) needs_key_frame_ = false;
    return part.last && !needs_key_frame_;
  }
  // One beside a gap.
  bool OnOtherPacket(int64_t sequence_number, FramePart part);
  // Goes on with the key frame that holds that slot, if it is complete.
  bool SkipToKeyFrame(size_t index);

  // From `next_` on.
  RingBuffer<Slot> slots_;
  int64_t next_ = 0;
  bool needs_key_frame_ = true;
};

// As libwebrtc's receiver does it: a key frame is requested when the list of missing packets overflows, and when
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
    if (!packet.is_original_video()) return false;
    const bool gap = packet.media_sequence_number != next_announced_ || arrival_time_ns < last_announced_arrival_ns_;
    next_announced_ = packet.media_sequence_number + 1;
    last_announced_arrival_ns_ = arrival_time_ns;
    if (gap) gaps_ns_.push(arrival_time_ns);
    return gap;
  }
  // The path lost a packet of any kind, which FEC may bring back.
  void OnLost(const Packet& packet) {
    if (packet.is_original_video()) fec_.OnLost(packet);
  }
  // A packet of any kind but FEC, in the order of arrival.
  void OnPacket(const Packet& packet, int64_t arrival_time_ns);
  // One of FEC. Returns the packet that it brings back, if any.
  std::optional<Packet> OnFec(const Packet& packet, int64_t arrival_time_ns);
  void SetRoundTripTime(int64_t round_trip_time_ns) { nack_requester_.SetRoundTripTime(round_trip_time_ns); }

  // When a request may be due.
  int64_t next_timeout_ns() const;
  // After OnPacket for all that has arrived by now.
  Requests TakeRequests(int64_t now_ns);

 private:
  int64_t KeyFrameDeadlineNs() const;

  NackRequester nack_requester_;
  FecReceiver fec_;
  FrameAssembly assembly_;
  // Arrivals to come that will show a gap, or close one that another order of arrival made; the next one is on top.
  std::priority_queue<int64_t, std::vector<int64_t>, std::greater<>> gaps_ns_;
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

#endif  // WEIR_SIMULATOR_REPAIR_VIDEO_REPAIR_H_
