// Repair by retransmission: NackRequester requests lost packets at the receiver, RtpPacketHistory keeps them at the
// sender.
#ifndef WEIR_SIMULATOR_REPAIR_NACK_H_
#define WEIR_SIMULATOR_REPAIR_NACK_H_

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/ring_buffer.h"
#include "core/sim_time.h"
#include "link/packet.h"
#include "media/media_source.h"

namespace weir::sim {

class NackRequester {
 public:
  // Call for each original packet, with its sequence number unwrapped. False if so many are missing that the list was
  // cleared; then only a key frame helps.
  bool OnPacket(int64_t sequence_number) {
    if (sequence_number != newest_ + 1 || newest_ < 0) return OnOtherPacket(sequence_number);
    newest_ = sequence_number;
    return true;
  }
  // A retransmission has arrived.
  void OnRetransmission(int64_t sequence_number) { missing_.erase(sequence_number); }
  // Removes packets before `sequence_number`, which are no longer needed.
  void ClearUpTo(int64_t sequence_number) { missing_.erase(missing_.begin(), missing_.lower_bound(sequence_number)); }
  void SetRoundTripTime(SimDuration round_trip_time) { round_trip_time_ = round_trip_time; }

  bool any_missing() const { return !missing_.empty(); }
  // When to repeat requests; kNever if nothing is missing.
  SimTime next_timeout() const;
  // The packets to request now, in order.
  std::vector<int64_t> TakeRequests(SimTime now);

 private:
  struct Missing {
    // kNever before the first request.
    SimTime request_time = kNever;
    int requests = 0;
  };

  // Processes a packet that does not follow the newest.
  bool OnOtherPacket(int64_t sequence_number);

  // By sequence number.
  std::map<int64_t, Missing> missing_;
  // -1 before the first packet.
  int64_t newest_ = -1;
  SimDuration round_trip_time_ = SimDuration::Millis(100);
};

class RtpPacketHistory {
 public:
  // A packet of the video stream, or a retransmission of one; originals have no gaps and start with sequence number 0.
  void OnSent(const Packet& packet, SimTime now);
  void SetRoundTripTime(SimDuration round_trip_time);

  // Returns the packet to retransmit and marks it as waiting for the pacer. Returns nullopt if it is no longer stored,
  // already waits, or was retransmitted within a round trip.
  std::optional<MediaPacket> TakeForRetransmission(int64_t sequence_number, SimTime now);

 private:
  struct Stored {
    SimTime capture_time = kTimeZero;
    SimTime sent_time = kTimeZero;
    uint32_t payload_bytes = 0;
    FramePart frame_part;
    bool sent_again = false;
    bool waits = false;
  };

  Stored* Find(int64_t sequence_number);
  void Cull(SimTime now);

  // From `first_sequence_number_` on.
  RingBuffer<Stored> stored_;
  int64_t first_sequence_number_ = 0;
  SimDuration round_trip_time_ = SimDuration::Zero();
};

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_REPAIR_NACK_H_
