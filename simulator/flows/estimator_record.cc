#include "flows/estimator_record.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <utility>

#include "weir/guard.h"

namespace weir::sim {
namespace {

using Json = nlohmann::ordered_json;

void AddPool(const PoolController& pool, Json& record) {
  const auto rounded = [](double share) { return std::round(share * 1e6) / 1e6; };
  const auto decisions = static_cast<double>(std::max<uint64_t>(1, pool.counters().decisions));
  Json members = Json::array();
  for (size_t i = 0; i < pool.members().size(); ++i) {
    const MemberState& member = pool.members()[i];
    members.push_back({{"name", member.name},
                       {"role", ToString(pool.role(i))},
                       {"pilot_share", rounded(static_cast<double>(member.decisions_as_active) / decisions)},
                       {"decisions", member.decisions},
                       {"faults", member.faults}});
  }
  const TimeDelta held = pool.first_pilot_held();
  record["pool"] = {{"pilot_changes", pool.active_changes()},
                    {"first_pilot_held_s", held.IsFinite() ? Json(held.seconds()) : Json(nullptr)},
                    {"members", std::move(members)}};
}

}  // namespace

void AddEstimator(const EstimatorCounters& counters, const PoolController* pool, Json& record) {
  const std::span<const GuardRuleInfo> rules = GuardRules();
  for (size_t i = 0; i < rules.size(); ++i) record["guard"][std::string(rules[i].name())] = counters.guard[i];
  record["estimator"] = {{"decisions", counters.controller.decisions},
                         {"faults", counters.controller.faults},
                         {"fallback_decisions", counters.controller.fallback_decisions}};
  if (pool && pool->members().size() > 1) AddPool(*pool, record);
}

}  // namespace weir::sim
