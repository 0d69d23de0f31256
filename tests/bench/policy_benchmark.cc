// Time of one decision with the shipped model: interval statistics, features, network, action, fusion with one
// copilot, guard, feedback throttle; and with two copilots and trust. Counters p50_us and p99_us are of single
// decisions.
#include <benchmark/benchmark.h>

#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "benchmarks.h"
#include "controllers/nada_controller.h"
#include "controllers/rule_controller.h"
#include "made_estimator.h"
#include "policy/policy.h"
#include "test_pool.h"
#include "test_stream.h"
#include "weir/bandwidth_estimator.h"
#include "weir/policy_controller.h"

namespace weir {
namespace {

std::unique_ptr<Policy> LoadShipped() {
  auto policy = Policy::Load(ShippedModel());
  return policy ? std::move(policy.value()) : nullptr;
}

// The shipped model as pilot.
template <class... Copilots>
void Decide(benchmark::State& state, const PoolSpecification& rest, Copilots... copilots) {
  auto policy = LoadShipped();
  if (!policy) {
    state.SkipWithError("the shipped model cannot be loaded");
    return;
  }
  auto pilot = std::make_unique<PolicyController>(std::move(policy));
  BandwidthEstimator estimator =
      MadeEstimator({}, PoolOf(ControllersOf(std::move(pilot), std::move(copilots)...), rest));
  Timestamp now = Timestamp::Millis(0);
  Durations durations;
  TestStream stream;
  std::mt19937 jitter(1);
  for (auto _ : state) {
    state.PauseTiming();
    for (int i = 0; i < 30; ++i) {
      // Delays that are never quite the same: what sorts them has work to do.
      const auto delay = TimeDelta::Micros(static_cast<int64_t>(jitter() % 3000));
      estimator.OnPacket(stream.Next(now + TimeDelta::Micros(i * 3333), delay, 1200));
    }
    now += TimeDelta::Millis(100);
    state.ResumeTiming();
    durations.Measure([&] { benchmark::DoNotOptimize(estimator.OnTimeout(now)); });
  }
  durations.Report(state);
  state.counters["faults"] = static_cast<double>(estimator.counters().controller.faults);
}

void Decision(benchmark::State& state) {
  Decide(state, {.pilot = {}, .fusion = FusionKind::kMin}, std::make_unique<RuleController>());
}
BENCHMARK(Decision)->Iterations(50'000);

void DecisionByTrust(benchmark::State& state) {
  Decide(state, {.pilot = {}, .fusion = FusionKind::kMin, .policy = PilotPolicyKind::kByTrust},
         std::make_unique<NadaController>(), std::make_unique<RuleController>());
}
BENCHMARK(DecisionByTrust)->Iterations(50'000);

void PolicyRun(benchmark::State& state) {
  const auto policy = LoadShipped();
  if (!policy) {
    state.SkipWithError("the shipped model cannot be loaded");
    return;
  }
  const std::vector<float> observation(policy->description().observation_size, 0.5f);
  std::vector<float> action(policy->description().action_size);
  Durations durations;
  for (auto _ : state)
    durations.Measure([&] { benchmark::DoNotOptimize(policy->Run(observation, kBalanced, action)); });
  durations.Report(state);
}
BENCHMARK(PolicyRun)->Iterations(100'000);

}  // namespace
}  // namespace weir
