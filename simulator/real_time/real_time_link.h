// The path of a scenario between two real ends: its links with real packets on them, the scenario's other flows beside,
// and a log. The scenario's first RTP flow is what the real packets stand for.
#ifndef WEIR_SIMULATOR_REAL_TIME_REAL_TIME_LINK_H_
#define WEIR_SIMULATOR_REAL_TIME_REAL_TIME_LINK_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/event.h"
#include "endpoints/simulation_job.h"
#include "flows/flow_set.h"
#include "link/packet.h"
#include "link_direction.h"
#include "tun.h"

namespace weir::sim {

struct RealTimeLinkConfig {
  // Where packets for the left end are written to, and those for the right.
  int left_fd = -1;
  int right_fd = -1;
  int64_t log_interval_ns = 100'000'000;
  // In ns; CLOCK_MONOTONIC, but in tests.
  int64_t (*clock)() = nullptr;
  // One line a direction and interval.
  std::function<void(const nlohmann::ordered_json&)> on_log;
  // The machine does not keep up with real time, and will not.
  std::function<void(const std::string&)> on_too_slow;
};

class RealTimeLink {
 public:
  // The first RTP flow. Throws ProgramError when there is none.
  static size_t RealFlowIndex(const Scenario& scenario);

  // Carries nothing but real packets until Start. Uses ns-3's simulator, and outlives its last event. Throws
  // ProgramError.
  RealTimeLink(SimulationJob job, RealTimeLinkConfig config);
  ~RealTimeLink() = default;
  RealTimeLink(const RealTimeLink&) = delete;
  RealTimeLink& operator=(const RealTimeLink&) = delete;

  // From the left end to the right, and back.
  LinkDirection& forward() { return forward_; }
  LinkDirection& reverse() { return reverse_; }

  // The scenario begins, at Simulator::Now(). After its end, the capacity continues to follow its trace, and the other
  // flows have stopped. Throws ProgramError the second time.
  void Start();
  // Both directions drop everything for that long, what arrives included.
  void Down(int64_t duration_ns);
  // Logs what has been since the last line.
  void WriteLog();

 private:
  void OnLogTimeout();
  void OnUp();
  void CheckLag(int64_t clock_ns, int64_t lag_ns);

  // With its flows' times moved to the start, once there is one.
  SimulationJob job_;
  const RealTimeLinkConfig config_;
  const size_t real_flow_index_;
  LinkDirection forward_;
  LinkDirection reverse_;
  // One a flow.
  std::vector<FlowObserver*> observers_;
  std::unique_ptr<Stack> stack_;
  std::optional<FlowSet> flows_;

  std::optional<int64_t> start_ns_;
  int64_t up_ns_ = 0;
  // The least that the clock has been ahead of the simulator's time, and since when it has been far more than that.
  std::optional<int64_t> clock_offset_ns_;
  std::optional<int64_t> slow_since_ns_;
  Timer<RealTimeLink, &RealTimeLink::OnLogTimeout> log_timer_;
  Timer<RealTimeLink, &RealTimeLink::OnUp> up_timer_;
};

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_REAL_TIME_REAL_TIME_LINK_H_
