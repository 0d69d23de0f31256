// One RTP flow of a scenario as a call between two PeerConnections of libwebrtc in simulated time.
#ifndef WEIR_SIMULATOR_VIRTUAL_CALL_VIRTUAL_CALL_H_
#define WEIR_SIMULATOR_VIRTUAL_CALL_VIRTUAL_CALL_H_

#include <array>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "endpoints/controllers.h"
#include "flows/stack.h"
#include "peer.h"
#include "test/network/network_emulation_manager.h"
#include "virtual_call/call_path.h"
#include "virtual_call/frame_log.h"
#include "virtual_call/host_noise.h"
#include "virtual_call/viewing.h"
#include "virtual_call/virtual_clock.h"

namespace weir::sim {

class VirtualCall final : public RtpEnds {
 public:
  // All arguments must outlive this object. Throws ProgramError.
  VirtualCall(const RtpFlowContext& context, webrtc::test::NetworkEmulationManagerImpl* network, VirtualClock* clock);
  ~VirtualCall() override;

  // Actions on a call at times of its scenario, in order.
  struct Step {
    int64_t time_ns;
    void (VirtualCall::*action)();
  };
  const std::vector<Step>& steps() const { return steps_; }

  // Starts to connect, and returns before anything is sent. Call once.
  void Connect();
  bool connected() const { return connected_ends_ == 2; }
  // Makes packets take the scenario's links from now on.
  void UseLinks();
  // Requests the statistics that AddTo() reads.
  void RequestStats();

  PolicyController* agent() override { return agent_; }
  void AddTo(nlohmann::ordered_json& record) const override;
  bool follows_frames() const override { return true; }
  nlohmann::ordered_json FrameColumns() const override { return frames_.Columns(end_ns_); }
  ViewedStep TakeViewedStep(int64_t now_ns) override { return viewing_.Finish(now_ns); }

 private:
  enum class End { kSender, kReceiver };
  class Lines;
  class MediaObserver;
  class RtcpObserver;
  class AgentSource;

  peer::Runtime MakeRuntime(End end, webrtc::EmulatedEndpointImpl* endpoint);
  peer::Options SenderOptions() const;
  peer::Options ReceiverOptions() const;
  // True if the receiver writes the media that it renders and plays; see CallMedia::received.
  bool keeps_received() const;
  // Makes the controller of the estimator at either end.
  ControllerFactory MakeController();
  std::unique_ptr<PolicyController> MakeAgent();
  void OnLine(End from, nlohmann::ordered_json line);
  void OnAnswer(const std::string& sdp);
  void OnTargetRate(DataRate rate);
  // Changes abs-send-time to the sender's clock in the scenario.
  void ShowSenderClock(std::span<uint8_t> packet, int64_t time_ns) const;

  void HoldMedia() {
    sender_->HoldMedia(true);
    viewing_.Pause(clock_->NowNs());
  }
  void SendMedia() {
    sender_->HoldMedia(false);
    viewing_.Resume(clock_->NowNs());
  }
  void HoldVideo() {
    sender_->HoldVideo(true);
    viewing_.Pause(clock_->NowNs());
  }
  void SendVideo() {
    sender_->HoldVideo(false);
    viewing_.Resume(clock_->NowNs());
  }

  const RtpFlowContext context_;
  const ControllerContext controller_context_;
  const int64_t end_ns_;
  VirtualClock* const clock_;
  webrtc::TimeController* const time_;
  webrtc::test::NetworkEmulationManagerImpl* const network_;
  // At most one is true. If none is, libwebrtc's own controller decides at the sender.
  const bool decides_at_sender_;
  const bool decides_at_receiver_;
  Viewing viewing_;
  FrameLog frames_;
  HostNoise sender_noise_;
  HostNoise receiver_noise_;
  std::unique_ptr<AgentSource> agent_source_;
  std::optional<AgentSpecification> agent_specification_;
  // Holds the agent's controller until it is needed: at a sender, only when the call has connected.
  std::unique_ptr<PolicyController> waiting_agent_;
  PolicyController* agent_ = nullptr;
  std::array<PacketKind, 128> packet_kinds_{};
  // Number of the header extension; 0 until it is negotiated.
  int abs_send_time_id_ = 0;
  // As of the last decision.
  std::optional<EstimatorCounters> counters_;
  const PoolController* pool_ = nullptr;
  nlohmann::ordered_json sender_stats_;
  nlohmann::ordered_json receiver_stats_;
  int64_t rtcp_packets_sent_ = 0;
  int64_t rtcp_bytes_sent_ = 0;  // with UDP and IP
  int64_t rtcp_packets_lost_ = 0;
  int connected_ends_ = 0;
  std::vector<Step> steps_;

  std::unique_ptr<MediaObserver> media_observer_;
  std::unique_ptr<RtcpObserver> rtcp_observer_;
  // Must outlive the peers, whose packets they carry, and the emulated network's tasks.
  std::unique_ptr<CallPath> media_path_;
  std::unique_ptr<CallPath> rtcp_path_;
  std::unique_ptr<webrtc::Thread> sender_worker_;
  std::unique_ptr<webrtc::Thread> receiver_worker_;
  std::unique_ptr<Lines> sender_lines_;
  std::unique_ptr<Lines> receiver_lines_;
  std::unique_ptr<peer::Peer> sender_;
  std::unique_ptr<peer::Peer> receiver_;
};

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_VIRTUAL_CALL_VIRTUAL_CALL_H_
