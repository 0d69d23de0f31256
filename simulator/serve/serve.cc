#include "serve/serve.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "programs/input.h"
#include "programs/json.h"
#include "run/request.h"
#include "run/simulation.h"
#include "serve/frame_channel.h"
#include "serve/serve_request.h"
#include "serve/step_recorder.h"

namespace weir::sim {
namespace {

enum Flags : uint8_t { kTruncated = 2 };

// The run of one request. Requests decisions over the channel, from within the simulation.
class Episode final : private DecisionSource {
 public:
  Episode(ServeRequest request, FrameChannel* channel, const MakeStack& make_stack)
      : request_(std::move(request)),
        channel_(channel),
        flow_index_(AgentFlowIndex(scenario())),
        recorder_(scenario(), scenario().flows[flow_index_], request_.packets),
        observers_(scenario().flows.size(), nullptr),
        simulation_(PreparedJob(), observers_, make_stack),
        objective_(simulation_.flows()[flow_index_].flow.objective) {}

  // Runs to the scenario's end, or to the first frame that is not a step. Returns the frame that ended the run early;
  // nothing if the scenario or the input ended. Throws ProgramError.
  std::optional<Frame> Run();

 private:
  std::optional<std::span<const float>> Decide(std::span<const float> observation) override;
  const SimulationJob& PreparedJob();
  void SendGreeting();
  void SendObservation(uint8_t flags, std::span<const float> observation, SimTime next_step);
  void TakeStep(std::string_view payload);
  const Scenario& scenario() const { return request_.job.scenario; }
  SimDuration interval() const { return ToSimDuration(request_.agent.interval); }
  // The ends of the agent's flow.
  RtpEnds& ends() { return *simulation_.flows()[flow_index_].rtp; }

  ServeRequest request_;
  FrameChannel* const channel_;
  const size_t flow_index_;
  StepRecorder recorder_;
  std::vector<FlowObserver*> observers_;
  Simulation simulation_;
  // The objective of the last step.
  Objective objective_;
  float action_ = 0;
  std::string payload_;
  std::optional<Frame> last_frame_;
};

const SimulationJob& Episode::PreparedJob() {
  request_.agent.source = this;
  request_.job.agent = &request_.agent;
  observers_[flow_index_] = &recorder_;
  return request_.job;
}

std::optional<Frame> Episode::Run() {
  SendGreeting();
  simulation_.Run();
  if (simulation_.stopped()) return last_frame_;
  const SimTime end = scenario().end();
  SendObservation(kTruncated, simulation_.flows().agent()->ObservationAt(ToTimestamp(end)), end + interval());
  return std::nullopt;
}

void Episode::SendGreeting() {
  std::vector<std::string_view> fields(kStepFields.begin(), kStepFields.end());
  if (ends().follows_frames()) fields.insert(fields.end(), kViewedFields.begin(), kViewedFields.end());
  channel_->Write('C', JsonText({{"observation_size", request_.agent.features.size()}, {"step_fields", fields}}));
}

std::optional<std::span<const float>> Episode::Decide(std::span<const float> observation) {
  if (simulation_.stopped()) return std::nullopt;
  SendObservation(0, observation, std::min(Now() + interval(), scenario().end()));
  const std::optional<Frame> frame = channel_->Read();
  if (!frame || frame->type != 'S') {
    last_frame_ = frame;
    simulation_.Stop();
    return std::nullopt;
  }
  TakeStep(frame->payload);
  return std::span(&action_, 1);
}

void Episode::TakeStep(std::string_view payload) {
  float weights[3];
  if (payload.size() != sizeof(action_) + sizeof(weights))
    throw ProgramError("a step of " + std::to_string(payload.size()) +
                       " bytes: it must hold 1 float32 of action and 3 of objective");
  std::memcpy(&action_, payload.data(), sizeof(action_));
  std::memcpy(weights, payload.data() + sizeof(action_), sizeof(weights));
  if (!std::ranges::all_of(weights, [](float weight) { return std::isnan(weight); })) {
    const std::optional<Objective> objective = NormalizedObjective(weights[0], weights[1], weights[2]);
    if (!objective)
      throw ProgramError("the objective of a step must be three weights above 0, or three NaN for no change");
    objective_ = *objective;
  }
  if (!std::isfinite(action_)) throw ProgramError("an action that is not finite");
}

void Episode::SendObservation(uint8_t flags, std::span<const float> observation, SimTime next_step) {
  const Flow& flow = simulation_.flows()[flow_index_].flow;
  payload_.clear();
  Append(payload_, flags);
  Append(payload_, observation);
  const auto fields = recorder_.Finish(*flow.data_link, *flow.return_link, objective_, Now(), next_step);
  Append(payload_, std::span(std::as_const(fields)));
  if (ends().follows_frames()) {
    const auto viewed = ends().TakeViewedStep(Now()).values();
    Append(payload_, std::span(std::as_const(viewed)));
  }
  if (request_.packets) {
    Append(payload_, static_cast<uint32_t>(recorder_.packets().size()));
    for (const StepRecorder::ReceivedPacket& packet : recorder_.packets()) {
      Append(payload_, ToMilliseconds(packet.sent_time - kTimeZero));
      Append(payload_, ToMilliseconds(packet.arrival_time - kTimeZero));
      Append(payload_, packet.rtp.ssrc);
      Append(payload_, packet.rtp.sequence_number);
      Append(payload_, packet.rtp.payload_type);
      Append(payload_, static_cast<uint8_t>(packet.rtp.kind));
      Append(payload_, packet.rtp.padding_size);
      Append(payload_, packet.rtp.header_size);
      Append(payload_, packet.rtp.payload_size);
    }
  }
  recorder_.Clear();
  channel_->Write('O', payload_);
}

// Answers one frame. Returns the frame that ended its run early, if there is one.
std::optional<Frame> Answer(const Frame& frame, FrameChannel& channel, const MakeStack& make_stack) {
  if (frame.type == 'S') throw ProgramError("a step without a run: it is over, or was never reset");
  if (frame.type != 'R') throw ProgramError("unknown frame type " + std::to_string(int{frame.type}));
  return Episode(ParseServeRequest(frame.payload), &channel, make_stack).Run();
}

}  // namespace

bool Serve(int input_fd, int output_fd, const MakeStack& make_stack) {
  FrameChannel channel(input_fd, output_fd);
  std::optional<Frame> frame = channel.Read();
  while (frame) {
    std::optional<Frame> next;
    if (const auto failure = FailureOf([&] { next = Answer(*frame, channel, make_stack); })) {
      channel.Write('E', failure->message);
      // At -O3, GCC 12 has Answer() return into `next` itself and omits its initialization; a throw leaves it so.
      next.reset();
    }
    frame = next || channel.broken() ? next : channel.Read();
  }
  return !channel.broken();
}

}  // namespace weir::sim
