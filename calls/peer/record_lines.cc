#include "record_lines.h"

#include <algorithm>
#include <string>
#include <utility>

#include "options.h"
#include "weir/interval_statistics.h"
#include "weir/pool_controller.h"

namespace weir::peer {

using nlohmann::ordered_json;

namespace {

// The first decision covers no time.
constexpr TimeDelta kMinInterval = TimeDelta::Millis(10);

ordered_json PoolLine(const PoolController& pool) {
  ordered_json members = ordered_json::array();
  for (size_t i = 0; i < pool.members().size(); ++i) {
    const MemberState& member = pool.members()[i];
    members.push_back({{"name", member.name},
                       {"role", ToString(pool.role(i))},
                       {"rate_bps", member.rate ? ordered_json(member.rate->bps()) : ordered_json()},
                       {"trust", member.trust}});
  }
  return {{"line", ToString(pool.specification())},
          {"fusion", ToString(pool.selection().fusion)},
          {"pilot_changes", pool.active_changes()},
          {"members", std::move(members)}};
}

}  // namespace

ordered_json StatsReport(const webrtc::RTCStatsReport& report) {
  ordered_json list = ordered_json::array();
  for (const webrtc::RTCStats& stats : report) {
    ordered_json entry = ordered_json::parse(stats.ToJson(), nullptr, false);
    if (entry.is_discarded()) continue;
    entry["timestamp"] = stats.timestamp().us<double>() / 1000.0;
    list.push_back(std::move(entry));
  }
  return list;
}

ordered_json EstimateLine(const ReceiveSideDecision& decision) {
  const ArrivalTotals& arrivals = decision.arrivals;
  const DataRate receive_rate = arrivals.size / std::max(decision.interval, kMinInterval);
  const double delays = static_cast<double>(arrivals.packets_with_delay);
  const double queueing_delay_s = delays > 0 ? arrivals.queueing_delay.seconds() / delays : 0;
  // A packet that was counted as lost in an earlier interval may arrive in this one.
  const int64_t lost = std::max<int64_t>(arrivals.packets_lost, 0);
  const double expected = static_cast<double>(arrivals.packets + lost);
  ordered_json guard;
  const std::span<const GuardRuleInfo> rules = GuardRules();
  for (size_t i = 0; i < rules.size(); ++i) guard[std::string(rules[i].name())] = decision.counters.guard[i];
  const Objective& objective = decision.objective;
  ordered_json line{
      {"type", "estimate"},
      {"time_us", decision.estimate.at_time.us()},
      {"target_rate_bps", decision.estimate.target_rate.bps()},
      {"reason", ToString(decision.estimate.reason)},
      {"controller", decision.controller},
      {"receive_rate_bps", receive_rate.bps()},
      {"queueing_delay_ms", delays > 0 ? ordered_json(queueing_delay_s * 1000.0) : ordered_json(nullptr)},
      {"loss_ratio", expected > 0 ? static_cast<double>(lost) / expected : 0.0},
      {"application_limited",
       IsApplicationLimited(arrivals.packets, lost, static_cast<double>(receive_rate.bps()),
                            static_cast<double>(decision.previous_target_rate.bps()), queueing_delay_s)},
      {"in_charge", decision.in_charge},
      {"repair", ToString(decision.repair)},
      {"guard", std::move(guard)},
      {"faults", decision.counters.controller.faults},
      {"objective", {{"throughput", objective.throughput}, {"latency", objective.latency}, {"loss", objective.loss}}}};
  // For a single controller, the field "controller" is enough.
  if (decision.pool && decision.pool->members().size() > 1) line["pool"] = PoolLine(*decision.pool);
  return line;
}

ordered_json SenderEstimateLine(std::string_view controller, const Estimate& estimate) {
  return {{"type", "estimate"},
          {"time_us", estimate.at_time.us()},
          {"target_rate_bps", estimate.target_rate.bps()},
          {"reason", ToString(estimate.reason)},
          {"controller", controller},
          {"in_charge", true}};
}

}  // namespace weir::peer
