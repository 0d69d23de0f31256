#include "serve/step_recorder.h"

#include <algorithm>
#include <cmath>

#include "endpoints/oracle.h"
#include "endpoints/rtp_format.h"
#include "link/delay_distribution.h"

namespace weir::sim {
namespace {

// The delay reported for a queue that never drains because the capacity stays zero.
constexpr SimDuration kLongestDelay = SimDuration::Seconds(3600);
// The longest slots of a link that serves in slots.
constexpr SimDuration kOptimalHorizon = AchievableThroughput::kLongestWait;

double UnpolicedCapacityBps(const LinkSpec& link, const FlowSpec& flow, SimTime from, SimTime to) {
  if (!link.capacity) {
    return static_cast<double>(MaxMediaRate(std::get<RtpSpec>(flow.kind).media, kSendSideOverheadBytes).bps());
  }
  if (to <= from) return static_cast<double>(link.capacity->RateAt(from));
  return static_cast<double>(link.capacity->BitsBetween(from, to)) * 1e9 / static_cast<double>((to - from).ns());
}

double MeanCapacityBps(const LinkSpec& link, const FlowSpec& flow, SimTime from, SimTime to) {
  return link.PolicedBps(UnpolicedCapacityBps(link, flow, from, to));
}

}  // namespace

StepRecorder::StepRecorder(const Scenario& scenario, const FlowSpec& flow, bool keep_packets)
    : flow_(flow), keep_packets_(keep_packets), achievable_(scenario, flow) {
  for (const FlowSpec& other : scenario.flows) {
    if (&other == &flow || other.direction != flow.direction) continue;
    if (other.takes_its_share()) {
      for (const ActiveSpan& span : ActiveSpans(other)) {
        if (!span.audio_only) competing_spans_.push_back(span);
      }
    }
    if (other.constant_rate()) cross_traffic_.push_back(&other);
  }
}

int64_t StepRecorder::Competitors(SimTime time) const {
  return std::count_if(competing_spans_.begin(), competing_spans_.end(),
                       [&](const auto& span) { return span.from <= time && time < span.to; });
}

double StepRecorder::OptimalBps(const Link& link, const Link& back, const Objective& objective, SimTime now) const {
  const SimDuration feedback_delay =
      back.spec().one_way_delay.At(now) + flow_.extra_one_way_delay + std::min(back.QueueingDelay(), kLongestDelay);
  const SimTime from = now + feedback_delay, to = from + kOptimalHorizon;
  OracleConfig config{.link = &link, .sharing_flows = 1 + static_cast<int>(Competitors(from)), .cross_traffic = {}};
  for (const FlowSpec* cross : cross_traffic_) {
    if (cross->start <= from && from < cross->stop) {
      config.cross_traffic.push_back({from, to, cross->constant_rate()->bps()});
    }
  }
  const auto& rtp = std::get<RtpSpec>(flow_.kind);
  const double most_bps = static_cast<double>(MaxMediaRate(rtp.media, OverheadBytes(rtp.transport_cc)).bps());
  const double counted_share = most_bps / static_cast<double>(MaxMediaRate(rtp.media, kSendSideOverheadBytes).bps());
  // The target holds for the whole horizon: with a shorter drain time, it would drain more than the queue.
  OracleAim aim = AimOf(objective);
  aim.drain_time = std::max(aim.drain_time, kOptimalHorizon);
  const double sent_bps = static_cast<double>(target_rate_.bps()) / counted_share + CrossTrafficBps(config, from, to);
  const double grown_bits =
      (sent_bps - MeanCapacityBps(link.spec(), flow_, now, from)) * static_cast<double>(feedback_delay.ns()) * 1e-9;
  const int64_t queued_bytes = link.queued_bytes() + std::llround(grown_bits / 8);
  const double oracle_bps = OracleBps(config, aim, queued_bytes, from, to);
  return std::clamp(counted_share * oracle_bps, 0.0, most_bps);
}

void StepRecorder::OnReceived(const Packet& packet, SimTime arrival_time) {
  bytes_received_ += packet.size_bytes;
  delays_.push_back(arrival_time - packet.sent_time);
  if (keep_packets_) packets_.push_back({packet.rtp, packet.sent_time, arrival_time});
}

std::array<double, kStepFields.size()> StepRecorder::Finish(const Link& link, const Link& back,
                                                            const Objective& objective, SimTime now,
                                                            SimTime next_step) {
  const LinkSpec& spec = link.spec();
  const double base_ms = ToMilliseconds(spec.one_way_delay.At(now) + flow_.extra_one_way_delay);
  const bool first = step_start_ < kTimeZero;
  const SimTime from = first ? std::min(flow_.start, now) : step_start_;
  const double interval_s = (now - from).seconds();
  const auto rate_bps = [&](double bits) { return interval_s > 0 ? bits / interval_s : 0.0; };
  const double packets_received = static_cast<double>(delays_.size());
  const double packets_lost = static_cast<double>(packets_lost_);
  if (first) delay_mean_ms_ = delay_p95_ms_ = base_ms;
  if (!delays_.empty()) {
    const MeanAndP95 delays = MeanAndP95Of(delays_);
    delay_mean_ms_ = delays.mean_ms;
    delay_p95_ms_ = delays.p95_ms;
  }
  const double capacity_bps = MeanCapacityBps(spec, flow_, from, now);
  const double achievable_bps = rate_bps(achievable_.BitsUntil(now));
  const int64_t competitors = Competitors(from);
  const std::array<double, kStepFields.size()> fields{
      now.seconds(),
      capacity_bps,
      achievable_bps,
      competitors == 0 ? achievable_bps : std::min(achievable_bps, capacity_bps / static_cast<double>(1 + competitors)),
      rate_bps(static_cast<double>(bytes_sent_) * 8),
      rate_bps(static_cast<double>(bytes_received_) * 8),
      delay_mean_ms_,
      delay_p95_ms_,
      base_ms,
      ToMilliseconds(std::min(link.QueueingDelay(), kLongestDelay)),
      packets_lost > 0 ? packets_lost / (packets_lost + packets_received) : 0.0,
      packets_received,
      static_cast<double>(target_rate_.bps()),
      MeanCapacityBps(spec, flow_, now, next_step),
      OptimalBps(link, back, objective, now)};
  step_start_ = now;
  return fields;
}

void StepRecorder::Clear() {
  bytes_sent_ = bytes_received_ = packets_lost_ = 0;
  delays_.clear();
  packets_.clear();
}

}  // namespace weir::sim
