// What the receiver knows of one RTP packet: as the host hands it in, and as the arrival statistics have read it.
#ifndef WEIR_ARRIVAL_ARRIVAL_H_
#define WEIR_ARRIVAL_ARRIVAL_H_

#include <cstdint>

#include "weir/units.h"

namespace weir {

// What senders of media fill a packet up to: header and payload.
inline constexpr DataSize kFullPacket = DataSize::Bytes(1200);

// What a packet is for. The host knows it from the payload type it negotiated; kProbe also covers padding-only packets.
enum class PacketKind : uint8_t { kVideo, kAudio, kProbe, kRetransmission };

// One RTP packet as received. Everything but the arrival time is under the sender's control, hence hostile until
// checked.
struct PacketArrival {
  // Receiver's monotonic clock.
  Timestamp arrival_time = Timestamp::MinusInfinity();
  // As in the RTP header, each with all its values.
  uint32_t ssrc = 0;
  uint16_t sequence_number = 0;
  uint8_t payload_type = 0;
  PacketKind kind = PacketKind::kVideo;
  // abs-send-time header extension: 24 bits, 6.18 fixed-point seconds, wraps every 64 s.
  bool has_abs_send_time = false;
  uint32_t abs_send_time = 0;
  // Used in place of abs-send-time where that is missing; the clock rate in Hz, 0 when unknown.
  uint32_t rtp_timestamp = 0;
  uint32_t rtp_clock_rate = 0;
  // Of the RTP packet, without UDP and IP, in bytes.
  uint32_t header_size = 0;
  uint32_t payload_size = 0;
  uint32_t padding_size = 0;

  DataSize size() const {
    return DataSize::Bytes(int64_t{header_size} + int64_t{payload_size} + int64_t{padding_size});
  }
};

// A packet after unwrapping, duplicate removal and comparison with the base delay. Rate controllers on the receiver's
// side see this.
struct Arrival {
  // As it was handed in, but for an arrival time that never runs backwards.
  PacketArrival packet;
  // Unwrapped, per SSRC; continues across wraps, starts anew after a restart of the sender.
  int64_t sequence_number = 0;
  // By how much this arrival changes the number of packets believed lost: n for a gap of n packets before it, -1 for a
  // late packet that had been counted as lost, else 0. The sum over an interval is the interval's loss. With what was
  // told since the stream's last arrival of packets whose fate is unknown, which are neither received nor lost.
  int32_t lost_change = 0;
  // False when the packet carried no usable send time; the two delays are then those of the last packet that did.
  bool has_delay = false;
  // One-way delay above the smallest of the base-delay window; never negative.
  TimeDelta queueing_delay = TimeDelta::Zero();
  // The base of `queueing_delay` has risen to a delay that did not go when the sender yielded (`StandingDelay`).
  bool delay_stands = false;
  // Change of one-way delay against the previous packet with a send time.
  TimeDelta delay_change = TimeDelta::Zero();
};

}  // namespace weir

#endif  // WEIR_ARRIVAL_ARRIVAL_H_
