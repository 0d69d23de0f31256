#include "serve/step_recorder.h"

#include <algorithm>
#include <cmath>

#include "endpoints/oracle.h"
#include "endpoints/rtp_format.h"
#include "link/delay_distribution.h"

namespace weir::sim {
namespace {

// The delay reported for a queue that never drains because the capacity stays zero.
constexpr int64_t kLongestDelayNs = 3'600'000'000'000;
// The longest slots of a link that serves in slots.
constexpr int64_t kOptimalHorizonNs = AchievableThroughput::kLongestWaitNs;

double UnpolicedCapacityBps(const LinkSpec& link, const FlowSpec& flow, int64_t from_ns, int64_t to_ns) {
  if (!link.capacity) {
    return static_cast<double>(MaxMediaRate(std::get<RtpSpec>(flow.kind).media, kSendSideOverheadBytes).bps());
  }
  if (to_ns <= from_ns) return static_cast<double>(link.capacity->RateAt(from_ns));
  return static_cast<double>(link.capacity->BitsBetween(from_ns, to_ns)) * 1e9 / static_cast<double>(to_ns - from_ns);
}

double MeanCapacityBps(const LinkSpec& link, const FlowSpec& flow, int64_t from_ns, int64_t to_ns) {
  return link.PolicedBps(UnpolicedCapacityBps(link, flow, from_ns, to_ns));
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

int64_t StepRecorder::Competitors(int64_t time_ns) const {
  return std::count_if(competing_spans_.begin(), competing_spans_.end(),
                       [&](const auto& span) { return span.from_ns <= time_ns && time_ns < span.to_ns; });
}

double StepRecorder::OptimalBps(const Link& link, const Link& back, const Objective& objective, int64_t now_ns) const {
  const int64_t back_ns = back.spec().one_way_delay_ns.At(now_ns) + flow_.extra_one_way_delay_ns +
                          std::min(back.QueueingDelayNs(), kLongestDelayNs);
  const int64_t from_ns = now_ns + back_ns, to_ns = from_ns + kOptimalHorizonNs;
  OracleConfig config{.link = &link, .sharing_flows = 1 + static_cast<int>(Competitors(from_ns)), .cross_traffic = {}};
  for (const FlowSpec* cross : cross_traffic_) {
    if (cross->start_ns <= from_ns && from_ns < cross->stop_ns) {
      config.cross_traffic.push_back({from_ns, to_ns, cross->constant_rate()->bps()});
    }
  }
  const auto& rtp = std::get<RtpSpec>(flow_.kind);
  const double most_bps = static_cast<double>(MaxMediaRate(rtp.media, OverheadBytes(rtp.transport_cc)).bps());
  const double counted_share = most_bps / static_cast<double>(MaxMediaRate(rtp.media, kSendSideOverheadBytes).bps());
  // The target holds for the whole horizon: with a shorter drain time, it would drain more than the queue.
  OracleAim aim = AimOf(objective);
  aim.drain_ns = std::max(aim.drain_ns, kOptimalHorizonNs);
  const double sent_bps =
      static_cast<double>(target_rate_.bps()) / counted_share + CrossTrafficBps(config, from_ns, to_ns);
  const double grown_bits =
      (sent_bps - MeanCapacityBps(link.spec(), flow_, now_ns, from_ns)) * static_cast<double>(back_ns) * 1e-9;
  const int64_t queued_bytes = link.queued_bytes() + std::llround(grown_bits / 8);
  const double oracle_bps = OracleBps(config, aim, queued_bytes, from_ns, to_ns);
  return std::clamp(counted_share * oracle_bps, 0.0, most_bps);
}

void StepRecorder::OnReceived(const Packet& packet, int64_t arrival_time_ns) {
  bytes_received_ += packet.size_bytes;
  delays_ns_.push_back(arrival_time_ns - packet.sent_time_ns);
  if (keep_packets_) packets_.push_back({packet.rtp, packet.sent_time_ns, arrival_time_ns});
}

std::array<double, kStepFields.size()> StepRecorder::Finish(const Link& link, const Link& back,
                                                            const Objective& objective, int64_t now_ns,
                                                            int64_t next_step_ns) {
  const LinkSpec& spec = link.spec();
  const double base_ms = static_cast<double>(spec.one_way_delay_ns.At(now_ns) + flow_.extra_one_way_delay_ns) * 1e-6;
  const bool first = step_start_ns_ < 0;
  const int64_t from_ns = first ? std::min(flow_.start_ns, now_ns) : step_start_ns_;
  const double interval_s = static_cast<double>(now_ns - from_ns) * 1e-9;
  const auto rate_bps = [&](double bits) { return interval_s > 0 ? bits / interval_s : 0.0; };
  const double packets_received = static_cast<double>(delays_ns_.size());
  const double packets_lost = static_cast<double>(packets_lost_);
  if (first) delay_mean_ms_ = delay_p95_ms_ = base_ms;
  if (!delays_ns_.empty()) {
    const MeanAndP95 delays = MeanAndP95Of(delays_ns_);
    delay_mean_ms_ = delays.mean_ms;
    delay_p95_ms_ = delays.p95_ms;
  }
  const double capacity_bps = MeanCapacityBps(spec, flow_, from_ns, now_ns);
  const double achievable_bps = rate_bps(achievable_.BitsUntil(now_ns));
  const int64_t competitors = Competitors(from_ns);
  const std::array<double, kStepFields.size()> fields{
      static_cast<double>(now_ns) * 1e-9,
      capacity_bps,
      achievable_bps,
      competitors == 0 ? achievable_bps : std::min(achievable_bps, capacity_bps / static_cast<double>(1 + competitors)),
      rate_bps(static_cast<double>(bytes_sent_) * 8),
      rate_bps(static_cast<double>(bytes_received_) * 8),
      delay_mean_ms_,
      delay_p95_ms_,
      base_ms,
      static_cast<double>(std::min(link.QueueingDelayNs(), kLongestDelayNs)) * 1e-6,
      packets_lost > 0 ? packets_lost / (packets_lost + packets_received) : 0.0,
      packets_received,
      static_cast<double>(target_rate_.bps()),
      MeanCapacityBps(spec, flow_, now_ns, next_step_ns),
      OptimalBps(link, back, objective, now_ns)};
  step_start_ns_ = now_ns;
  return fields;
}

void StepRecorder::Clear() {
  bytes_sent_ = bytes_received_ = packets_lost_ = 0;
  delays_ns_.clear();
  packets_.clear();
}

}  // namespace weir::sim
