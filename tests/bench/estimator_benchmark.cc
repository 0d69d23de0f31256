// Time of one arrival with the shipped model as pilot, of what a copilot adds to it, and of one decision without a
// model. Prints the median over repetitions with --benchmark_repetitions=N --benchmark_report_aggregates_only=true.
#include <benchmark/benchmark.h>

#include <chrono>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "benchmarks.h"
#include "controllers/nada_controller.h"
#include "controllers/rule_controller.h"
#include "counted_allocations.h"
#include "made_estimator.h"
#include "policy/policy.h"
#include "test_pool.h"
#include "test_stream.h"
#include "weir/bandwidth_estimator.h"
#include "weir/policy_controller.h"

namespace weir {
namespace {

// 300 packets a second with slowly varying delay, an audio packet after every fifth.
std::vector<PacketArrival> Packets(size_t count) {
  std::vector<PacketArrival> packets;
  TestStream video(1), audio(2);
  for (size_t i = 0; i < count; ++i) {
    const auto sent = Timestamp::Micros(static_cast<int64_t>(i) * 3333);
    const auto delay = TimeDelta::Micros(25'000 + static_cast<int64_t>(i % 64) * 200);
    const bool is_audio = i % 6 == 5;
    packets.push_back(is_audio ? audio.Next(sent, delay, 160) : video.Next(sent, delay, 1100));
    packets.back().kind = is_audio ? PacketKind::kAudio : PacketKind::kVideo;
  }
  return packets;
}

// Sequence numbers stay continuous when a round begins anew; send times are shifted with it.
constexpr size_t kPackets = 6 * 65'536;

void OnPacket(benchmark::State& state) {
  const std::vector<PacketArrival> packets = Packets(kPackets);
  auto policy = Policy::Load(ShippedModel());
  if (!policy) {
    state.SkipWithError("the shipped model cannot be loaded");
    return;
  }
  BandwidthEstimator estimator = MadeEstimator({}, std::make_unique<PolicyController>(std::move(policy.value())));
  benchmark::DoNotOptimize(estimator.OnTimeout(Timestamp::Micros(0)));
  size_t i = 0;
  int64_t round_us = 0;
  uint32_t round_ticks = 0;
  const int64_t allocations_before = CountedAllocations();
  for (auto _ : state) {
    PacketArrival packet = packets[i];
    packet.arrival_time += TimeDelta::Micros(round_us);
    packet.abs_send_time = (packet.abs_send_time + round_ticks) & 0xFFFFFF;
    estimator.OnPacket(packet);
    if (++i == packets.size()) {
      i = 0;
      round_us += static_cast<int64_t>(kPackets) * 3333;
      round_ticks = AbsSendTime(Timestamp::Micros(round_us));
    }
  }
  state.counters["allocations_per_packet"] = benchmark::Counter(
      static_cast<double>(CountedAllocations() - allocations_before), benchmark::Counter::kAvgIterations);
  const ArrivalCounters arrivals = estimator.counters().arrivals;
  if (arrivals.duplicates + arrivals.invalid + arrivals.restarts > 0)
    state.SkipWithError("the stream is not continuous");
}
BENCHMARK(OnPacket);

// Blocks of packets by turns to NADA alone and to NADA with the rule and itself as copilots. The counter is what one of
// them adds to a packet, in nanoseconds: the median over blocks, in few of which something else ran.
void OnPacketOfCopilots(benchmark::State& state) {
  constexpr size_t kBlock = 1024;
  constexpr int kCopilots = 2;
  const std::vector<PacketArrival> packets = Packets(kPackets);
  BandwidthEstimator alone = MadeEstimator({}, std::make_unique<NadaController>());
  Controllers members = ControllersOf(std::make_unique<NadaController>(), std::make_unique<RuleController>(),
                                      std::make_unique<NadaController>());
  BandwidthEstimator pool = MadeEstimator(
      {}, PoolOf(std::move(members), {.pilot = {}, .fusion = FusionKind::kMin, .policy = PilotPolicyKind::kByTrust}));
  const auto duration_ns = [](BandwidthEstimator& estimator, std::span<const PacketArrival> block) {
    const auto begin = std::chrono::steady_clock::now();
    for (const PacketArrival& packet : block) estimator.OnPacket(packet);
    return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count();
  };
  for (BandwidthEstimator* estimator : {&alone, &pool}) {
    benchmark::DoNotOptimize(estimator->OnTimeout(Timestamp::Micros(0)));
  }
  std::vector<double> more_ns;
  for (auto _ : state) {
    const std::span block = std::span(packets).subspan(more_ns.size() * kBlock, kBlock);
    const double alone_ns = duration_ns(alone, block);
    more_ns.push_back((duration_ns(pool, block) - alone_ns) / kBlock / kCopilots);
  }
  state.counters["ns_a_copilot"] = Quantile(more_ns, 0.5);
}
BENCHMARK(OnPacketOfCopilots)->Iterations(300);

void DecisionOfRuleAndNada(benchmark::State& state) {
  BandwidthEstimator estimator =
      MadeEstimator({}, PoolOf(ControllersOf(std::make_unique<RuleController>(), std::make_unique<NadaController>()),
                               {.pilot = {}, .fusion = FusionKind::kMin}));
  Timestamp now = Timestamp::Micros(0);
  for (auto _ : state) {
    benchmark::DoNotOptimize(estimator.OnTimeout(now));
    now += TimeDelta::Millis(100);
  }
}
BENCHMARK(DecisionOfRuleAndNada);

}  // namespace
}  // namespace weir
