// One end of a call: the PeerConnection, its signalling, its media and its log lines.
#ifndef WEIR_CALLS_PEER_PEER_H_
#define WEIR_CALLS_PEER_PEER_H_

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/peer_connection_interface.h"
#include "api/task_queue/pending_task_safety_flag.h"
#include "camera.h"
#include "command.h"
#include "connection_factory.h"
#include "options.h"
#include "programs/json_lines.h"
#include "receive_side_switch.h"
#include "received_frames.h"
#include "rtcp_observer.h"
#include "runtime.h"
#include "weir/result.h"

namespace weir::peer {

class Peer final : public webrtc::PeerConnectionObserver {
 public:
  // Time limits to recover a lost connection, and to make the first one.
  static constexpr webrtc::TimeDelta kReconnectTime = webrtc::TimeDelta::Seconds(10);
  static constexpr webrtc::TimeDelta kConnectTime = webrtc::TimeDelta::Seconds(30);

  // `frames` are sent; null for a peer that only receives. `controller` makes Weir's decisions. `lines` must outlive
  // the peer. `on_failure` is called once, from another thread, when the call has failed; destroy the peer then. Throws
  // ProgramError.
  static std::unique_ptr<Peer> Create(const Options& options, std::unique_ptr<FrameSource> frames,
                                      ControllerFactory controller, JsonLines* lines,
                                      std::function<void(std::string reason)> on_failure, Runtime runtime);
  ~Peer() override;
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  // While held, no media, or no video, is sent; both stop the camera. May be called from any thread.
  void HoldMedia(bool hold);
  void HoldVideo(bool hold);
  // Writes an "error" line for a command that fails.
  void Execute(Command command);
  // See ReceiveSideSwitch. Only in a peer that receives; from any thread.
  void SetController(ControllerFactory controller) { receive_side_->SetController(std::move(controller)); }

 private:
  Peer(const Options& options, JsonLines* lines, std::function<void(std::string)> on_failure, Runtime runtime);

  bool chooses_repair() const {
    return options_.receive && options_.controller == ReceiveSideMode::kWeir &&
           options_.repair == RepairMode::kAdaptive;
  }
  // The policy's choice; from the thread of decisions.
  void OnRepair(Repair repair);

  // The methods below run on the signaling thread. nullopt means success.
  std::optional<Error> Open(std::unique_ptr<FrameSource> frames);
  std::optional<Error> AddLocalMedia(std::unique_ptr<FrameSource> frames);
  // Sets direction and codec, before a description is made.
  std::optional<Error> Prepare(webrtc::RtpTransceiverInterface& transceiver);
  std::optional<Error> PreferCodec(webrtc::RtpTransceiverInterface& transceiver);
  void SetSendBitrate(const TargetRateConstraints& bitrate, bool restart);
  // Sinks of decoded frames.
  std::vector<webrtc::VideoSinkInterface<webrtc::VideoFrame>*> FrameSinks() const;
  // The encoders' upper limit can be set only once the call is negotiated.
  void SetMaxEncodingBitrate();

  void Run(const StartCommand&);
  void Run(const StatsCommand&);
  void Run(const StopCommand&) {}
  void Run(const DescriptionCommand& command);
  void Run(const CandidateCommand& command);
  void Run(const ObjectiveCommand& command);
  void Run(const BitrateCommand& command);
  void Run(const ControllerCommand& command);
  void Run(const PoolCommand& command);
  // Handled by the session, as loading a model would block the signaling thread.
  void Run(const ModelCommand&) {}

  void RestartIce();
  // ICE has measured the round trip, before media is sent.
  void MeasureRoundTrip();
  void OnRoundTrip(TimeDelta round_trip_time);
  // Offers a description in place of one that accepts FEC where it should not, or the reverse.
  void RenegotiateFec();
  void MakeDescription(webrtc::SdpType type);
  void SetLocalDescription(std::unique_ptr<webrtc::SessionDescriptionInterface> description);
  void OnRemoteDescription(webrtc::SdpType type);
  void OnNegotiated();
  void AddCandidate(std::unique_ptr<webrtc::IceCandidate> candidate);

  void WriteStats();
  void ScheduleStats();
  // Fails unless `has_recovered` returns true by then.
  void FailUnless(std::function<bool()> has_recovered, webrtc::TimeDelta after, std::string reason);
  void Fail(const std::string& reason);
  void Refuse(const std::string& message) const { lines_->WriteError(message, false); }
  // Wraps `function`, which is not called after the peer's destruction.
  template <class Function>
  auto WhileAlive(Function function) {
    return [alive = alive_, function = std::move(function)](auto&&... arguments) mutable {
      if (alive->alive()) function(std::forward<decltype(arguments)>(arguments)...);
    };
  }

  void OnSignalingChange(webrtc::PeerConnectionInterface::SignalingState) override {}
  void OnDataChannel(webrtc::scoped_refptr<webrtc::DataChannelInterface>) override {}
  void OnIceGatheringChange(webrtc::PeerConnectionInterface::IceGatheringState) override {}
  void OnIceCandidate(const webrtc::IceCandidate* candidate) override;
  void OnConnectionChange(webrtc::PeerConnectionInterface::PeerConnectionState state) override;
  // Without DTLS the state of the connection stays "connecting".
  void OnStandardizedIceConnectionChange(webrtc::PeerConnectionInterface::IceConnectionState state) override;
  void OnTrack(webrtc::scoped_refptr<webrtc::RtpTransceiverInterface> transceiver) override;

  const Options options_;
  JsonLines* const lines_;
  const std::function<void(std::string)> on_failure_;
  Runtime runtime_;
  // Capture times from received sender reports, and from those that this end sends.
  SenderClock sender_clock_;
  SenderClock sent_clock_;
  std::shared_ptr<ReceiveSideSwitch> receive_side_;
  std::unique_ptr<ReceivedFrames> received_frames_;
  // The thread of the connection and its observers, unless the runtime has one.
  std::unique_ptr<webrtc::Thread> own_signaling_thread_;
  webrtc::Thread* signaling_thread_ = nullptr;
  webrtc::scoped_refptr<webrtc::PeerConnectionFactoryInterface> factory_;
  webrtc::scoped_refptr<webrtc::PeerConnectionInterface> connection_;
  // Null in a peer that only receives.
  webrtc::scoped_refptr<Camera> camera_;
  // Feeds `FrameSinks()`.
  webrtc::scoped_refptr<webrtc::VideoTrackInterface> remote_track_;
  webrtc::scoped_refptr<webrtc::PendingTaskSafetyFlag> alive_;

  // Candidates that arrived before their description.
  std::vector<std::unique_ptr<webrtc::IceCandidate>> early_candidates_;
  bool remote_is_peer_ = false;
  bool has_remote_description_ = false;
  // At a receiver with Weir: the wanted description accepts FEC, and the one in force, or on its way, does.
  bool wants_fec_ = true;
  bool accepts_fec_ = true;
  bool renegotiated_ = false;
  // The policy's last choice.
  std::atomic<Repair> repair_ = Repair::kNone;
  DataRate max_send_rate_ = DataRate::Zero();
  bool was_connected_ = false;
  bool failed_ = false;
  int connection_changes_ = 0;
};

}  // namespace weir::peer

#endif  // WEIR_CALLS_PEER_PEER_H_
