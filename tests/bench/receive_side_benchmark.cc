// Cost of libwebrtc's receiver side with Weir: CPU time of one second of a call at 5 Mbps, so that 10 ms are 1 % of a
// core.
#include <benchmark/benchmark.h>

#include <utility>

#include "benchmarks.h"
#include "receive_side_call.h"
#include "receive_side_switch.h"

namespace {

void BM_ReceiveSideSecond(benchmark::State& state, weir::ReceiveSideMode mode) {
  auto policy = weir::PolicyAlone(weir::ShippedModel());
  if (!policy) {
    state.SkipWithError(policy.error().c_str());
    return;
  }
  weir::ReceiveSideSwitchConfig config;
  config.mode = mode;
  config.controller = policy.value();
  const auto receive_side = weir::ReceiveSideSwitch::Create(std::move(config)).value();
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
