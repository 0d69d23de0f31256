#include "endpoints/rtcp_messages.h"

namespace weir::sim {
namespace {

constexpr uint32_t kHeaderBytes = 8;  // common header and SSRC of the packet's sender
constexpr uint32_t kSenderInfoBytes = 20;
constexpr uint32_t kReportBlockBytes = 24;
constexpr uint32_t kSourceDescriptionBytes = 28;  // with a CNAME of 16 characters (RFC 7022)
constexpr uint32_t kReferenceTimeBytes = 12;      // RFC 3611 section 4.4
constexpr uint32_t kDelaySinceReferenceBytes = 16;
constexpr uint32_t kFeedbackHeaderBytes = 12;           // RFC 4585 section 6.1
constexpr uint32_t kCongestionControlHeaderBytes = 12;  // RFC 8888 section 3.1, with the report timestamp
constexpr uint32_t kNackItemBytes = 4;
// Packets that one NACK item covers: a sequence number and a bitmask of those after it.
constexpr int64_t kNackItemPackets = 17;
constexpr int64_t kLargestSmallDeltaUs = 255 * 250;

uint32_t NackBytes(const std::vector<int64_t>& nack) {
  uint32_t bytes = kFeedbackHeaderBytes;
  int64_t covered_until = nack.front();
  for (const int64_t sequence_number : nack) {
    if (sequence_number < covered_until) continue;
    covered_until = sequence_number + kNackItemPackets;
    bytes += kNackItemBytes;
  }
  return bytes;
}

uint32_t TransportFeedbackBytes(const TransportFeedback& feedback) {
  // Common header, two SSRCs, base sequence number, count, reference time, feedback count; chunks of 7 two-bit symbols;
  // deltas.
  uint32_t bytes = 20 + 2 * static_cast<uint32_t>((feedback.receive_times_us.size() + 6) / 7);
  int64_t last_us = TransportFeedback::kNotReceived;
  for (const int64_t time_us : feedback.receive_times_us) {
    if (time_us == TransportFeedback::kNotReceived) continue;
    const int64_t delta_us = last_us == TransportFeedback::kNotReceived ? 0 : time_us - last_us;
    bytes += delta_us >= 0 && delta_us <= kLargestSmallDeltaUs ? 1 : 2;
    last_us = time_us;
  }
  return (bytes + 3) / 4 * 4;
}

uint32_t CongestionControlFeedbackBytes(const CongestionControlFeedback& feedback) {
  uint32_t bytes = kCongestionControlHeaderBytes;
  for (const TransportFeedback& stream : feedback.streams) {
    if (stream.receive_times_us.empty()) continue;
    bytes += 8 + (2 * static_cast<uint32_t>(stream.receive_times_us.size()) + 3) / 4 * 4;
  }
  return bytes;
}

}  // namespace

uint32_t IpPacketSize(const ReceiverRtcp& message) {
  uint32_t bytes = kUdpIpOverheadBytes + static_cast<uint32_t>(message.remb.size());
  if (message.report) {
    bytes += kHeaderBytes + kSourceDescriptionBytes + kHeaderBytes + kReferenceTimeBytes;
    for (const auto& block : message.report->blocks) {
      if (block) bytes += kReportBlockBytes;
    }
  }
  if (message.transport_feedback) bytes += TransportFeedbackBytes(*message.transport_feedback);
  if (message.congestion_control_feedback) {
    bytes += CongestionControlFeedbackBytes(*message.congestion_control_feedback);
  }
  if (!message.nack.empty()) bytes += NackBytes(message.nack);
  if (message.pli) bytes += kFeedbackHeaderBytes;
  return bytes;
}

uint32_t IpPacketSize(const SenderRtcp& message) {
  const uint32_t echo_bytes = message.receiver_reference_echo ? kHeaderBytes + kDelaySinceReferenceBytes : 0;
  return kUdpIpOverheadBytes + kHeaderBytes + kSenderInfoBytes + kSourceDescriptionBytes + echo_bytes;
}

}  // namespace weir::sim
