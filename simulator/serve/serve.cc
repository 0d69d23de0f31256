#include "serve/serve.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "programs/input.h"
#include "programs/json.h"
#include "run/simulation.h"
#include "serve/frame_channel.h"
#include "serve/policy_request.h"
#include "serve/serve_request.h"
#include "serve/step_recorder.h"

namespace weir::sim {
namespace {

enum Flags : uint8_t { kTruncated = 2 };

// The run of one request. Requests decisions over the channel, from within the simulation.
class Episode final : private DecisionSource {
 public:
  Episode(ServeRequest request, FrameChannel* channel, const MakeStack& make_stack)
      : request_(std::move(request)), channel_(channel), make_stack_(make_stack) {}

  // Runs to the scenario's end, or to the first frame that is not a step. Throws ProgramError.
  void Run();
  // The frame that ended the run early; empty if the scenario or the input ended.
  const std::optional<Frame>& last_frame() const { return last_frame_; }

 private:
  std::optional<std::span<const float>> Decide(std::span<const float> observation) override;
  void SendGreeting();
  void SendObservation(uint8_t flags, std::span<const float> observation, SimTime next_step);
  void TakeStep(std::string_view payload);
  // The ends of the agent's flow.
  RtpEnds& ends() { return *simulation_->flows()[flow_index_].rtp; }

  ServeRequest request_;
  FrameChannel* const channel_;
  const MakeStack& make_stack_;
  FrameWriter writer_;
  std::unique_ptr<StepRecorder> recorder_;
  Simulation* simulation_ = nullptr;
  // The place of the agent's flow in the scenario.
  size_t flow_index_ = 0;
  std::vector<float> action_;
  // The objective of the last step.
  Objective objective_;
  std::optional<Frame> last_frame_;
};

void Episode::Run() {
  SimulationJob& job = request_.job;
  request_.agent.source = this;
  job.agent = &request_.agent;
  flow_index_ = AgentFlowIndex(job.scenario);
  recorder_ = std::make_unique<StepRecorder>(job.scenario, job.scenario.flows[flow_index_], request_.packets);
  std::vector<FlowObserver*> observers(job.scenario.flows.size(), nullptr);
  observers[flow_index_] = recorder_.get();
  Simulation simulation(job, observers, make_stack_);
  simulation_ = &simulation;
  objective_ = simulation.flows()[flow_index_].flow.objective;
  SendGreeting();
  simulation.Run();
  if (simulation.stopped()) return;
  const SimTime end = job.scenario.end();
  SendObservation(kTruncated, simulation.flows().agent()->ObservationAt(ToTimestamp(end)),
                  end + ToSimDuration(request_.agent.interval));
}

void Episode::SendGreeting() {
  std::vector<std::string_view> fields(kStepFields.begin(), kStepFields.end());
  if (ends().follows_frames()) fields.insert(fields.end(), kViewedFields.begin(), kViewedFields.end());
  nlohmann::ordered_json greeting{{"observation_size", request_.agent.features.size()}, {"step_fields", fields}};
  const std::string text = JsonText(greeting);
  writer_.Start('C');
  writer_.AddBytes(text.data(), text.size());
  channel_->Write(writer_.Finish());
}

std::optional<std::span<const float>> Episode::Decide(std::span<const float> observation) {
  if (simulation_->stopped()) return std::nullopt;
  const SimTime next_step = std::min(Now() + ToSimDuration(request_.agent.interval), request_.job.scenario.end());
  SendObservation(0, observation, next_step);
  const std::optional<Frame> frame = channel_->Read();
  if (!frame || frame->type != 'S') {
    last_frame_ = frame;
    simulation_->Stop();
    return std::nullopt;
  }
  TakeStep(frame->payload);
  return action_;
}

void Episode::TakeStep(std::string_view payload) {
  const ActionMapping& mapping = request_.agent.action;
  AgentStep step = OrThrow(ParseAgentStep(payload, mapping));
  action_ = std::move(step.action);
  objective_ = step.objective.value_or(objective_);
  if (!mapping.Apply(action_, mapping.min_rate))
    throw ProgramError("an action that is not finite, or that names no multiplier");
}

void Episode::SendObservation(uint8_t flags, std::span<const float> observation, SimTime next_step) {
  const Flow& flow = simulation_->flows()[flow_index_].flow;
  const auto fields = recorder_->Finish(*flow.data_link, *flow.return_link, objective_, Now(), next_step);
  writer_.Start('O');
  writer_.Add(flags);
  writer_.AddBytes(observation.data(), observation.size_bytes());
  writer_.AddBytes(fields.data(), sizeof(fields));
  if (ends().follows_frames()) {
    const auto viewed = ends().TakeViewedStep(Now()).values();
    writer_.AddBytes(viewed.data(), sizeof(viewed));
  }
  if (request_.packets) {
    writer_.Add(static_cast<uint32_t>(recorder_->packets().size()));
    for (const StepRecorder::ReceivedPacket& packet : recorder_->packets()) {
      writer_.Add(ToMilliseconds(packet.sent_time - kTimeZero));
      writer_.Add(ToMilliseconds(packet.arrival_time - kTimeZero));
      writer_.Add(packet.rtp.ssrc);
      writer_.Add(packet.rtp.sequence_number);
      writer_.Add(packet.rtp.payload_type);
      writer_.Add(static_cast<uint8_t>(packet.rtp.kind));
      writer_.Add(packet.rtp.padding_size);
      writer_.Add(packet.rtp.header_size);
      writer_.Add(packet.rtp.payload_size);
    }
  }
  recorder_->Clear();
  channel_->Write(writer_.Finish());
}

void SendError(FrameChannel& channel, const std::string& message) {
  FrameWriter writer;
  writer.Start('E');
  writer.AddBytes(message.data(), message.size());
  channel.Write(writer.Finish());
}

}  // namespace

bool Serve(int input_fd, int output_fd, const MakeStack& make_stack) {
  FrameChannel channel(input_fd, output_fd);
  std::optional<Frame> frame = channel.Read();
  while (frame && frame->type != 'Q') {
    std::optional<Frame> next;
    try {
      if (frame->type == 'S') throw ProgramError("a step without a run: it is over, or was never reset");
      if (frame->type != 'R') throw ProgramError("unknown frame type " + std::to_string(int{frame->type}));
      Episode episode(ParseServeRequest(frame->payload), &channel, make_stack);
      episode.Run();
      next = episode.last_frame();
    } catch (const ProgramError& error) {
      SendError(channel, error.what());
    } catch (const std::bad_alloc&) {
      SendError(channel, kOutOfMemory);
    }
    if (channel.broken()) return false;
    frame = next ? next : channel.Read();
  }
  return !channel.broken();
}

}  // namespace weir::sim
