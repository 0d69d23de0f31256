// Time of one arrival with the shipped model as pilot, and of one decision without a model. Prints the median over
// repetitions with --benchmark_repetitions=N --benchmark_report_aggregates_only=true.
// --benchmark_repetitions=N --benchmark_report_aggregates_only=true.
#include <benchmark/benchmark.h>

#include <memory>
#include <utility>
#include <vector>

#include "counted_allocations.h"
#include "shipped_model.h"
#include "test_pool.h"
#include "weir/bandwidth_estimator.h"
#include "weir/controllers/nada_controller.h"
#include "weir/controllers/rule_controller.h"
#include "weir/policy/policy_controller.h"

namespace weir {
namespace {

// 300 packets a second with slowly varying delay, an audio packet after every fifth.
std::vector<PacketArrival> Packets(size_t count) {
  std::vector<PacketArrival> packets;
  uint16_t sequence_numbers[2] = {};
  for (size_t i = 0; i < count; ++i) {
    const auto sent_us = static_cast<int64_t>(i) * 3333;
    const size_t stream = i % 6 == 5;
    PacketArrival packet;
    packet.arrival_time = Timestamp::Micros(sent_us + 25'000 + static_cast<int64_t>(i % 64) * 200);
    packet.ssrc = static_cast<uint32_t>(stream + 1);
    packet.sequence_number = sequence_numbers[stream]++;
    packet.kind = stream == 0 ? PacketKind::kVideo : PacketKind::kAudio;
    packet.has_abs_send_time = true;
    packet.abs_send_time = static_cast<uint32_t>((sent_us << 18) / 1'000'000) & 0xFFFFFF;
    packet.header_size = 20;
    packet.payload_size = stream == 0 ? 1100 : 160;
    packets.push_back(packet);
  }
  return packets;
}

// Sequence numbers and send times stay continuous when a round begins anew.
constexpr size_t kPackets = 6 * 65'536;

void OnPacket(benchmark::State& state) {
  const std::vector<PacketArrival> packets = Packets(kPackets);
  auto policy = Policy::Load(ShippedModel());
  if (!policy) {
    state.SkipWithError("the shipped model cannot be loaded");
    return;
  }
  BandwidthEstimator estimator({}, std::make_unique<PolicyController>(std::move(policy.value())));
  benchmark::DoNotOptimize(estimator.OnTimeout(Timestamp::Micros(0)));
  size_t i = 0;
  int64_t round_us = 0;
  const int64_t allocations_before = CountedAllocations();
  for (auto _ : state) {
    PacketArrival packet = packets[i];
    packet.arrival_time += TimeDelta::Micros(round_us);
    estimator.OnPacket(packet);
    if (++i == packets.size()) {
      i = 0;
      round_us += static_cast<int64_t>(kPackets) * 3333;
    }
  }
  state.counters["allocations_per_packet"] = benchmark::Counter(
      static_cast<double>(CountedAllocations() - allocations_before), benchmark::Counter::kAvgIterations);
  const ArrivalCounters arrivals = estimator.counters().arrivals;
  if (arrivals.duplicates + arrivals.invalid + arrivals.restarts > 0)
    state.SkipWithError("the stream is not continuous");
}
BENCHMARK(OnPacket);

void DecisionOfRuleAndNada(benchmark::State& state) {
  BandwidthEstimator estimator(
      {}, PoolOf(ControllersOf(std::make_unique<RuleController>(), std::make_unique<NadaController>()),
                 {.pilot = {}, .fusion = Fusion::Kind::kMin}));
  Timestamp now = Timestamp::Micros(0);
  for (auto _ : state) {
    benchmark::DoNotOptimize(estimator.OnTimeout(now));
    now += TimeDelta::Millis(100);
  }
}
BENCHMARK(DecisionOfRuleAndNada);

}  // namespace
}  // namespace weir
