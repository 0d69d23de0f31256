// Scenarios for tests of whole simulations, and functions that read result records.
#ifndef WEIR_TESTS_SIMULATOR_TEST_SCENARIOS_H_
#define WEIR_TESTS_SIMULATOR_TEST_SCENARIOS_H_

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "link/packet.h"
#include "run/run.h"
#include "run/simulation.h"
#include "scenario/scenario.h"
#include "whole_scenario.h"

namespace weir::sim {

using nlohmann::json;

// A receiver's controller has only REMB: packets leave at its rate, without GCC's pacing, window and probes.
inline json RtpFlow(const std::string& id = "media", const std::string& controller = "under_test") {
  return {{"kind", "rtp"}, {"id", id}, {"controller", controller}, {"transport_cc", false}};
}

// One RTP flow under test over a path with 25 ms each way and a drop-tail queue of 300 ms; `capacity` as (start in s,
// bit/s).
inline json PathOf(const std::vector<std::pair<double, int64_t>>& capacity, double duration_s) {
  json times = json::array(), rates = json::array();
  for (const auto& [time_s, rate_bps] : capacity) {
    times.push_back(time_s);
    rates.push_back(rate_bps);
  }
  return {{"schema", "weir.scenario/1"},
          {"name", "test"},
          {"duration_s", duration_s},
          {"forward", {{"capacity", {{"times_s", times}, {"rates_bps", rates}}}, {"one_way_delay_ms", 25.0}}},
          {"flows", json::array({RtpFlow()})}};
}

inline json Steady(int64_t rate_bps, double duration_s) { return PathOf({{0.0, rate_bps}}, duration_s); }

inline SimulationJob JobOf(const json& scenario, const std::string& controller, uint64_t seed = 1) {
  SimulationJob job;
  job.scenario = ParseScenario(WholeScenario(scenario));
  job.controller = controller;
  job.seed = seed;
  return job;
}

inline nlohmann::ordered_json RunScenario(const json& scenario, const std::string& controller, uint64_t seed = 1) {
  return RunJob(JobOf(scenario, controller, seed), true);
}

// Keeps all packets of a flow, and its targets.
class RecordingObserver final : public FlowObserver {
 public:
  void OnSent(const Packet& packet) override { sent.push_back(packet); }
  void OnReceived(const Packet& packet, SimTime arrival_time) override { received.emplace_back(packet, arrival_time); }
  void OnDropped(const Packet& packet) override { dropped.push_back(packet); }
  void OnTargetRate(DataRate target_rate, SimTime time) override { targets.emplace_back(time, target_rate.bps()); }
  void OnFeedbackReceived(SimTime, SimTime) override { ++feedback_received; }

  std::vector<Packet> sent;
  std::vector<std::pair<Packet, SimTime>> received;
  std::vector<Packet> dropped;
  std::vector<std::pair<SimTime, int64_t>> targets;  // bit/s
  size_t feedback_received = 0;
};

inline void RunObserved(const json& scenario, const std::string& controller, RecordingObserver& observer) {
  const SimulationJob job = JobOf(scenario, controller);
  std::vector<FlowObserver*> observers(job.scenario.flows.size(), nullptr);
  observers[0] = &observer;
  Simulation simulation(job, observers);
  simulation.Run();
}

inline double Utilisation(const nlohmann::ordered_json& flow) {
  return flow["bytes_received"].get<double>() / flow["achievable_bytes"].get<double>();
}

// The mean of a flow's series of 0.1 s steps from one time to another.
inline double MeanOver(const nlohmann::ordered_json& flow, const char* series, double from_s, double to_s) {
  const auto& values = flow["series"][series];
  double sum = 0;
  const size_t from = static_cast<size_t>(std::lround(from_s * 10)), to = static_cast<size_t>(std::lround(to_s * 10));
  for (size_t i = from; i < to; ++i) sum += values[i].get<double>();
  return sum / static_cast<double>(to - from);
}

}  // namespace weir::sim

#endif  // WEIR_TESTS_SIMULATOR_TEST_SCENARIOS_H_
