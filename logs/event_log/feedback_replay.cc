#include "feedback_replay.h"

#include <algorithm>

#include "modules/rtp_rtcp/source/rtp_packet_to_send.h"
#include "rtc_base/network/sent_packet.h"

namespace weir {
namespace {

// Bounds the memory for clusters of a malicious log; libwebrtc has a few at a time.
constexpr size_t kMaxClusters = 100;

}  // namespace

void FeedbackReplay::OnProbeCluster(const webrtc::LoggedBweProbeClusterCreatedEvent& cluster) {
  if (clusters_.size() >= kMaxClusters) clusters_.pop_front();
  webrtc::PacedPacketInfo info(cluster.id, static_cast<int>(cluster.min_packets), static_cast<int>(cluster.min_bytes));
  info.send_bitrate = webrtc::DataRate::BitsPerSec(cluster.bitrate_bps);
  clusters_.push_back({.info = info});
}

webrtc::PacedPacketInfo FeedbackReplay::TakePacingInfo(webrtc::Timestamp time, int packet_bytes, bool audio) {
  if (!clusters_.empty() && clusters_.front().IsComplete() && time > clusters_.front().last_sent) clusters_.pop_front();
  if (clusters_.empty() || (audio && clusters_.front().probes_sent == 0)) return {};
  Cluster& cluster = clusters_.front();
  const webrtc::PacedPacketInfo info = cluster.info;
  cluster.info.probe_cluster_bytes_sent += packet_bytes;
  if (time > cluster.last_sent) ++cluster.probes_sent;
  cluster.last_sent = time;
  return info;
}

std::optional<webrtc::SentPacket> FeedbackReplay::OnSentPacket(const webrtc::LoggedPacketInfo& packet) {
  const int bytes = packet.size + packet.overhead;
  webrtc::SentPacketInfo sent;
  sent.send_time_ms = packet.log_time_ms();
  sent.info.included_in_allocation = true;
  sent.info.packet_size_bytes = static_cast<size_t>(bytes);
  if (packet.has_transport_seq_no || rfc8888_) {
    const bool audio = packet.media_type == webrtc::LoggedMediaType::kAudio;
    const uint16_t sequence_number = rfc8888_ ? next_sequence_number_++ : packet.transport_seq_no;
    webrtc::RtpPacketToSend rtp(/*extensions=*/nullptr);
    rtp.set_transport_sequence_number(sequence_number);
    rtp.SetSsrc(packet.ssrc);
    rtp.SetSequenceNumber(packet.stream_seq_no);
    rtp.set_packet_type(audio        ? webrtc::RtpPacketMediaType::kAudio
                        : packet.rtx ? webrtc::RtpPacketMediaType::kRetransmission
                                     : webrtc::RtpPacketMediaType::kVideo);
    const auto overhead = static_cast<size_t>(std::max(bytes - static_cast<int>(rtp.size()), 0));
    history_.AddPacket(rtp, TakePacingInfo(packet.log_packet_time, bytes, audio), overhead, packet.log_packet_time);
    sent.packet_id = sequence_number;
    sent.info.included_in_feedback = true;
  }
  return history_.ProcessSentPacket(sent);
}

}  // namespace weir
