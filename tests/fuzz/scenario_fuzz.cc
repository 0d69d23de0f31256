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
using sim::LinkSpec;
using sim::Scenario;

constexpr int64_t kDayNs = int64_t{86'400} * 1'000'000'000;

void CheckLink(const LinkSpec& link, int64_t duration_ns) {
  WEIR_FUZZ_CHECK(link.one_way_delay_ns.At(0) >= 0 && link.one_way_delay_ns.At(duration_ns) >= 0);
  WEIR_FUZZ_CHECK(link.loss.ratio.At(duration_ns) >= 0);
  if (!link.capacity) return;
  for (const int64_t time_ns : {int64_t{0}, duration_ns / 2, duration_ns}) {
    const int64_t rate_bps = link.capacity->RateAt(time_ns);
    WEIR_FUZZ_CHECK(rate_bps >= 0 && rate_bps <= static_cast<int64_t>(sim::kMaxRateBps));
  }
  WEIR_FUZZ_CHECK(QueueLimit(link, duration_ns) >= 1);
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
  const int64_t duration_ns = scenario.duration_ns();
  WEIR_FUZZ_CHECK(duration_ns > 0 && duration_ns <= kDayNs);
  CheckLink(scenario.forward, duration_ns);
  CheckLink(scenario.reverse, duration_ns);
  for (const FlowSpec& flow : scenario.flows) {
    WEIR_FUZZ_CHECK(!flow.id.empty());
    WEIR_FUZZ_CHECK(flow.start_ns >= 0 && flow.stop_ns <= duration_ns && flow.extra_one_way_delay_ns >= 0);
  }
}

}  // namespace weir::fuzz
