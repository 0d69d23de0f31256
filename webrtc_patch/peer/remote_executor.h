// Decisions of a policy in another process: an agent that serves a Unix socket in the frames of `weir-sim serve`. This
// header needs nothing of libwebrtc.
//
//   agent:  R  its policy: interval_ms, features, history, action     weir-peer:  C  observation_size, step_fields
//           S  the action for an observation, objective NaN                       O  flags, observation, objective
//
// The call is the environment, and does not wait: an observation is sent with every decision, and each is answered once
// and in order. Of answers that come late, only the newest observation's counts.
#ifndef WEIR_WEBRTC_PATCH_PEER_REMOTE_EXECUTOR_H_
#define WEIR_WEBRTC_PATCH_PEER_REMOTE_EXECUTOR_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "policy/policy_executor.h"
#include "program/file_descriptor.h"
#include "program/frame_channel.h"
#include "weir/objective.h"
#include "weir/result.h"
#include "weir/units.h"

namespace weir::peer {

// A non-blocking connection to the socket at `path`.
Result<FileDescriptor> ConnectSocket(const std::string& path);

// The connection, which the executors of one call share in succession, on one thread at a time. The agent is untrusted:
// whatever it sends, or does not, costs decisions alone. After an end of the connection every decision tries a new one.
class RemoteAgent {
 public:
  // Several observations fit into the buffer of a socket.
  static constexpr size_t kMaxObservation = 4096;
  // Observations without an answer; with more, none is sent.
  static constexpr int kMaxUnanswered = 8;
  // Bit of the flags of an observation: recurrent state begins at zeros.
  static constexpr uint8_t kBegins = 4;
  // Between two decisions.
  static constexpr TimeDelta kMinInterval = TimeDelta::Millis(10);
  static constexpr TimeDelta kMaxInterval = TimeDelta::Seconds(10);

  using Connector = std::function<Result<FileDescriptor>()>;
  // Receives what the user should know, as a sentence; at most kMaxTold times.
  using Tell = std::function<void(const std::string&)>;
  static constexpr int kMaxTold = 20;

  // Waits for the description of the policy. `name` is the agent's in messages.
  static Result<std::shared_ptr<RemoteAgent>> Connect(std::string name, Connector connector, Tell tell,
                                                      TimeDelta time_limit);
  ~RemoteAgent() = default;
  RemoteAgent(const RemoteAgent&) = delete;
  RemoteAgent& operator=(const RemoteAgent&) = delete;

  const ModelDescription& description() const { return description_; }
  // The next observation begins with recurrent state of zeros.
  void Begin() { begins_ = true; }
  // False while there is no connection.
  bool Send(std::span<const float> observation, const Objective& objective);
  // Reads what came; false when there is no connection any more.
  bool Receive();
  // The action for the newest observation; nothing while it has not come. It lives until the next Receive().
  std::optional<std::span<const float>> answer() const;

 private:
  RemoteAgent(std::string name, Connector connector, Tell tell)
      : name_(std::move(name)), connector_(std::move(connector)), tell_(std::move(tell)) {}

  std::optional<Error> Open();
  std::optional<Error> ReadFrames();
  std::optional<Error> OnFrame(const Frame& frame);
  std::optional<Error> OnDescription(std::string_view text);
  bool Write(std::string_view frame) const;
  void Lose(const Error& error);

  const std::string name_;
  const Connector connector_;
  const Tell tell_;
  ModelDescription description_;
  // As it came first; after a new connection it must be the same.
  std::string request_;
  FileDescriptor connection_;
  std::optional<FrameChannel> channel_;
  FrameWriter writer_;
  // It has described its policy.
  bool ready_ = false;
  bool begins_ = true;
  int unanswered_ = 0;
  // The newest observation was sent.
  bool sent_ = false;
  std::vector<float> action_;
  int told_ = 0;
};

class RemoteExecutor final : public PolicyExecutor {
 public:
  explicit RemoteExecutor(std::shared_ptr<RemoteAgent> agent) : agent_(std::move(agent)) { agent_->Begin(); }

  const ModelDescription& description() const override { return agent_->description(); }
  void Submit(std::span<const float> observation, const Objective& objective, Timestamp) override;
  std::optional<PolicyAnswer> Take(Timestamp) override;
  void Reset() override;

 private:
  enum class Decision : uint8_t { kNone, kSent, kBadObservation, kNoConnection };

  const std::shared_ptr<RemoteAgent> agent_;
  Decision decision_ = Decision::kNone;
};

}  // namespace weir::peer

#endif  // WEIR_WEBRTC_PATCH_PEER_REMOTE_EXECUTOR_H_
