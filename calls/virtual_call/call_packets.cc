#include "virtual_call/call_packets.h"

#include <algorithm>
#include <optional>

#include "api/jsep.h"
#include "api/rtp_parameters.h"
#include "media/base/codec.h"
#include "pc/session_description.h"
#include "programs/input.h"
#include "sdp.h"
#include "virtual_call/rtp_header.h"

namespace weir::sim {
namespace {

// Bytes that encryption would add: the tag of SRTP (AES_CM_128_HMAC_SHA1_80), and of SRTCP with its index (RFC 3711).
constexpr uint32_t kSrtpBytes = 10;
constexpr uint32_t kSrtcpBytes = 14;

// True if MediaPackets has filled in an RTP header.
bool IsRtp(const Packet& packet) { return packet.rtp.header_size > 0; }

bool IsFeedback(std::span<const uint8_t> data) { return IsRtpOrRtcp(data) && IsRtcp(data); }

}  // namespace

void MediaPackets::OnAnswer(const std::string& sdp) {
  const auto description = webrtc::CreateSessionDescription(webrtc::SdpType::kAnswer, sdp);
  if (description == nullptr) throw ProgramError("libwebrtc answered with no description", kFailed);
  for (const auto& [payload_type, kind] : peer::PacketKinds(*description))
    kinds_[static_cast<size_t>(payload_type) % kinds_.size()] = kind;
  red_ = ulpfec_ = -1;
  for (const webrtc::ContentInfo& content : description->description()->contents()) {
    for (const webrtc::Codec& codec : content.media_description()->codecs()) {
      if (codec.type != webrtc::Codec::Type::kVideo) continue;
      if (codec.GetResiliencyType() == webrtc::Codec::ResiliencyType::kRed) red_ = codec.id;
      if (codec.GetResiliencyType() == webrtc::Codec::ResiliencyType::kUlpfec) ulpfec_ = codec.id;
    }
    for (const webrtc::RtpExtension& extension : content.media_description()->rtp_header_extensions()) {
      if (extension.uri == webrtc::RtpExtension::kAbsSendTimeUri) abs_send_time_id_ = extension.id;
    }
  }
}

void MediaPackets::OnSent(Packet& packet, std::span<uint8_t> data) {
  ShowSenderClock(data, packet.sent_time);
  if (!IsRtpOrRtcp(data)) return;
  const std::optional<RtpHeader> header = ParseRtpHeader(data);
  packet.size_bytes += header ? kSrtpBytes : kSrtcpBytes;
  if (!header) return;
  const auto payload_and_padding = static_cast<uint32_t>(data.size()) - header->size_bytes;
  const uint32_t padding = header->padding ? std::min<uint32_t>(data.back(), payload_and_padding) : 0;
  PacketArrival& rtp = packet.rtp;
  rtp.ssrc = header->ssrc;
  rtp.sequence_number = header->sequence_number;
  rtp.payload_type = header->payload_type;
  rtp.rtp_timestamp = header->timestamp;
  rtp.header_size = header->size_bytes;
  rtp.padding_size = padding;
  rtp.payload_size = payload_and_padding - padding;
  rtp.kind = rtp.payload_size == 0 ? PacketKind::kProbe : kinds_[header->payload_type];
  const bool is_fec = rtp.payload_type == red_ && rtp.payload_size > 0 && (data[rtp.header_size] & 0x7f) == ulpfec_;
  if (is_fec) fec_bytes_sent_ += packet.size_bytes;
  if (rtp.kind == PacketKind::kVideo) frames_->OnPacketSent(header->timestamp);
  flow_.observer->OnSent(packet);
}

void MediaPackets::OnReceived(const Packet& packet, std::span<const uint8_t>, SimTime arrival_time) {
  if (!IsRtp(packet)) return;
  if (packet.rtp.kind == PacketKind::kRetransmission) frames_->OnRetransmission(packet.rtp.rtp_timestamp);
  flow_.observer->OnReceived(packet, arrival_time);
}

void MediaPackets::OnDropped(const Packet& packet, std::span<const uint8_t>) {
  if (IsRtp(packet)) flow_.observer->OnDropped(packet);
}

void MediaPackets::ShowSenderClock(std::span<uint8_t> data, SimTime time) const {
  const SenderClock& clock = flow_.rtp().sender_clock;
  if (clock.ppm == 0 && clock.offset.IsZero() && clock.set.is_constant()) return;
  const std::span<uint8_t> bits = FindAbsSendTime(data, abs_send_time_id_);
  if (!bits.empty()) WriteAbsSendTime(bits, std::max(kTimeZero, clock.Shown(time)));
}

void RtcpPackets::OnSent(Packet& packet, std::span<uint8_t> data) {
  if (!IsFeedback(data)) return;
  packet.size_bytes += kSrtcpBytes;
  ++packets_sent_;
  bytes_sent_ += packet.size_bytes;
  observer_->OnFeedbackSent(packet.sent_time);
}

void RtcpPackets::OnReceived(const Packet& packet, std::span<const uint8_t> data, SimTime arrival_time) {
  if (IsFeedback(data)) observer_->OnFeedbackReceived(packet.sent_time, arrival_time);
}

void RtcpPackets::OnDropped(const Packet&, std::span<const uint8_t> data) {
  if (IsFeedback(data)) ++packets_lost_;
}

void RtcpPackets::AddTo(nlohmann::ordered_json& record) const {
  record["feedback_packets_sent"] = packets_sent_;
  record["feedback_bytes_sent"] = bytes_sent_;
  record["feedback_packets_lost"] = packets_lost_;
}

}  // namespace weir::sim
