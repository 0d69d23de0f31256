// The RTCP that crosses the links: reports, REMB, transport feedback, NACK and PLI. REMB is sent as the bytes of its
// real packet, the others as structs with the time resolutions and sizes of the real formats.
#ifndef WEIR_SIMULATOR_ENDPOINTS_RTCP_MESSAGES_H_
#define WEIR_SIMULATOR_ENDPOINTS_RTCP_MESSAGES_H_

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/sim_time.h"
#include "endpoints/rtp_format.h"
#include "link/packet.h"

namespace weir::sim {

// Echo of a time stamp for measuring round trips: LSR/DLSR (RFC 3550 section 6.4.1) in one direction, LRR/DLRR (RFC
// 3611 section 4.5) in the other.
struct TimeEcho {
  SimTime sent_time = kTimeZero;
  SimDuration held = SimDuration::Zero();
};

// RFC 3550 section 6.4.1; here with the sequence number unwrapped.
struct ReportBlock {
  int64_t extended_highest_sequence_number = 0;
  int64_t cumulative_packets_lost = 0;
};

struct ReceiverReport {
  // Empty for a stream that has not been received.
  std::array<std::optional<ReportBlock>, kStreamsPerFlow> blocks;
  std::optional<TimeEcho> sender_report_echo;
};

// draft-holmer-rmcat-transport-wide-cc-extensions-01.
struct TransportFeedback {
  static constexpr int64_t kNotReceived = -1;
  int64_t base_sequence_number = 0;
  // For consecutive packets from the base on; whole ticks of 250 us.
  std::vector<int64_t> receive_times_us;
  // The same packets' marks, which only RFC 8888 carries; empty if there are none.
  std::vector<EcnMarking> ecn = {};
};

// RFC 8888. Each stream has consecutive packets, counted from 0 in the stream; without new packets it has no times.
struct CongestionControlFeedback {
  std::array<TransportFeedback, kStreamsPerFlow> streams{};
  // Receive times are whole multiples of 1/1024 s before this.
  int64_t report_time_us = 0;
};

// From the receiver of media to its sender; one IP packet.
struct ReceiverRtcp final : RtcpMessage {
  std::vector<uint8_t> remb;
  std::optional<ReceiverReport> report;
  std::optional<TransportFeedback> transport_feedback;
  std::optional<CongestionControlFeedback> congestion_control_feedback;
  // Generic NACK (RFC 4585 section 6.2.1): the requested packets of the video stream, in order, unwrapped.
  std::vector<int64_t> nack;
  // Picture loss indication (RFC 4585 section 6.3.1).
  bool pli = false;
  // When it was sent: the receiver reference time of RFC 3611 section 4.4, present with a report.
  SimTime sent_time = kTimeZero;

  // True if it has input for a controller: a REMB or arrivals.
  bool has_rate_feedback() const { return !remb.empty() || transport_feedback || congestion_control_feedback; }
};

// From the sender of media to its receiver; one IP packet.
struct SenderRtcp final : RtcpMessage {
  SimTime sent_time = kTimeZero;
  std::optional<TimeEcho> receiver_reference_echo;
};

// The size of the whole IP packet.
uint32_t IpPacketSize(const ReceiverRtcp& message);
uint32_t IpPacketSize(const SenderRtcp& message);

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_ENDPOINTS_RTCP_MESSAGES_H_
