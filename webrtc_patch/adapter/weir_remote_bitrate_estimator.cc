#include "weir_remote_bitrate_estimator.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "api/rtp_headers.h"
#include "weir/controllers.h"

namespace weir::adapter {
namespace {

constexpr int kVideoClockRate = 90'000;
// Within these, milliseconds do not overflow as microseconds.
constexpr int64_t kMaxArrivalTimeMs = int64_t{1} << 50;

BandwidthEstimatorConfig ConfigOf(const ReceiveSideSettings& settings, DataRate start_rate, webrtc::Clock* clock) {
  BandwidthEstimatorConfig config{.constraints = settings.constraints, .objective = settings.objective};
  config.decision_limit.clock = [clock] { return Timestamp::Micros(clock->TimeInMicroseconds()); };
  config.constraints.start_rate = std::clamp(start_rate, config.constraints.min_rate, config.constraints.max_rate);
  return config;
}

std::vector<uint32_t> SsrcsOf(const Remb& remb) { return {remb.ssrcs.begin(), remb.ssrcs.begin() + remb.ssrc_count}; }

}  // namespace

WeirRemoteBitrateEstimator::WeirRemoteBitrateEstimator(const ReceiveSideSettings& settings, DataRate start_rate,
                                                       RembOutlet* outlet, webrtc::Clock* clock, OnDecision on_decision)
    : outlet_(outlet),
      clock_(clock),
      on_decision_(std::move(on_decision)),
      estimator_(ConfigOf(settings, start_rate, clock), settings.controller()),
      settings_(settings) {
  ConfigurePool(settings);
  estimator_.SetObserver(&recorder_);
}

void WeirRemoteBitrateEstimator::ApplySettings(const ReceiveSideSettings& settings) {
  const auto same = [](const TargetRateConstraints& a, const TargetRateConstraints& b) {
    return a.min_rate == b.min_rate && a.start_rate == b.start_rate && a.max_rate == b.max_rate;
  };
  if (settings.objective != settings_.objective) estimator_.SetObjective(settings.objective);
  if (!same(settings.constraints, settings_.constraints)) {
    TargetRateConstraints constraints = settings.constraints;
    constraints.at_time = now();
    // The switch has validated them.
    static_cast<void>(estimator_.SetConstraints(constraints));
  }
  const bool is_new = settings.controllers != settings_.controllers;
  if (is_new) estimator_.SetController(settings.controller());
  if (is_new || settings.pool != settings_.pool) ConfigurePool(settings);
  settings_ = settings;
}

void WeirRemoteBitrateEstimator::ConfigurePool(const ReceiveSideSettings& settings) {
  auto* const pool = dynamic_cast<PoolController*>(&estimator_.controller());
  // A pool that lacks a member stays as it is.
  if (pool && settings.pool) static_cast<void>(pool->Configure(*settings.pool));
}

void WeirRemoteBitrateEstimator::SetInCharge(bool in_charge) {
  if (in_charge == in_charge_) return;
  in_charge_ = in_charge;
  if (in_charge && started_) {
    Send(remb_sender_.SendNow(estimator_, now()));
  } else if (!in_charge) {
    outlet_->Clear();
  }
}

void WeirRemoteBitrateEstimator::RepeatRemb() {
  if (!in_charge_ || !started_) return;
  const Remb remb = remb_sender_.SendNow(estimator_, now());
  outlet_->SendAtOnce(remb.rate, SsrcsOf(remb));
}

void WeirRemoteBitrateEstimator::IncomingPacket(int64_t arrival_time_ms, size_t payload_size,
                                                const webrtc::RTPHeader& header) {
  const Timestamp now = this->now();
  // libwebrtc's `payload_size` is payload and padding.
  const size_t padding_size = std::min(header.paddingLength, payload_size);
  const size_t media_size = payload_size - padding_size;
  PacketArrival packet;
  packet.arrival_time = arrival_clock_.ToMonotonic(
      Timestamp::Millis(std::clamp(arrival_time_ms, -kMaxArrivalTimeMs, kMaxArrivalTimeMs)), now);
  packet.ssrc = header.ssrc;
  packet.sequence_number = header.sequenceNumber;
  packet.payload_type = header.payloadType;
  packet.kind = Kind(header, media_size);
  packet.has_abs_send_time = header.extension.hasAbsoluteSendTime;
  packet.abs_send_time = header.extension.absoluteSendTime & 0xFFFFFF;
  packet.rtp_timestamp = header.timestamp;
  packet.rtp_clock_rate =
      static_cast<uint32_t>(header.payload_type_frequency > 0 ? header.payload_type_frequency : kVideoClockRate);
  packet.header_size = static_cast<uint32_t>(header.headerLength);
  packet.payload_size = static_cast<uint32_t>(media_size);
  packet.padding_size = static_cast<uint32_t>(padding_size);
  any_packet_ = true;

  // A decision that is due comes before the packet: it is about the time before it.
  Advance(now);
  estimator_.OnPacket(packet);
}

PacketKind WeirRemoteBitrateEstimator::Kind(const webrtc::RTPHeader& header, size_t media_size) const {
  const PacketKind kind = settings_.packet_kinds[header.payloadType & (kPayloadTypes - 1)];
  return kind == PacketKind::kVideo && media_size == 0 ? PacketKind::kProbe : kind;
}

void WeirRemoteBitrateEstimator::RemoveStream(uint32_t ssrc) { estimator_.RemoveStream(ssrc); }

void WeirRemoteBitrateEstimator::Send(const Remb& remb) { outlet_->Send(remb.rate, SsrcsOf(remb)); }

webrtc::DataRate WeirRemoteBitrateEstimator::LatestEstimate() const {
  if (!any_packet_) return webrtc::DataRate::Zero();
  return webrtc::DataRate::BitsPerSec(estimator_.latest().target_rate.bps());
}

void WeirRemoteBitrateEstimator::OnRttUpdate(int64_t avg_rtt_ms, int64_t) {
  estimator_.OnRoundTripTime(TimeDelta::Millis(avg_rtt_ms), now());
}

webrtc::TimeDelta WeirRemoteBitrateEstimator::Process() {
  Advance(now());
  const Timestamp next = std::min(NextTimeout(), outlet_->next_timeout());
  const TimeDelta wait = next - now();
  // Before the first media packet, RepeatRemb() must take effect within 5 ms: the sender encodes its first frame at
  // the latest REMB.
  const int64_t longest_us = in_charge_ && !any_packet_ ? 5'000 : 100'000;
  return webrtc::TimeDelta::Micros(std::clamp<int64_t>(wait.us(), 1'000, longest_us));
}

Timestamp WeirRemoteBitrateEstimator::NextTimeout() const {
  const Timestamp next = estimator_.next_timeout();
  return in_charge_ ? std::min(next, remb_sender_.next_timeout(estimator_)) : next;
}

void WeirRemoteBitrateEstimator::Advance(Timestamp now) {
  if (NextTimeout() <= now) {
    estimator_.OnTimeout(now);
    if (recorder_.decided()) Record(now);
    started_ = true;
    const std::optional<Remb> remb = in_charge_ ? remb_sender_.OnTimeout(estimator_, now) : std::nullopt;
    if (remb) Send(*remb);
  }
  if (in_charge_) outlet_->OnTimeout();
}

void WeirRemoteBitrateEstimator::Record(Timestamp now) {
  const MemberState& pilot = estimator_.controller().pilot();
  const Estimate& latest = estimator_.latest();
  const IntervalStatistics statistics = recorder_.Take(now, latest.target_rate);
  if (!on_decision_) return;
  on_decision_({.estimate = latest,
                .controller = pilot.suspended ? "fallback" : pilot.name,
                .pool = dynamic_cast<const PoolController*>(&estimator_.controller()),
                .in_charge = in_charge_,
                .objective = settings_.objective,
                .constraints = settings_.constraints,
                .statistics = statistics,
                .counters = estimator_.counters()});
}

}  // namespace weir::adapter
