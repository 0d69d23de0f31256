// The sender's clock of an RTP flow of a scenario file.
#include <vector>

#include "scenario/scenario_parts.h"

namespace weir::sim {
namespace {

// By how much the clock has been set so far, from steps and their times.
PiecewiseConstant<int64_t> ParseSteps(const nlohmann::json& value, const std::string& path) {
  JsonObject object(value, path);
  const std::string times_path = object.PathOf("times_s"), steps_path = object.PathOf("steps_ms");
  const nlohmann::json& times = JsonArray(object.Require("times_s"), times_path, 1, SIZE_MAX);
  const nlohmann::json& steps = JsonArray(object.Require("steps_ms"), steps_path, 1, SIZE_MAX);
  object.RefuseUnknownKeys();
  if (times.size() != steps.size()) {
    RefuseJson(path, std::to_string(times.size()) + " times and " + std::to_string(steps.size()) +
                         " steps; give as many of each");
  }
  constexpr NumberRange kStepMs{.min = -1e6, .max = 1e6};
  std::vector<int64_t> times_ns{0}, set_ns{0};
  for (size_t i = 0; i < times.size(); ++i) {
    const int64_t time_ns = SecondsToNs(JsonNumber(times[i], Element(times_path, i), kTime));
    const int64_t step_ns = MillisecondsToNs(JsonNumber(steps[i], Element(steps_path, i), kStepMs));
    if (i > 0 && time_ns <= times_ns.back()) {
      RefuseJson(Element(times_path, i), "must be later than the time before it, not " + ShownJson(times[i]));
    }
    if (time_ns == 0) {
      set_ns.back() = step_ns;
      continue;
    }
    times_ns.push_back(time_ns);
    set_ns.push_back(set_ns.back() + step_ns);
  }
  return {std::move(times_ns), std::move(set_ns), std::nullopt};
}

}  // namespace

SenderClock ParseSenderClock(JsonObject& flow) {
  SenderClock clock;
  constexpr NumberRange kPpm{.min = -5000, .max = 5000};
  if (const nlohmann::json* ppm = flow.FindOptional("sender_clock_ppm")) {
    clock.ppm = JsonNumber(*ppm, flow.PathOf("sender_clock_ppm"), kPpm);
  }
  // One turn of abs-send-time.
  constexpr NumberRange kOffset{.min = 0, .max = 64};
  if (const nlohmann::json* offset = flow.FindOptional("sender_clock_offset_s")) {
    clock.offset_ns = SecondsToNs(JsonNumber(*offset, flow.PathOf("sender_clock_offset_s"), kOffset));
  }
  if (const nlohmann::json* steps = flow.FindOptional("sender_clock_steps")) {
    clock.set_ns = ParseSteps(*steps, flow.PathOf("sender_clock_steps"));
  }
  return clock;
}

}  // namespace weir::sim
