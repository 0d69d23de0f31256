#include "conversions.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "libwebrtc_version.h"

namespace weir::adapter {
namespace {

constexpr int64_t kWebrtcTimeAtOriginUs = 1'000'000'000;

// Both libraries represent infinities by the extremes of int64_t, but libwebrtc creates them only by name.
template <class WebrtcUnit, class WeirUnit>
WebrtcUnit Infinite(WeirUnit value) {
  return value.IsPlusInfinity() ? WebrtcUnit::PlusInfinity() : WebrtcUnit::MinusInfinity();
}

template <class WeirUnit, class WebrtcUnit>
WeirUnit InfiniteFrom(WebrtcUnit value) {
  return value.IsPlusInfinity() ? WeirUnit::PlusInfinity() : WeirUnit::MinusInfinity();
}

int ToInt(int64_t value) { return static_cast<int>(std::clamp<int64_t>(value, 0, std::numeric_limits<int>::max())); }

// Only libwebrtc of January 2023 has `prior_in_flight`; only later ones have the fields in SetReport().
template <class Feedback>
void SetPriorInFlight(webrtc::DataSize size, Feedback& feedback) {
  if constexpr (requires { feedback.prior_in_flight; }) feedback.prior_in_flight = size;
}
template <class Result>
void SetReport(const PacketResult& packet, Result& result) {
  if constexpr (requires { result.arrival_time_offset; }) {
    if (packet.arrival_time_offset) result.arrival_time_offset = ToWebrtc(*packet.arrival_time_offset);
    result.reported_lost_for_the_first_time = packet.reported_lost_for_the_first_time;
    result.reported_recovered_for_the_first_time = packet.reported_recovered_for_the_first_time;
    // Both enums use the code points of RFC 3168.
    result.ecn = static_cast<decltype(result.ecn)>(packet.ecn);
  }
}

webrtc::PacedPacketInfo PacingInfo(const PacedPacketInfo& info) {
  // A cluster without a size is no probe: libwebrtc's probe estimator would abort on it.
  const bool probe = info.probe_cluster_id != PacedPacketInfo::kNotAProbe && info.probe_cluster_min_probes > 0 &&
                     info.probe_cluster_min_size > DataSize::Zero();
  if (!probe) return webrtc::PacedPacketInfo();
  webrtc::PacedPacketInfo result(info.probe_cluster_id, info.probe_cluster_min_probes,
                                 ToInt(info.probe_cluster_min_size.bytes()));
  SetSendRate(webrtc::DataRate::BitsPerSec(ToInt(info.send_rate.bps())), result);
  result.probe_cluster_bytes_sent = ToInt(info.probe_cluster_bytes_sent.bytes());
  return result;
}

}  // namespace

webrtc::TimeDelta ToWebrtc(TimeDelta delta) {
  return delta.IsFinite() ? webrtc::TimeDelta::Micros(delta.us()) : Infinite<webrtc::TimeDelta>(delta);
}

webrtc::DataRate ToWebrtc(DataRate rate) {
  if (rate.IsPlusInfinity()) return webrtc::DataRate::PlusInfinity();
  return webrtc::DataRate::BitsPerSec(std::max<int64_t>(rate.bps(), 0));
}

webrtc::DataSize ToWebrtc(DataSize size) {
  if (size.IsPlusInfinity()) return webrtc::DataSize::PlusInfinity();
  return webrtc::DataSize::Bytes(std::max<int64_t>(size.bytes(), 0));
}

DataSize FromWebrtc(webrtc::DataSize size) {
  return size.IsFinite() ? DataSize::Bytes(size.bytes()) : InfiniteFrom<DataSize>(size);
}

TimeDelta FromWebrtc(webrtc::TimeDelta delta) {
  return delta.IsFinite() ? TimeDelta::Micros(delta.us()) : InfiniteFrom<TimeDelta>(delta);
}

DataRate FromWebrtc(webrtc::DataRate rate) {
  return rate.IsFinite() ? DataRate::BitsPerSecond(rate.bps()) : InfiniteFrom<DataRate>(rate);
}

webrtc::Timestamp TimeConverter::ToWebrtc(Timestamp time) const {
  if (!time.IsFinite()) return Infinite<webrtc::Timestamp>(time);
  const TimeDelta since_zero = (time - origin_) + TimeDelta::Micros(kWebrtcTimeAtOriginUs);
  return webrtc::Timestamp::Micros(std::max<int64_t>(since_zero.us(), 0));
}

Timestamp TimeConverter::FromWebrtc(webrtc::Timestamp time) const {
  if (!time.IsFinite()) return InfiniteFrom<Timestamp>(time);
  return origin_ + TimeDelta::Micros(time.us() - kWebrtcTimeAtOriginUs);
}

webrtc::SentPacket TimeConverter::ToWebrtc(const SentPacket& packet) const {
  webrtc::SentPacket result;
  result.send_time = ToWebrtc(packet.send_time);
  result.size = adapter::ToWebrtc(packet.size);
  result.sequence_number = packet.sequence_number;
  result.pacing_info = PacingInfo(packet.pacing_info);
  result.data_in_flight = adapter::ToWebrtc(packet.data_in_flight);
  result.audio = packet.audio;
  return result;
}

webrtc::TransportPacketsFeedback TimeConverter::ToWebrtc(const TransportPacketsFeedback& feedback) const {
  webrtc::TransportPacketsFeedback result;
  result.feedback_time = ToWebrtc(feedback.feedback_time);
  result.data_in_flight = adapter::ToWebrtc(feedback.data_in_flight);
  webrtc::DataSize prior_in_flight = result.data_in_flight;
  result.packet_feedbacks.reserve(feedback.packet_feedbacks.size());
  for (const PacketResult& packet : feedback.packet_feedbacks) {
    if (!packet.sent_packet.send_time.IsFinite()) continue;
    webrtc::PacketResult& converted = result.packet_feedbacks.emplace_back();
    converted.sent_packet = ToWebrtc(packet.sent_packet);
    converted.receive_time = ToWebrtc(packet.receive_time);
    SetReport(packet, converted);
    prior_in_flight += converted.sent_packet.size;
  }
  SetPriorInFlight(prior_in_flight, result);
  return result;
}

std::optional<webrtc::TransportLossReport> TimeConverter::ToWebrtc(const TransportLossReport& report) const {
  if (report.packets_received_delta < 1) return std::nullopt;
  webrtc::TransportLossReport result;
  result.receive_time = ToWebrtc(report.receive_time);
  result.start_time = ToWebrtc(report.start_time);
  result.end_time = ToWebrtc(report.end_time);
  result.packets_lost_delta = static_cast<uint64_t>(std::max<int64_t>(report.packets_lost_delta, 0));
  result.packets_received_delta = static_cast<uint64_t>(report.packets_received_delta);
  return result;
}

std::optional<webrtc::RoundTripTimeUpdate> TimeConverter::ToWebrtc(const RoundTripTimeUpdate& update) const {
  if (!update.round_trip_time.IsFinite() || update.round_trip_time <= TimeDelta::Zero()) return std::nullopt;
  webrtc::RoundTripTimeUpdate result;
  result.receive_time = ToWebrtc(update.receive_time);
  result.round_trip_time = adapter::ToWebrtc(update.round_trip_time);
  result.smoothed = false;
  return result;
}

TargetTransferRate TimeConverter::FromWebrtc(const webrtc::TargetTransferRate& target) const {
  return {.at_time = FromWebrtc(target.at_time), .target_rate = adapter::FromWebrtc(target.target_rate)};
}

PacerConfig TimeConverter::FromWebrtc(const webrtc::PacerConfig& config) const {
  return {.at_time = FromWebrtc(config.at_time),
          .pacing_rate = adapter::FromWebrtc(config.data_rate()),
          .padding_rate = adapter::FromWebrtc(config.pad_rate()),
          .burst_interval = adapter::FromWebrtc(BurstInterval(config))};
}

ProbeClusterConfig TimeConverter::FromWebrtc(const webrtc::ProbeClusterConfig& config) const {
  return {.at_time = FromWebrtc(config.at_time),
          .id = config.id,
          .target_data_rate = adapter::FromWebrtc(config.target_data_rate),
          .target_duration = adapter::FromWebrtc(config.target_duration),
          .target_probe_count = config.target_probe_count};
}

}  // namespace weir::adapter
