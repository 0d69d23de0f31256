// A bare network for driving rate controllers in simulated time: one FIFO bottleneck that drops at its tail, flows that
// always have media to send, and feedback that takes its time. It shares nothing with simulator/, so that the two can
// be compared.
#ifndef WEIR_TESTS_WEBRTC_PATCH_BARE_NETWORK_H_
#define WEIR_TESTS_WEBRTC_PATCH_BARE_NETWORK_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "weir/network_controller.h"

namespace weir::bare {

// Simulated time starts here; no controller may care where.
inline constexpr Timestamp kStart = Timestamp::Micros(0);
constexpr Timestamp At(int64_t seconds) { return kStart + TimeDelta::Seconds(seconds); }
constexpr DataRate Kbps(int64_t kbps) { return DataRate::KilobitsPerSecond(kbps); }

struct CapacityStep {
  Timestamp from = kStart;
  DataRate rate = DataRate::Zero();
};

struct PathConfig {
  // At least one step, the first at kStart, times strictly increasing, the last rate above 0. A rate of 0 is an outage
  // that queues.
  std::vector<CapacityStep> capacity;
  // The same in both directions.
  TimeDelta one_way_delay = TimeDelta::Millis(25);
  DataSize queue = DataSize::Zero();
  // From then on each packet is lost with this probability before it reaches the queue.
  double loss_ratio = 0;
  Timestamp loss_from = kStart;
  uint64_t seed = 1;

  static PathConfig Steady(DataRate rate) { return Steps({{kStart, rate}}, rate); }
  // The queue holds 300 ms of `mean`.
  static PathConfig Steps(std::vector<CapacityStep> capacity, DataRate mean);
};

struct FlowConfig {
  std::unique_ptr<NetworkController> controller;
  TargetRateConstraints constraints;
  Timestamp start = kStart;
  // Largest rate of the media; below its target rate a flow is limited by its application.
  DataRate max_media_rate = DataRate::KilobitsPerSecond(50'000);
  bool loss_reports = true;
  // Probe clusters asked for are left unsent when false.
  bool send_probes = true;
};

struct TargetChange {
  Timestamp time;
  DataRate target_rate;
  friend bool operator==(const TargetChange&, const TargetChange&) = default;
};

struct Delivery {
  Timestamp arrival_time;
  TimeDelta one_way_delay;
  DataSize size;
  bool probe;
  friend bool operator==(const Delivery&, const Delivery&) = default;
};

struct FlowResult {
  std::vector<TargetChange> targets;
  std::vector<Delivery> deliveries;
  int64_t packets_sent = 0;
  int64_t packets_dropped = 0;
  int64_t probe_clusters = 0;

  // IP bytes delivered in [from, to) per time.
  DataRate ReceiveRate(Timestamp from, Timestamp to) const;
  // The target in force at that time; zero before the first.
  DataRate TargetAt(Timestamp time) const;
  // `ratio` in [0, 1], of the one-way delays of the whole run.
  TimeDelta DelayQuantile(double ratio) const;
  double LossRatio() const { return packets_sent > 0 ? double(packets_dropped) / double(packets_sent) : 0; }
};

// Runs all flows over one path until kStart + duration.
std::vector<FlowResult> Simulate(const PathConfig& path, std::vector<FlowConfig> flows, TimeDelta duration);
FlowResult Simulate(const PathConfig& path, std::unique_ptr<NetworkController> controller, TimeDelta duration);

// `run`, which takes the path, gives the same twice; returns it.
template <typename Run>
FlowResult ExpectTheSameTwice(const PathConfig& path, const Run& run) {
  FlowResult first = run(path);
  const FlowResult second = run(path);
  EXPECT_EQ(first.targets, second.targets);
  EXPECT_EQ(first.deliveries, second.deliveries);
  return first;
}

}  // namespace weir::bare

#endif  // WEIR_TESTS_WEBRTC_PATCH_BARE_NETWORK_H_
