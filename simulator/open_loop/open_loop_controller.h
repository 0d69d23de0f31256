// A controller of either end that receives recorded messages.
#ifndef WEIR_SIMULATOR_OPEN_LOOP_OPEN_LOOP_CONTROLLER_H_
#define WEIR_SIMULATOR_OPEN_LOOP_OPEN_LOOP_CONTROLLER_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "endpoints/controllers.h"
#include "programs/json.h"
#include "weir/units.h"

namespace weir::sim {

class OpenLoopController {
 public:
  using OnTarget = std::function<void(Timestamp time, DataRate target)>;

  OpenLoopController(FlowController controller, const TargetRateConstraints& constraints, OnTarget on_target);

  // Processes one event. Ignores unknown types and events of the other end. Throws ProgramError.
  void OnEvent(JsonObject& event);
  // True once the controller has received a packet.
  bool fed() const { return fed_; }

 private:
  // Executes timeouts until the time of the event, and returns that time. Time never goes backward.
  Timestamp Advance(JsonObject& event);
  void Start(Timestamp now);
  void ExecuteTimeouts(Timestamp until);
  void OnTimeout(Timestamp now);
  Timestamp next_timeout() const;

  void OnProbeCluster(JsonObject& event);
  void OnSent(JsonObject& event);
  void OnFeedback(JsonObject& event);
  void OnReceived(JsonObject& event);

  struct Cluster {
    PacedPacketInfo info;
    int64_t bytes_sent = 0;
  };

  FlowController controller_;
  TargetRateConstraints constraints_;
  const OnTarget on_target_;
  Timestamp now_ = Timestamp::MinusInfinity();
  bool started_ = false;
  bool fed_ = false;
  DataRate target_ = DataRate::Zero();
  // By identifier.
  std::map<int64_t, Cluster> clusters_;
  // Sent packets that are not yet reported received, by sequence number.
  std::map<int64_t, SentPacket> sent_;
};

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_OPEN_LOOP_OPEN_LOOP_CONTROLLER_H_
