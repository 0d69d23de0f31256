// RTP and RTCP packets as the simulator sends them: streams, header sizes, and the rates of media with headers.
#ifndef WEIR_SIMULATOR_ENDPOINTS_RTP_FORMAT_H_
#define WEIR_SIMULATOR_ENDPOINTS_RTP_FORMAT_H_

#include <cstddef>
#include <cstdint>

#include "core/sim_time.h"
#include "link/packet.h"
#include "media/media_source.h"
#include "scenario/rtp_spec.h"
#include "scenario/scenario.h"
#include "weir/arrival.h"
#include "weir/units.h"

namespace weir::sim {

// The fixed header, and an extension block with abs-send-time (4 bytes) and transport sequence number or MID (3 bytes),
// padded (RFC 8285).
inline constexpr uint32_t kRtpHeaderBytes = 12 + 12;

// Bytes of a packet, other than payload, that a rate counts. REMB excludes UDP and IP (draft-alvestrand-rmcat-remb-03
// section 2.2). libwebrtc's send side counts them, also in a REMB that accompanies transport-cc.
inline constexpr uint32_t kRembOverheadBytes = kRtpHeaderBytes;
inline constexpr uint32_t kSendSideOverheadBytes = kRtpHeaderBytes + kUdpIpOverheadBytes;
constexpr uint32_t OverheadBytes(bool transport_cc) {
  return transport_cc ? kSendSideOverheadBytes : kRembOverheadBytes;
}

// A flow has one stream (SSRC) for each kind of packet it sends: video, audio, probes and padding, retransmissions.
inline constexpr int kStreamsPerFlow = 4;
constexpr int StreamOf(PacketKind kind) {
  switch (kind) {
    case PacketKind::kVideo:
      return 0;
    case PacketKind::kAudio:
      return 1;
    case PacketKind::kProbe:
      return 2;
    case PacketKind::kRetransmission:
      return 3;
  }
  return 0;
}
constexpr uint8_t PayloadTypeOf(PacketKind kind) {
  constexpr uint8_t kPayloadTypes[kStreamsPerFlow] = {96, 111, 126, 97};
  return kPayloadTypes[StreamOf(kind)];
}
constexpr uint32_t ClockRateOf(PacketKind kind) { return kind == PacketKind::kAudio ? 48'000 : 90'000; }
constexpr uint32_t SsrcOf(size_t flow_index, PacketKind kind) {
  return 0x57000000u + static_cast<uint32_t>(flow_index) * 16 + static_cast<uint32_t>(StreamOf(kind));
}

// In units of the stream's clock.
constexpr uint32_t RtpTimestamp(PacketKind kind, SimTime time) {
  constexpr int64_t kNsPerSecond = 1'000'000'000;
  const int64_t rate = ClockRateOf(kind);
  const int64_t time_ns = time.ns();
  return static_cast<uint32_t>(time_ns / kNsPerSecond * rate + time_ns % kNsPerSecond * rate / kNsPerSecond);
}

// abs-send-time: seconds in 6.18 fixed point, rounded.
constexpr uint32_t AbsSendTime(SimTime time) {
  constexpr SimDuration kWrap = SimDuration::Seconds(64);
  return static_cast<uint32_t>((((time.ns() % kWrap.ns()) << 18) + 500'000'000) / 1'000'000'000) & 0xFFFFFF;
}

// The highest rates of media if a packet counts `overhead_bytes` in addition to its payload. The scenario's `max_rate`
// counts RTP headers, its `audio_rate` does not.
inline DataRate MaxVideoRate(const MediaSpec& media, uint32_t overhead_bytes) {
  return DataRate::BitsPerSecondF(static_cast<double>(media.max_rate.bps()) * (kMaxPayloadBytes + overhead_bytes) /
                                  (kMaxPayloadBytes + kRtpHeaderBytes));
}
inline DataRate AudioRate(const MediaSpec& media, uint32_t overhead_bytes) {
  if (media.kind == MediaSpec::Kind::kFiller || media.audio_rate.bps() == 0) return DataRate::Zero();
  return media.audio_rate + DataRate::BitsPerSecondF(overhead_bytes * 8 * media.audio_packets_per_second);
}
inline DataRate MaxMediaRate(const MediaSpec& media, uint32_t overhead_bytes) {
  return MaxVideoRate(media, overhead_bytes) + AudioRate(media, overhead_bytes);
}

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_ENDPOINTS_RTP_FORMAT_H_
