#include "remote_executor.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "program/input.h"
#include "program/json.h"
#include "program/policy_request.h"

namespace weir::peer {
namespace {

constexpr uint32_t kMaxPayloadBytes = uint32_t{64} << 10;
constexpr size_t kMaxReason = 200;

bool AllFinite(std::span<const float> values) {
  return std::ranges::all_of(values, [](float value) { return std::isfinite(value); });
}

// Throws ProgramError.
ModelDescription ParseDescription(std::string_view text) {
  const nlohmann::json document = ParseJson(text);
  JsonObject object(document, "");
  PolicyRequest policy = ParsePolicyRequest(object);
  object.RefuseUnknownKeys();
  if (policy.interval < RemoteAgent::kMinInterval || policy.interval > RemoteAgent::kMaxInterval)
    RefuseJson("interval_ms", "must be 10 to 10000 in a call");
  if (policy.features.size() > RemoteAgent::kMaxObservation)
    RefuseJson("features", "with history they must have at most " + std::to_string(RemoteAgent::kMaxObservation) +
                               " values in a call");
  ModelDescription description;
  description.name = "agent";
  description.observation_size = policy.features.size();
  description.features = std::move(policy.features);
  description.interval = policy.interval;
  description.action = std::move(policy.action);
  return description;
}

}  // namespace

Result<FileDescriptor> ConnectSocket(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return Error{"the path of the socket is too long"};
  path.copy(address.sun_path, path.size());
  FileDescriptor end(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!end || connect(end.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return Error{std::strerror(errno)};
  return end;
}

Result<std::shared_ptr<RemoteAgent>> RemoteAgent::Connect(std::string name, Connector connector, Tell tell,
                                                          TimeDelta time_limit) {
  std::shared_ptr<RemoteAgent> agent(new RemoteAgent(std::move(name), std::move(connector), std::move(tell)));
  const auto refused = [&agent](const std::string& why) { return Error{"the agent " + agent->name_ + ": " + why}; };
  if (const auto error = agent->Open()) return refused(error->message);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::microseconds(time_limit.us());
  while (true) {
    if (const auto error = agent->ReadFrames()) return refused(error->message);
    if (agent->ready_) return agent;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return refused("it has not described its policy in time");
    pollfd waiting{.fd = agent->connection_.get(), .events = POLLIN, .revents = 0};
    poll(&waiting, 1, static_cast<int>(left.count()));
  }
}

std::optional<Error> RemoteAgent::Open() {
  auto connected = connector_();
  if (!connected) return Error{connected.error()};
  connection_ = std::move(connected.value());
  channel_.emplace(connection_.get(), connection_.get(), kMaxPayloadBytes);
  ready_ = false;
  begins_ = true;
  unanswered_ = 0;
  return std::nullopt;
}

bool RemoteAgent::Send(std::span<const float> observation, const Objective& objective) {
  sent_ = false;
  if (!connection_ && Open()) return false;
  if (!Receive() || !ready_) return false;
  // The answers that are missing make this one late anyway.
  if (unanswered_ == kMaxUnanswered) return true;
  writer_.Start('O');
  writer_.Add(begins_ ? kBegins : uint8_t{0});
  writer_.AddBytes(observation.data(), observation.size_bytes());
  for (const float weight : {objective.throughput, objective.latency, objective.loss})
    writer_.Add(static_cast<double>(weight));
  if (!Write(writer_.Finish())) {
    Lose(Error{"it does not read"});
    return false;
  }
  begins_ = false;
  sent_ = true;
  ++unanswered_;
  return true;
}

bool RemoteAgent::Receive() {
  if (!connection_) return false;
  const bool was_ready = ready_;
  const auto error = ReadFrames();
  if (error) {
    Lose(*error);
  } else if (ready_ && !was_ready && told_++ < kMaxTold) {
    tell_("the agent " + name_ + " is back");
  }
  return !error;
}

std::optional<std::span<const float>> RemoteAgent::answer() const {
  if (!sent_ || unanswered_ > 0) return std::nullopt;
  return action_;
}

std::optional<Error> RemoteAgent::ReadFrames() {
  while (const std::optional<Frame> frame = channel_->Read()) {
    if (auto error = OnFrame(*frame)) return error;
  }
  if (channel_->broken()) return Error{"it broke off, or sent what is no frame"};
  if (channel_->ended()) return Error{"it has closed the connection"};
  return std::nullopt;
}

std::optional<Error> RemoteAgent::OnFrame(const Frame& frame) {
  if (frame.type == 'E') return Error{"it refuses: " + Printable(frame.payload.substr(0, kMaxReason))};
  if (frame.type == 'R' && !ready_) return OnDescription(frame.payload);
  if (frame.type != 'S' || unanswered_ == 0)
    return Error{"a frame of type " + std::to_string(int{frame.type}) + " without a request"};
  auto step = ParseAgentStep(frame.payload, description_.action);
  if (!step) return Error{step.error()};
  if (step.value().objective) return Error{"the objective of a call is not the agent's to change; it must be NaN"};
  --unanswered_;
  action_ = std::move(step.value().action);
  return std::nullopt;
}

std::optional<Error> RemoteAgent::OnDescription(std::string_view text) {
  std::string refused;
  try {
    if (request_.empty()) {
      description_ = ParseDescription(text);
      request_ = text;
    } else if (request_ != text) {
      refused = "its policy is another one than at the beginning of the call";
    }
  } catch (const ProgramError& error) {
    refused = error.what();
  }
  const std::string greeting = nlohmann::json{{"observation_size", description_.observation_size},
                                              {"step_fields", {"throughput", "latency", "loss"}}}
                                   .dump();
  writer_.Start(refused.empty() ? 'C' : 'E');
  const std::string& said = refused.empty() ? greeting : refused;
  writer_.AddBytes(said.data(), said.size());
  if (!Write(writer_.Finish())) return Error{"it does not read"};
  if (!refused.empty()) return Error{refused};
  ready_ = true;
  return std::nullopt;
}

// An agent that reads leaves room for a frame in the buffer of the socket.
bool RemoteAgent::Write(std::string_view frame) const {
  return send(connection_.get(), frame.data(), frame.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(frame.size());
}

void RemoteAgent::Lose(const Error& error) {
  if (ready_ && told_++ < kMaxTold)
    tell_("the agent " + name_ + ": " + error.message + "; the fallback decides until it is back");
  connection_.Close();
  ready_ = false;
}

void RemoteExecutor::Submit(std::span<const float> observation, const Objective& objective, Timestamp) {
  if (!AllFinite(observation)) {
    agent_->Begin();
    decision_ = Decision::kBadObservation;
  } else {
    decision_ = agent_->Send(observation, objective) ? Decision::kSent : Decision::kNoConnection;
  }
}

std::optional<PolicyAnswer> RemoteExecutor::Take(Timestamp) {
  if (decision_ == Decision::kNone) return std::nullopt;
  if (decision_ == Decision::kSent && !agent_->Receive()) decision_ = Decision::kNoConnection;
  PolicyAnswer answer;
  if (decision_ == Decision::kSent) {
    const auto action = agent_->answer();
    if (!action) return std::nullopt;
    if (!AllFinite(*action)) answer.fault = PolicyFault::kNonFiniteOutput;
    answer.action = *action;
  } else {
    answer.fault = decision_ == Decision::kBadObservation ? PolicyFault::kBadObservation : PolicyFault::kRuntimeError;
  }
  decision_ = Decision::kNone;
  return answer;
}

void RemoteExecutor::Reset() {
  decision_ = Decision::kNone;
  agent_->Begin();
}

}  // namespace weir::peer
