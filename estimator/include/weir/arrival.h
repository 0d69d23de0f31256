// RTP packets at the receiver: as the host reports them, and as controllers receive them.
#ifndef WEIR_ARRIVAL_H_
#define WEIR_ARRIVAL_H_

#include <cstdint>

#include "weir/units.h"

namespace weir {

// Size to which media senders fill a packet, header included.
inline constexpr DataSize kFullPacket = DataSize::Bytes(1200);

// Purpose of a packet, from the negotiated payload type; kProbe includes padding.
enum class PacketKind : uint8_t { kVideo, kAudio, kProbe, kRetransmission };

// ECN field of the IP header, RFC 3168 section 5.
enum class EcnMarking : uint8_t {
  kNotEct = 0,
  kEct1 = 1,  // L4S-capable sender (RFC 9331)
  kEct0 = 2,
  kCe = 3,  // marked by a queue: congestion experienced
};

// An RTP packet as received. All fields except the arrival time are untrusted. The host reports every packet of a
// stream, including padding that it drops, because a gap in sequence numbers counts as loss.
struct PacketArrival {
  Timestamp arrival_time = Timestamp::MinusInfinity();  // the receiver's monotonic clock
  uint32_t ssrc = 0;
  uint16_t sequence_number = 0;
  uint8_t payload_type = 0;
  PacketKind kind = PacketKind::kVideo;
  EcnMarking ecn = EcnMarking::kNotEct;  // if the host can read it
  // Header extension abs-send-time: 24 bits, 6.18 fixed-point seconds, wraps every 64 s.
  bool has_abs_send_time = false;
  uint32_t abs_send_time = 0;
  // Always set. They replace abs-send-time while no stream has carried it for 10 s, and where its clock stands still or
  // runs at a wrong pace. The clock rate is in Hz, 1000 to 1,000,000, or 0 if unknown.
  uint32_t rtp_timestamp = 0;
  uint32_t rtp_clock_rate = 0;
  // In bytes. `header_size` includes UDP, IP and SRTP if the sender counts them in its rate: a libwebrtc sender does
  // with transport-cc, and does not with REMB alone.
  uint32_t header_size = 0;
  uint32_t payload_size = 0;
  uint32_t padding_size = 0;

  DataSize size() const {
    return DataSize::Bytes(int64_t{header_size} + int64_t{payload_size} + int64_t{padding_size});
  }
};

// A packet whose arrival the remote end has reported. Both times are on the sender's clock.
struct ReportedArrival {
  Timestamp arrival_time = Timestamp::MinusInfinity();
  Timestamp send_time = Timestamp::MinusInfinity();
  // False if the arrival time is a guess.
  bool has_delay = true;
  // Number of the packet among those whose fate is known, in the order of departure. A gap is a loss. Wraps.
  uint32_t number = 0;
  PacketKind kind = PacketKind::kVideo;
  EcnMarking ecn = EcnMarking::kNotEct;
  DataSize size = DataSize::Zero();
};

// A packet after unwrapping and removal of duplicates: the input of a ReceiverController.
struct Arrival {
  // The packet as reported, except that its arrival time never runs backwards, unless the clock was set back by more
  // than 3 s.
  PacketArrival packet;
  // Departure on the sender's clock, if the sender receives the arrival as a report; else MinusInfinity.
  Timestamp send_time = Timestamp::MinusInfinity();
  // Unwrapped, per SSRC. Starts again when the sender restarts.
  int64_t sequence_number = 0;
  // Change of the number of packets that are considered lost: n for a gap of n packets, -1 for a late packet that was
  // counted as lost, else 0. The sum over an interval is its loss.
  int32_t lost_change = 0;
  // False if the packet has no usable send time. Both delays are then those of the last packet that had one.
  bool has_delay = false;
  // One-way delay above the base delay; never negative.
  TimeDelta queueing_delay = TimeDelta::Zero();
  // True after the base delay rose to a delay that persisted after the sender had backed off.
  bool delay_stands = false;
  // Change of one-way delay since the previous packet with a send time.
  TimeDelta delay_change = TimeDelta::Zero();
};

// Numbers of irregular packets and events since construction.
struct ArrivalCounters {
  uint64_t duplicates = 0;          // dropped
  uint64_t reordered = 0;           // late, accepted
  uint64_t invalid = 0;             // impossible arrival time or size, or a lone leap in sequence numbers; dropped
  uint64_t restarts = 0;            // streams whose sequence numbers started again
  uint64_t send_time_outliers = 0;  // implausible send times; the packet counts without a delay
  uint64_t clock_restarts = 0;      // leaps of a sender's clock, and steps of the receiver's back by more than 3 s
  uint64_t ssrc_evictions = 0;      // streams dropped to make room
};

// Sums of arrivals since construction, after W3C's webrtc-stats.
struct ArrivalTotals {
  int64_t packets = 0;
  DataSize size = DataSize::Zero();
  // Sum of Arrival::lost_change. A late packet decreases it, possibly below 0.
  int64_t packets_lost = 0;
  int64_t packets_with_ce = 0;
  // Sum over the packets with a send time, and the number of these packets.
  TimeDelta queueing_delay = TimeDelta::Zero();
  int64_t packets_with_delay = 0;

  // The arrivals after those of `earlier` totals of the same estimator.
  ArrivalTotals Since(const ArrivalTotals& earlier) const {
    return {.packets = packets - earlier.packets,
            .size = size - earlier.size,
            .packets_lost = packets_lost - earlier.packets_lost,
            .packets_with_ce = packets_with_ce - earlier.packets_with_ce,
            .queueing_delay = queueing_delay - earlier.queueing_delay,
            .packets_with_delay = packets_with_delay - earlier.packets_with_delay};
  }
};

struct LastSecond {
  DataRate receive_rate = DataRate::Zero();
  TimeDelta queueing_delay = TimeDelta::Zero();  // mean; zero if no packet had a send time
  double loss_ratio = 0;                         // 0 to 1
};

}  // namespace weir

#endif  // WEIR_ARRIVAL_H_
