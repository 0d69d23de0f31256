#include "virtual_call/forwarded_stream.h"

#include <algorithm>
#include <iterator>

namespace weir::sim {
namespace {

constexpr size_t kHeaderBytes = 20;
constexpr size_t kDescriptorBytes = 4;
constexpr size_t kVp8HeaderBytes = 10;
constexpr uint8_t kFiller = 9;

void Append(std::vector<uint8_t>& data, uint32_t value, int bytes) {
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) data.push_back(static_cast<uint8_t>(value >> shift));
}

uint16_t NumberOf(const ForwardedStream::RtpData& data) { return static_cast<uint16_t>(data[2] << 8 | data[3]); }

}  // namespace

void ForwardedStream::Want(int layer) {
  wanted_layer_ = layer;
  if (layer < 0) layer_ = layer;
}

ForwardedStream::RtpData ForwardedStream::Header(uint8_t payload_type, uint16_t number, uint32_t timestamp,
                                                 uint32_t ssrc, bool marker) const {
  RtpData data;
  data.reserve(kHeaderBytes + kDescriptorBytes + 1200);
  data.push_back(0x90);
  data.push_back(static_cast<uint8_t>(payload_type | (marker ? 0x80 : 0)));
  Append(data, number, 2);
  Append(data, timestamp, 4);
  Append(data, ssrc, 4);
  // One-byte extensions (RFC 8285), one word: the transport-wide number and a byte of padding.
  Append(data, 0xbede, 2);
  Append(data, 1, 2);
  data.push_back(static_cast<uint8_t>(config_.transport_cc_id << 4 | 1));
  Append(data, 0, 3);
  return data;
}

std::optional<ForwardedStream::RtpData> ForwardedStream::Forward(const SimulcastPacket& packet) {
  const auto layer = static_cast<int>(packet.layer);
  if (layer != layer_) {
    if (layer != wanted_layer_ || !packet.key_frame || !packet.first) return std::nullopt;
    // The other layer's frame of this picture may have been forwarded already.
    const bool is_late = timestamp_ && static_cast<int32_t>(packet.rtp_timestamp - *timestamp_) <= 0;
    timestamp_shift_ = is_late ? *timestamp_ + 1 - packet.rtp_timestamp : 0;
    layer_ = layer;
  }
  const uint32_t timestamp = packet.rtp_timestamp + timestamp_shift_;
  if (packet.first) {
    ++picture_id_;
    timestamp_ = timestamp;
    frames_[next_frame_++ % kHistory] = {.rtp_timestamp = timestamp, .capture_time = packet.capture_time};
  }
  RtpData data = Header(config_.payload_type, number_, timestamp, config_.ssrc, packet.last);
  // Extended descriptor with a picture ID of 15 bits (RFC 7741 section 4.2).
  data.push_back(static_cast<uint8_t>(0x80 | (packet.first ? 0x10 : 0)));
  data.push_back(0x80);
  Append(data, 0x8000 | (picture_id_ & 0x7fffu), 2);
  const size_t payload_at = data.size();
  data.resize(payload_at + std::max<size_t>(packet.payload_size, kVp8HeaderBytes), kFiller);
  if (packet.first) {
    // RFC 6386 section 9.1, as libwebrtc's depacketizer reads it.
    data[payload_at] = packet.key_frame ? 0 : 1;
    if (packet.key_frame) {
      data[payload_at + 6] = static_cast<uint8_t>(packet.width & 0xff);
      data[payload_at + 7] = static_cast<uint8_t>(packet.width >> 8 & 0x3f);
      data[payload_at + 8] = static_cast<uint8_t>(packet.height & 0xff);
      data[payload_at + 9] = static_cast<uint8_t>(packet.height >> 8 & 0x3f);
    }
  }
  history_[number_ % kHistory] = {.data = data};
  ++number_;
  ++packets_;
  return data;
}

std::optional<ForwardedStream::RtpData> ForwardedStream::Retransmit(uint16_t sequence_number, Timestamp now,
                                                                    TimeDelta round_trip_time) {
  SentPacket& entry = history_[sequence_number % kHistory];
  const RtpData& sent = entry.data;
  if (sent.empty() || NumberOf(sent) != sequence_number) return std::nullopt;
  if (now - entry.retransmission_time < round_trip_time) return std::nullopt;
  if (entry.retransmission_time.IsFinite()) ++repeated_retransmissions_;
  entry.retransmission_time = now;
  const auto timestamp =
      static_cast<uint32_t>(sent[4]) << 24 | static_cast<uint32_t>(sent[5]) << 16 | sent[6] << 8 | sent[7];
  RtpData data = Header(config_.rtx_payload_type, rtx_number_++, timestamp, config_.rtx_ssrc, (sent[1] & 0x80) != 0);
  Append(data, sequence_number, 2);
  data.insert(data.end(), sent.begin() + kHeaderBytes, sent.end());
  return data;
}

ForwardedStream::RtpData ForwardedStream::Pad(uint8_t padding_bytes) {
  RtpData data =
      Header(config_.rtx_payload_type, rtx_number_++, timestamp_.value_or(0), config_.rtx_ssrc, /*marker=*/false);
  data[0] |= 0x20;
  data.resize(data.size() + padding_bytes, 0);
  data.back() = padding_bytes;
  return data;
}

std::optional<SimTime> ForwardedStream::CaptureTime(uint32_t rtp_timestamp) const {
  const auto found = std::ranges::find(frames_, rtp_timestamp, &SentFrame::rtp_timestamp);
  if (found == frames_.end() || found->capture_time == kNever) return std::nullopt;
  return found->capture_time;
}

}  // namespace weir::sim
