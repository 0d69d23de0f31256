// What libwebrtc's receiver side costs with Weir in it: CPU time of one second of a call at 5 Mbps, so that 10 ms are 1
// % of a core.
#include <benchmark/benchmark.h>

#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "receive_side_call.h"
#include "receive_side_switch.h"

namespace {

std::vector<std::byte> ShippedModel() {
  std::ifstream stream(WEIR_SHIPPED_MODEL, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  const auto* const bytes = reinterpret_cast<const std::byte*>(text.data());
  return {bytes, bytes + text.size()};
}

void BM_ReceiveSideSecond(benchmark::State& state, weir::ReceiveSideMode mode) {
  auto pilot = weir::PolicyPilot(ShippedModel());
  if (!pilot) {
    state.SkipWithError(pilot.error().c_str());
    return;
  }
  weir::ReceiveSideSwitchConfig config;
  config.mode = mode;
  config.pilot = pilot.value();
  const auto receive_side = weir::ReceiveSideSwitch::Create(std::move(config));
  receive_side->Install();
  weir::testing::ReceiveSideCall call;
  call.Run(1000, 5'000'000);
  for (auto _ : state) call.Run(1000, 5'000'000);
  weir::ReceiveSideSwitch::Uninstall();
}
BENCHMARK_CAPTURE(BM_ReceiveSideSecond, gcc, weir::ReceiveSideMode::kGcc)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(BM_ReceiveSideSecond, weir, weir::ReceiveSideMode::kWeir)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(BM_ReceiveSideSecond, shadow, weir::ReceiveSideMode::kShadow)->Unit(benchmark::kMicrosecond);

}  // namespace
