// Stacks, which carry the RTP flows of a simulation: the simulator's own endpoints, or libwebrtc's.
#ifndef WEIR_SIMULATOR_FLOWS_STACK_H_
#define WEIR_SIMULATOR_FLOWS_STACK_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "endpoints/agent.h"
#include "endpoints/simulation_job.h"
#include "flows/viewed_step.h"
#include "link/link.h"
#include "link/packet.h"
#include "weir/objective.h"

namespace weir::sim {

// Inputs of an RTP flow except its specification. The job, the links and the observer must outlive the simulation's
// last event.
struct RtpFlowContext {
  const SimulationJob& job;
  size_t index;
  // Name of its controller, which may be kAgentName.
  std::string controller;
  Objective objective;
  Link* media_link;
  Link* rtcp_link;
  FlowObserver* observer;
};

// Sender and receiver of an RTP flow.
class RtpEnds {
 public:
  virtual ~RtpEnds() = default;

  // Makes the receiver process all packets that have arrived by `until_ns`.
  virtual void ProcessArrivals(int64_t /*until_ns*/) {}
  // Null without an agent.
  virtual PolicyController* agent() { return nullptr; }
  // Adds the counts of feedback, repair and the estimator to the flow's record.
  virtual void AddTo(nlohmann::ordered_json& record) const = 0;
  // True if FrameColumns() has the frames with their rendering times; else the flow's recorder follows packets.
  virtual bool follows_frames() const { return false; }
  virtual nlohmann::ordered_json FrameColumns() const { return nullptr; }
  // The step of an agent's flow since the previous call, or the beginning; only if follows_frames().
  virtual ViewedStep TakeViewedStep(int64_t /*now_ns*/) { return {}; }
};

class Stack {
 public:
  virtual ~Stack() = default;

  // Schedules the flow's start. Throws ProgramError.
  virtual std::unique_ptr<RtpEnds> AddRtpFlow(const RtpFlowContext& context) = 0;
  // Executes events until ns-3's simulator is stopped. Throws ProgramError.
  virtual void Run() = 0;
};

// Called once for each simulation, when its simulated time is 0. The job and the links must outlive the result.
using MakeStack = std::function<std::unique_ptr<Stack>(const SimulationJob& job)>;

// The simulator's own endpoints.
std::unique_ptr<Stack> MakeModelStack(const SimulationJob& job);

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_FLOWS_STACK_H_
