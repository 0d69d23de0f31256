// The path of a scenario between two real ends: its links with real packets on them, the scenario's other flows, and a
// log. The real packets replace the scenario's first RTP flow.
#ifndef WEIR_SIMULATOR_REAL_TIME_REAL_TIME_LINK_H_
#define WEIR_SIMULATOR_REAL_TIME_REAL_TIME_LINK_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/event.h"
#include "core/sim_time.h"
#include "endpoints/simulation_job.h"
#include "flows/flow_set.h"
#include "link/packet.h"
#include "link_direction.h"
#include "tun.h"

namespace weir::sim {

struct RealTimeLinkConfig {
  // Descriptors to write packets for the left end and for the right end to.
  int left_fd = -1;
  int right_fd = -1;
  SimDuration log_interval = SimDuration::Millis(100);
  // In ns; CLOCK_MONOTONIC except in tests.
  int64_t (*clock)() = nullptr;
  // Receives one line per direction and interval.
  std::function<void(const nlohmann::ordered_json&)> on_log;
  // Called when the machine cannot keep up with real time.
  std::function<void(const std::string&)> on_too_slow;
};

class RealTimeLink {
 public:
  // The index of the first RTP flow. Throws ProgramError if there is none.
  static size_t RealFlowIndex(const Scenario& scenario);

  // Carries only real packets until Start. Uses ns-3's simulator and must outlive its last event. Throws ProgramError.
  RealTimeLink(SimulationJob job, RealTimeLinkConfig config);
  ~RealTimeLink() = default;
  RealTimeLink(const RealTimeLink&) = delete;
  RealTimeLink& operator=(const RealTimeLink&) = delete;

  // From the left end to the right, and back.
  LinkDirection& forward() { return forward_; }
  LinkDirection& reverse() { return reverse_; }

  // Starts the scenario at Simulator::Now(). After its end, the capacity continues to follow its trace, and the other
  // flows have stopped. Throws ProgramError if called twice.
  void Start();
  // Both directions drop all packets for that long, including those in flight that arrive meanwhile.
  void Down(SimDuration duration);
  // Logs the time since the last line.
  void WriteLog();

 private:
  void OnLogTimeout();
  void OnUp();
  void CheckLag(int64_t clock_ns, int64_t lag_ns);

  // After Start, its flows' times count from the start.
  SimulationJob job_;
  const RealTimeLinkConfig config_;
  const size_t real_flow_index_;
  LinkDirection forward_;
  LinkDirection reverse_;
  // One per flow.
  std::vector<FlowObserver*> observers_;
  std::optional<FlowSet> flows_;

  std::optional<SimTime> start_;
  SimTime up_time_ = kTimeZero;
  // The smallest lead of the clock over the simulator's time, and since when the lead has exceeded it by kSlowNs.
  std::optional<int64_t> clock_offset_ns_;
  std::optional<int64_t> slow_since_ns_;
  Timer<RealTimeLink, &RealTimeLink::OnLogTimeout> log_timer_;
  Timer<RealTimeLink, &RealTimeLink::OnUp> up_timer_;
};

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_REAL_TIME_REAL_TIME_LINK_H_
