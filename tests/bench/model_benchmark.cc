// Time of one decision of a model with its features, from an interval's statistics to a rate: of the shipped network,
// which Weir itself computes, and of decision trees and an LSTM, which ONNX Runtime computes. Counters p50_us and
// p99_us are of single decisions. The files are from tests/estimator/benchmark_models.py; WEIR_BENCH_TREES and
// WEIR_BENCH_LSTM name others.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "benchmarks.h"
#include "counted_allocations.h"
#include "policy/feature_history.h"
#include "policy/policy.h"

namespace weir {
namespace {

constexpr int64_t kDecisions = 100'000;
// More than a processor learns by heart.
constexpr size_t kIntervals = 4096;

std::vector<std::byte> Read(const char* variable, const std::string& otherwise) {
  const char* const named = std::getenv(variable);
  return ReadFile(named == nullptr ? otherwise : named);
}

// Every field over the whole range that models are tried on at load, at any order of magnitude.
std::vector<IntervalStatistics> RandomIntervals() {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<IntervalStatistics> intervals(kIntervals);
  for (IntervalStatistics& interval : intervals) {
    for (const IntervalStatisticsField& field : kIntervalStatisticsFields) {
      const FeatureRange range = field.quantity.load_check;
      const double magnitude = range.high * std::pow(10.0, -6.0 * uniform(random));
      interval.*field.member = range.low < 0 && uniform(random) < 0.5 ? -magnitude : magnitude;
    }
  }
  return intervals;
}

void Decide(benchmark::State& state, const std::vector<std::byte>& bytes) {
  auto policy = Policy::Load(bytes);
  if (!policy) {
    state.SkipWithError(policy.error().c_str());
    return;
  }
  const ModelDescription& description = policy.value()->description();
  FeatureHistory history(description.features);
  std::vector<float> action(description.action_size);
  const std::vector<IntervalStatistics> intervals = RandomIntervals();
  Durations durations;
  durations.Reserve(kDecisions);
  size_t next = 0;
  int64_t faults = 0;
  const int64_t allocations_before = CountedAllocations();
  for (auto _ : state) {
    durations.Measure([&] {
      history.Add(intervals[next]);
      const PolicyFault fault = policy.value()->Run(history.observation(), kBalanced, action);
      const bool decided = description.action.Apply(action, DataRate::KilobitsPerSecond(1000)).has_value();
      faults += fault == PolicyFault::kNone && decided ? 0 : 1;
    });
    next = (next + 1) % kIntervals;
  }
  state.counters["allocations"] =
      static_cast<double>(CountedAllocations() - allocations_before) / static_cast<double>(state.iterations());
  durations.Report(state);
  state.counters["faults"] = static_cast<double>(faults);
}

void TreeDecision(benchmark::State& state) {
  Decide(state, Read("WEIR_BENCH_TREES", WEIR_TEST_MODELS "/muses_sized.onnx"));
}
BENCHMARK(TreeDecision)->Iterations(kDecisions);

void LstmDecision(benchmark::State& state) {
  Decide(state, Read("WEIR_BENCH_LSTM", WEIR_TEST_MODELS "/lstm_sized.onnx"));
}
BENCHMARK(LstmDecision)->Iterations(kDecisions / 20);

void ShippedDecision(benchmark::State& state) { Decide(state, ShippedModel()); }
BENCHMARK(ShippedDecision)->Iterations(kDecisions);

}  // namespace
}  // namespace weir
