// One RTP flow of a scenario as a call between two PeerConnections of libwebrtc in simulated time.
#ifndef WEIR_CALLS_VIRTUAL_CALL_VIRTUAL_CALL_H_
#define WEIR_CALLS_VIRTUAL_CALL_VIRTUAL_CALL_H_

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/sim_time.h"
#include "endpoints/flow.h"
#include "peer.h"
#include "test/network/network_emulation_manager.h"
#include "virtual_call/call_controller.h"
#include "virtual_call/call_packets.h"
#include "virtual_call/call_path.h"
#include "virtual_call/call_stats.h"
#include "virtual_call/frame_log.h"
#include "virtual_call/host_noise.h"
#include "virtual_call/observation_file.h"
#include "virtual_call/observed_encoder.h"
#include "virtual_call/viewing.h"
#include "virtual_call/virtual_clock.h"
#include "virtual_call/virtual_ends.h"

namespace weir::sim {

class VirtualCall final : public VirtualEnds {
 public:
  // All arguments must outlive this object. Throws ProgramError.
  VirtualCall(const Flow& flow, webrtc::test::NetworkEmulationManagerImpl* network, VirtualClock* clock);
  ~VirtualCall() override;

  std::vector<Step> Steps() override;
  void Connect() override;
  bool connected() const override { return connected_ends_ == 2; }
  void UseLinks() override;
  void RequestStats() override;

  PolicyController* agent() override { return controller_.agent(); }
  void AddTo(nlohmann::ordered_json& record) const override;
  bool follows_frames() const override { return true; }
  nlohmann::ordered_json FrameColumns() const override { return frames_.Columns(end_); }
  ViewedStep TakeViewedStep(SimTime now) override { return viewing_.Finish(now); }

 private:
  class Lines;

  // A peer with its own worker thread. Destroyed from the last member to the first.
  struct End {
    std::unique_ptr<webrtc::Thread> worker;
    std::unique_ptr<Lines> lines;
    std::unique_ptr<peer::Peer> peer;
  };

  std::unique_ptr<CallPath> MakePath(Link* link, webrtc::EmulatedEndpointImpl* from, webrtc::EmulatedEndpointImpl* to,
                                     PathObserver* observer, HostNoise* noise);
  void MakePeer(CallEnd end, webrtc::EmulatedEndpointImpl* endpoint);
  // The simulated clock, threads and network of a peer, and its codecs.
  peer::Runtime MakeRuntime(webrtc::Thread* worker, webrtc::EmulatedEndpointImpl* endpoint) const;
  // Adds the encoders, the camera and the observers of the sender.
  void AddSender(peer::Runtime& runtime);
  // Adds the guard and the observers of the receiver.
  void AddReceiver(peer::Runtime& runtime);

  // Limits the playout delay by the receiver's reports, where the sender limits it.
  void OnSenderStats(const nlohmann::ordered_json& report);

  // Handles a peer's line.
  void OnLine(CallEnd from, nlohmann::ordered_json line);
  // Passes a description or an ICE candidate to the other peer.
  void OnSignaling(CallEnd from, nlohmann::ordered_json line);
  // Throws ProgramError with the call's name and `reason`.
  [[noreturn]] void Fail(const std::string& reason) const;
  // Records a target rate of the end that decides.
  void OnTargetRate(DataRate rate);
  // Now, at most the scenario's end.
  SimTime RecordedNow() const;

  void HoldMedia();
  void SendMedia();
  void HoldVideo();
  void SendVideo();

  const Flow& flow_;
  const SimTime end_;
  VirtualClock* const clock_;
  webrtc::test::NetworkEmulationManagerImpl* const network_;
  CallController controller_;
  // The last decision at the receiver; see AddEstimator().
  std::optional<EstimatorCounters> counters_;
  const PoolController* pool_ = nullptr;
  Viewing viewing_;
  FrameLog frames_;
  MediaPackets media_packets_;
  RtcpPackets rtcp_packets_;
  CallStats stats_;
  HostNoise sender_noise_;
  HostNoise receiver_noise_;
  int connected_ends_ = 0;
  RequestedPlayoutDelay playout_delay_;
  // Null if nobody observes.
  std::unique_ptr<ObservationFile> observations_;

  // Must outlive the peers, whose packets they carry, and the emulated network's tasks.
  std::unique_ptr<CallPath> media_path_;
  std::unique_ptr<CallPath> rtcp_path_;
  End sender_;
  End receiver_;
};

}  // namespace weir::sim

#endif  // WEIR_CALLS_VIRTUAL_CALL_VIRTUAL_CALL_H_
