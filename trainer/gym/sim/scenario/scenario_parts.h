// The parts of the scenario parser, for scenario.cc alone.
#ifndef WEIR_TRAINER_GYM_SIM_SCENARIO_SCENARIO_PARTS_H_
#define WEIR_TRAINER_GYM_SIM_SCENARIO_SCENARIO_PARTS_H_

#include <cmath>
#include <cstdint>
#include <string>

#include "program/json_object.h"
#include "scenario/scenario.h"

namespace weir::sim {

// Keeps every time, in ns, far inside 64 bits.
inline constexpr double kMaxSeconds = 1e9;
inline constexpr NumberRange kTime{.min = 0, .max = kMaxSeconds};
inline constexpr NumberRange kPositiveTime{.min = 0, .max = kMaxSeconds, .min_excluded = true};
// A day: what can be simulated in minutes, and its series kept in memory.
inline constexpr NumberRange kDuration{.min = 0, .max = 86'400, .min_excluded = true};
inline constexpr NumberRange kDelayMs{.min = 0, .max = kMaxSeconds};

inline int64_t SecondsToNs(double seconds) { return std::llround(seconds * 1e9); }
inline int64_t MillisecondsToNs(double milliseconds) { return std::llround(milliseconds * 1e6); }

inline std::string Element(const std::string& path, size_t index) { return path + "[" + std::to_string(index) + "]"; }

struct LinkDefaults {
  bool capacity_required = true;
  PiecewiseConstant<int64_t> one_way_delay_ns = LinkSpec().one_way_delay_ns;
};
LinkSpec ParseLink(const nlohmann::json& value, const std::string& path, const LinkDefaults& defaults);

// The keys `sender_clock_...` of an RTP flow.
SenderClock ParseSenderClock(JsonObject& flow);

FlowSpec ParseFlow(const nlohmann::json& value, const std::string& path, int64_t duration_ns);

}  // namespace weir::sim

#endif  // WEIR_TRAINER_GYM_SIM_SCENARIO_SCENARIO_PARTS_H_
