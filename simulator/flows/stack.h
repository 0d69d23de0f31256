// The endpoints of RTP flows: the simulator's own, or those of another stack.
#ifndef WEIR_SIMULATOR_FLOWS_STACK_H_
#define WEIR_SIMULATOR_FLOWS_STACK_H_

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>

#include "core/sim_time.h"
#include "endpoints/agent.h"
#include "endpoints/flow.h"
#include "endpoints/simulation_job.h"
#include "flows/viewed_step.h"
#include "media/playout_limits.h"

namespace weir::sim {

// Sender and receiver of an RTP flow.
class RtpEnds {
 public:
  virtual ~RtpEnds() = default;

  // Makes the receiver process all packets that have arrived by `until`.
  virtual void ProcessArrivals(SimTime /*until*/) {}
  // Null without an agent.
  virtual PolicyController* agent() { return nullptr; }
  // Adds the counts of feedback, repair and the estimator to the flow's record.
  virtual void AddTo(nlohmann::ordered_json& record) const = 0;
  // For the recorder's frames.
  virtual PlayoutLimits playout_limits() const { return {}; }
  // True if FrameColumns() has the frames with their rendering times; else the flow's recorder follows packets.
  virtual bool follows_frames() const { return false; }
  virtual nlohmann::ordered_json FrameColumns() const { return nullptr; }
  // The step of an agent's flow since the previous call, or the beginning; only if follows_frames().
  virtual ViewedStep TakeViewedStep(SimTime /*now*/) { return {}; }
};

// Makes the simulator's own endpoints of a flow and schedules the flow's start. The flow must outlive the simulation's
// last event. Throws ProgramError.
std::unique_ptr<RtpEnds> MakeModelEnds(const Flow& flow);

// Replaces the simulator's own endpoints, for all RTP flows of a simulation.
class Stack {
 public:
  virtual ~Stack() = default;

  // As MakeModelEnds().
  virtual std::unique_ptr<RtpEnds> AddRtpFlow(const Flow& flow) = 0;
  // Executes events until ns-3's simulator is stopped. Throws ProgramError.
  virtual void Run() = 0;
};

// Called once for each simulation, when its simulated time is 0. The job and the links must outlive the result. An
// empty function stands for the simulator's own endpoints.
using MakeStack = std::function<std::unique_ptr<Stack>(const SimulationJob& job)>;

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_FLOWS_STACK_H_
