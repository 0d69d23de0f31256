#include "weir_remote_bitrate_estimator.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "modules/rtp_rtcp/source/rtp_header_extensions.h"
#include "modules/rtp_rtcp/source/rtp_packet_received.h"
#include "rtc_base/checks.h"
#include "weir/controllers.h"
#include "weir/pool_controller.h"

namespace weir::adapter {
namespace {

constexpr int kVideoClockRate = 90'000;
// IPv4, UDP, and the tag of SRTP (AES_CM_128_HMAC_SHA1_80).
constexpr uint32_t kTransportOverheadBytes = 20 + 8 + 10;
// Differences of times in +/- this do not overflow.
constexpr int64_t kMaxArrivalTimeUs = int64_t{1} << 60;

BandwidthEstimatorConfig ConfigOf(const ReceiveSideSettings& settings, DataRate start_rate, webrtc::Clock* clock) {
  BandwidthEstimatorConfig config{.constraints = settings.constraints,
                                  .objective = settings.objective,
                                  .guard = settings.guard,
                                  .guard_rules = settings.guard_rules};
  config.decision_limit.clock = [clock] { return Timestamp::Micros(clock->TimeInMicroseconds()); };
  config.constraints.start_rate = std::clamp(start_rate, config.constraints.min_rate, config.constraints.max_rate);
  return config;
}

BandwidthEstimator MakeEstimator(const ReceiveSideSettings& settings, DataRate start_rate, webrtc::Clock* clock) {
  auto estimator = BandwidthEstimator::Create(ConfigOf(settings, start_rate, clock), settings.controller());
  RTC_CHECK(estimator.ok()) << estimator.error();  // the switch has validated the settings
  return std::move(estimator.value());
}

std::vector<uint32_t> SsrcsOf(const Remb& remb) { return {remb.ssrcs.begin(), remb.ssrcs.begin() + remb.ssrc_count}; }

}  // namespace

bool IsReported(const webrtc::RtpPacketReceived& packet) {
  return packet.HasExtension<webrtc::TransportSequenceNumber>() ||
         packet.HasExtension<webrtc::TransportSequenceNumberV2>();
}

WeirRemoteBitrateEstimator::WeirRemoteBitrateEstimator(const ReceiveSideSettings& settings, DataRate start_rate,
                                                       RembOutlet* outlet, webrtc::Clock* clock)
    : outlet_(outlet), clock_(clock), estimator_(MakeEstimator(settings, start_rate, clock)), settings_(settings) {
  ConfigurePool(settings);
}

void WeirRemoteBitrateEstimator::ApplySettings(const ReceiveSideSettings& settings) {
  // The switch has validated objective and constraints.
  if (settings.objective != settings_.objective) static_cast<void>(estimator_.SetObjective(settings.objective));
  if (settings.constraints != settings_.constraints) {
    TargetRateConstraints constraints = settings.constraints;
    constraints.at_time = now();
    static_cast<void>(estimator_.SetConstraints(constraints));
    decided_ = true;
  }
  const bool is_new = settings.controllers != settings_.controllers;
  if (is_new) estimator_.SetController(settings.controller());
  if (is_new || settings.pool != settings_.pool) ConfigurePool(settings);
  settings_ = settings;
}

void WeirRemoteBitrateEstimator::ConfigurePool(const ReceiveSideSettings& settings) {
  // A pool that lacks a member stays as it is.
  PoolController* const pool = PoolIn(estimator_.controller());
  if (pool != nullptr && settings.pool) static_cast<void>(pool->Configure(*settings.pool));
}

void WeirRemoteBitrateEstimator::SetInCharge(bool in_charge) {
  if (in_charge == in_charge_) return;
  in_charge_ = in_charge;
  if (in_charge && started()) {
    Send(remb_sender_.SendNow(estimator_, now()));
  } else if (!in_charge) {
    outlet_->Release();
  }
}

void WeirRemoteBitrateEstimator::RepeatRemb() {
  if (!in_charge_ || !started()) return;
  const Remb remb = remb_sender_.SendNow(estimator_, now());
  if (const auto until = outlet_->SendAtOnce(remb.rate, SsrcsOf(remb))) remb_sender_.OnHeldBack(*until);
}

void WeirRemoteBitrateEstimator::IncomingPacket(const webrtc::RtpPacketReceived& received) {
  const Timestamp now = this->now();
  const webrtc::Timestamp arrival_time = received.arrival_time();
  PacketArrival packet;
  if (arrival_time.IsFinite()) {
    const int64_t arrival_us = std::clamp(arrival_time.us(), -kMaxArrivalTimeUs, kMaxArrivalTimeUs);
    packet.arrival_time = arrival_clock_.ToMonotonic(Timestamp::Micros(arrival_us), now);
  } else {
    packet.arrival_time = now;
  }
  packet.ssrc = received.Ssrc();
  packet.sequence_number = received.SequenceNumber();
  packet.payload_type = received.PayloadType();
  packet.kind = Kind(received);
  const auto abs_send_time = received.GetExtension<webrtc::AbsoluteSendTime>();
  packet.has_abs_send_time = abs_send_time.has_value();
  packet.abs_send_time = abs_send_time.value_or(0) & 0xFFFFFF;
  packet.rtp_timestamp = received.Timestamp();
  const int clock_rate = received.payload_type_frequency();
  packet.rtp_clock_rate = static_cast<uint32_t>(clock_rate > 0 ? clock_rate : kVideoClockRate);
  packet.header_size =
      static_cast<uint32_t>(received.headers_size()) + (IsReported(received) ? kTransportOverheadBytes : 0);
  packet.payload_size = static_cast<uint32_t>(received.payload_size());
  packet.padding_size = static_cast<uint32_t>(received.padding_size());
  any_packet_ = true;

  // Makes a due decision first: it covers the time before the packet.
  Advance(now);
  estimator_.OnPacket(packet);
  FollowRepair(received, now);
}

void WeirRemoteBitrateEstimator::FollowRepair(const webrtc::RtpPacketReceived& received, Timestamp now) {
  const PacketKind kind = settings_.packet_kinds[received.PayloadType() & (kPayloadTypes - 1)];
  if (kind == PacketKind::kVideo) {
    repair_monitor_.OnPacket(received.Ssrc(), received.SequenceNumber(), now);
  } else if (kind == PacketKind::kRetransmission) {
    const auto payload = received.payload();
    repair_monitor_.OnRetransmission(received.Ssrc(), received.SequenceNumber(), {payload.data(), payload.size()}, now);
  }
}

PacketKind WeirRemoteBitrateEstimator::Kind(const webrtc::RtpPacketReceived& received) const {
  const PacketKind kind = settings_.packet_kinds[received.PayloadType() & (kPayloadTypes - 1)];
  return kind == PacketKind::kVideo && received.payload_size() == 0 ? PacketKind::kProbe : kind;
}

void WeirRemoteBitrateEstimator::RemoveStream(uint32_t ssrc) { estimator_.RemoveStream(ssrc); }

void WeirRemoteBitrateEstimator::Send(const Remb& remb) {
  if (const auto until = outlet_->Send(remb.rate, SsrcsOf(remb))) remb_sender_.OnHeldBack(*until);
}

webrtc::DataRate WeirRemoteBitrateEstimator::LatestEstimate() const {
  if (!any_packet_) return webrtc::DataRate::Zero();
  return webrtc::DataRate::BitsPerSec(estimator_.latest().target_rate.bps());
}

void WeirRemoteBitrateEstimator::OnRttUpdate(int64_t avg_rtt_ms, int64_t) {
  estimator_.OnRoundTripTime(TimeDelta::Millis(avg_rtt_ms), now());
}

webrtc::TimeDelta WeirRemoteBitrateEstimator::Process() {
  Advance(now());
  const TimeDelta wait = NextTimeout() - now();
  // Before the first media packet, RepeatRemb() must take effect within 5 ms: the sender encodes its first frame at
  // the latest REMB.
  const int64_t longest_us = in_charge_ && !any_packet_ ? 5'000 : 100'000;
  return webrtc::TimeDelta::Micros(std::clamp<int64_t>(wait.us(), 1'000, longest_us));
}

Timestamp WeirRemoteBitrateEstimator::NextTimeout() const {
  return in_charge_ ? remb_sender_.next_timeout(estimator_) : estimator_.next_timeout();
}

void WeirRemoteBitrateEstimator::Advance(Timestamp now) {
  if (NextTimeout() > now) return;
  if (!started()) reported_ = {now, estimator_.totals(), estimator_.latest().target_rate};
  const Timestamp decided_at = estimator_.latest().at_time;
  bool remb_due = false;
  if (in_charge_) {
    remb_due = remb_sender_.OnTimeout(estimator_, now).remb_due;
  } else {
    estimator_.OnTimeout(now);
  }
  decided_ |= estimator_.latest().at_time != decided_at;
  if (settings_.on_decision && std::exchange(decided_, false)) Report(now);
  if (remb_due) Send(RembFor(estimator_));
}

Repair WeirRemoteBitrateEstimator::ChooseRepair(Timestamp now) {
  RepairObservation observation = repair_monitor_.Observe(now, repair_policy_.repair());
  observation.rate = estimator_.latest().target_rate;
  return repair_policy_.Update(observation);
}

void WeirRemoteBitrateEstimator::Report(Timestamp now) {
  const ControllerState& active = estimator_.controller().active();
  const Estimate& latest = estimator_.latest();
  const Reported before = std::exchange(reported_, {now, estimator_.totals(), latest.target_rate});
  settings_.on_decision({.estimate = latest,
                         .controller = active.suspended ? "fallback" : active.name,
                         .pool = PoolIn(estimator_.controller()),
                         .in_charge = in_charge_,
                         .repair = ChooseRepair(now),
                         .objective = settings_.objective,
                         .constraints = settings_.constraints,
                         .interval = now - before.at_time,
                         .arrivals = estimator_.totals().Since(before.totals),
                         .previous_target_rate = before.target_rate,
                         .counters = estimator_.counters()});
}

}  // namespace weir::adapter
