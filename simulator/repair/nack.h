// Repair by retransmission: NackRequester requests lost packets at the receiver, RtpPacketHistory keeps them at the
// sender.
#ifndef WEIR_SIMULATOR_REPAIR_NACK_H_
#define WEIR_SIMULATOR_REPAIR_NACK_H_

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/event.h"
#include "core/ring_buffer.h"
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
  void SetRoundTripTime(int64_t round_trip_time_ns) { round_trip_time_ns_ = round_trip_time_ns; }

  bool any_missing() const { return !missing_.empty(); }
  // When to repeat requests; kNeverNs if nothing is missing.
  int64_t next_timeout_ns() const;
  // The packets to request now, in order.
  std::vector<int64_t> TakeRequests(int64_t now_ns);

 private:
  struct Missing {
    // kNeverNs before the first request.
    int64_t requested_ns = kNeverNs;
    int requests = 0;
  };

  // Processes a packet that does not follow the newest.
  bool OnOtherPacket(int64_t sequence_number);

  // By sequence number.
  std::map<int64_t, Missing> missing_;
  // -1 before the first packet.
  int64_t newest_ = -1;
  int64_t round_trip_time_ns_ = 100'000'000;
};

class RtpPacketHistory {
 public:
  // A packet of the video stream, or a retransmission of one; originals have no gaps and start with sequence number 0.
  void OnSent(const Packet& packet, int64_t now_ns);
  void SetRoundTripTime(int64_t round_trip_time_ns);

  // Returns the packet to retransmit and marks it as waiting for the pacer. Returns nullopt if it is no longer stored,
  // already waits, or was retransmitted within a round trip.
  std::optional<MediaPacket> TakeForRetransmission(int64_t sequence_number, int64_t now_ns);

 private:
  struct Stored {
    int64_t capture_time_ns = 0;
    int64_t sent_ns = 0;
    uint32_t payload_bytes = 0;
    FramePart frame_part;
    bool sent_again = false;
    bool waits = false;
  };

  Stored* Find(int64_t sequence_number);
  void Cull(int64_t now_ns);

  // From `first_sequence_number_` on.
  RingBuffer<Stored> stored_;
  int64_t first_sequence_number_ = 0;
  int64_t round_trip_time_ns_ = 0;
};

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_REPAIR_NACK_H_
