// One scenario with its controllers and a seed, put together and run. ns-3 has one simulator a process, so one of these
// exists at a time; any number may follow one another, and none leaves a trace in the next.
#ifndef WEIR_TRAINER_GYM_SIM_SIMULATION_H_
#define WEIR_TRAINER_GYM_SIM_SIMULATION_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "agent_controller.h"
#include "flow_observer.h"
#include "link.h"
#include "rtp_receiver.h"
#include "rtp_sender.h"
#include "scenario.h"
#include "weir/objective.h"

namespace weir::sim {

struct SimulationJob {
  Scenario scenario;
  // What flows "under_test" run, and with which objective; a flow's own objective comes first.
  std::string controller = "rule";
  std::optional<Objective> objective;
  uint64_t seed = 1;
  // For the controller "weir": the model file's bytes, and its name for messages.
  std::span<const std::byte> model;
  std::string model_path;
  // With an agent: it has the first flow under test, and the others run "rule".
  const AgentSpecification* agent = nullptr;
  bool agent_guard = false;
};

class Simulation {
 public:
  // `observers`: one a flow, null for none; they and the job outlive this. Throws InputError.
  Simulation(const SimulationJob& job, std::span<FlowObserver* const> observers);
  // Frees ns-3's simulator.
  ~Simulation();
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  // To the scenario's end, unless Stop() is called from within. Events at the very end are not executed, arrivals at it
  // count.
  void Run();
  void Stop();
  bool stopped() const { return stopped_; }

  Link& forward() { return forward_; }
  Link& reverse() { return reverse_; }
  // Null for flows that are not RTP.
  RtpSender* sender(size_t flow_index) { return flows_[flow_index].sender.get(); }
  RtpReceiver* receiver(size_t flow_index) { return flows_[flow_index].receiver.get(); }
  // The name of an RTP flow's controller.
  const std::string& controller(size_t flow_index) const { return flows_[flow_index].controller; }
  Objective objective(size_t flow_index) const { return flows_[flow_index].objective; }
  // The agent and its flow; null and 0 without one.
  AgentController* agent() { return agent_; }
  size_t agent_flow_index() const { return agent_flow_index_; }

 private:
  struct Flow {
    std::string controller;
    Objective objective;
    std::unique_ptr<RtpSender> sender;
    std::unique_ptr<RtpReceiver> receiver;
    // A TCP or CBR flow.
    std::shared_ptr<void> other;
  };

  void AddRtpFlow(size_t index, FlowObserver* observer);
  std::string ControllerFor(const RtpSpec& rtp, size_t index) const;

  const SimulationJob& job_;
  FlowObserver null_observer_;
  Link forward_;
  Link reverse_;
  std::vector<Flow> flows_;
  AgentController* agent_ = nullptr;
  size_t agent_flow_index_ = 0;
  bool stopped_ = false;
};

// When an RTP flow sends: its active time without the pauses, as spans of ns.
std::vector<std::pair<int64_t, int64_t>> ActiveSpans(const FlowSpec& flow);

// What the flow's link could carry of it in that time, in bits: the capacity, at each instant bounded by what the media
// may send, over the time in which the flow is active.
double CarriableBits(const Scenario& scenario, const FlowSpec& flow, int64_t from_ns, int64_t to_ns);

}  // namespace weir::sim

#endif  // WEIR_TRAINER_GYM_SIM_SIMULATION_H_
