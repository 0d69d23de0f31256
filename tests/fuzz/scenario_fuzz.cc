#include <exception>
#include <nlohmann/json.hpp>
#include <string_view>

#include "fuzz_targets.h"
#include "programs/input.h"
#include "programs/json.h"
#include "scenario/scenario.h"
#include "whole_scenario.h"

namespace weir::fuzz {
namespace {

using sim::FlowSpec;
using sim::kTimeZero;
using sim::LinkSpec;
using sim::Scenario;
using sim::SimDuration;
using sim::SimTime;

constexpr SimDuration kDay = SimDuration::Seconds(86'400);

void CheckLink(const LinkSpec& link, SimDuration duration) {
  const SimTime end = kTimeZero + duration;
  WEIR_FUZZ_CHECK(link.one_way_delay.At(kTimeZero) >= SimDuration::Zero() &&
                  link.one_way_delay.At(end) >= SimDuration::Zero());
  WEIR_FUZZ_CHECK(link.loss.ratio.At(end) >= 0);
  if (!link.capacity) return;
  for (const SimTime time : {kTimeZero, kTimeZero + 0.5 * duration, end}) {
    const int64_t rate_bps = link.capacity->RateAt(time);
    WEIR_FUZZ_CHECK(rate_bps >= 0 && rate_bps <= static_cast<int64_t>(sim::kMaxRateBps));
  }
  WEIR_FUZZ_CHECK(QueueLimit(link, duration) >= 1);
}

}  // namespace

void FuzzScenario(std::span<const uint8_t> bytes) {
  Scenario scenario;
  try {
    // Few inputs are whole, and those that are not end at the first missing key.
    const auto document = ParseJson({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    scenario = sim::ParseScenario(sim::WholeScenario(document));
  } catch (const ProgramError& error) {
    WEIR_FUZZ_CHECK(!std::string_view(error.what()).empty());
    return;
  }
  const SimDuration duration = scenario.duration;
  WEIR_FUZZ_CHECK(duration > SimDuration::Zero() && duration <= kDay);
  CheckLink(scenario.forward, duration);
  CheckLink(scenario.reverse, duration);
  for (const FlowSpec& flow : scenario.flows) {
    WEIR_FUZZ_CHECK(!flow.id.empty());
    WEIR_FUZZ_CHECK(flow.start >= kTimeZero && flow.stop <= scenario.end() &&
                    flow.extra_one_way_delay >= SimDuration::Zero());
  }
}

}  // namespace weir::fuzz
