// One flow of a room: an SFU's downlink to a subscriber of all publishers.
#ifndef WEIR_CALLS_VIRTUAL_CALL_SUBSCRIBER_H_
#define WEIR_CALLS_VIRTUAL_CALL_SUBSCRIBER_H_

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "api/task_queue/pending_task_safety_flag.h"
#include "endpoints/flow.h"
#include "test/network/network_emulation_manager.h"
#include "virtual_call/call_packets.h"
#include "virtual_call/call_path.h"
#include "virtual_call/downlink_allocator.h"
#include "virtual_call/downlink_estimator.h"
#include "virtual_call/forwarded_stream.h"
#include "virtual_call/frame_log.h"
#include "virtual_call/host_noise.h"
#include "virtual_call/probe_sender.h"
#include "virtual_call/room.h"
#include "virtual_call/subscriber_connection.h"
#include "virtual_call/subscriber_view.h"
#include "virtual_call/virtual_clock.h"
#include "virtual_call/virtual_ends.h"

namespace weir::sim {

// The SFU forwards packets as they come, without a pacer, answers NACK (RFC 4585) from a history, and requests key
// frames for new layers and for PLI. The controller of the flow, "weir-send" or "gcc", is the estimator.
class Subscriber final : public VirtualEnds, private Room::Forwarder {
 public:
  // All arguments must outlive this object. Throws ProgramError.
  Subscriber(const Flow& flow, Room* room, webrtc::test::NetworkEmulationManagerImpl* network, VirtualClock* clock);
  ~Subscriber() override;

  std::vector<Step> Steps() override {
    return {{flow_.spec().start, [this] { Start(); }}};
  }
  void Connect() override { connection_->Connect(); }
  bool connected() const override { return connection_->connected(); }
  void UseLinks() override;

  void AddTo(nlohmann::ordered_json& record) const override;
  bool follows_frames() const override { return true; }
  nlohmann::ordered_json FrameColumns() const override { return no_frames_.Columns(end_); }

 private:
  class Sink;
  class RtcpTap;
  struct SentPacket {
    Timestamp time;
    bool is_reported = false;
  };

  Timestamp Now() const { return Timestamp::Micros(clock_->now().us()); }
  void Start();
  void OnPacket(const SimulcastPacket& packet) override;
  // RTCP of the subscriber.
  void OnRtcp(std::span<const uint8_t> data);
  void OnTransportFeedback(std::span<const PacketFeedback> feedback);
  ForwardedStream* FindStream(uint32_t ssrc);
  void Send(ForwardedStream::RtpData data, PacketKind kind);
  void Tick();
  // Passes the forwarded layers to the view.
  void ShowLayers();
  void Decide();
  void Probe();

  const Flow& flow_;
  const SimTime end_;
  Room* const room_;
  VirtualClock* const clock_;
  std::unique_ptr<DownlinkEstimator> estimator_;
  std::unique_ptr<DownlinkAllocator> allocator_;
  // A room's frames are measured by `view_`.
  FrameLog no_frames_;
  MediaPackets media_packets_;
  RtcpPackets rtcp_packets_;
  HostNoise sfu_noise_;
  HostNoise subscriber_noise_;
  mutable SubscriberView view_;
  std::vector<ForwardedStream> streams_;
  std::vector<std::unique_ptr<Sink>> sinks_;
  ProbeSender probe_sender_;
  bool probes_ = false;
  bool started_ = false;
  std::optional<DesiredRate> desired_;
  // By transport-wide number, from 1.
  std::vector<SentPacket> sent_;
  int64_t padding_bytes_ = 0;
  int64_t nacked_packets_ = 0;
  int64_t key_frame_requests_ = 0;
  // The shortest since the last report, from feedback on its last packet.
  TimeDelta shortest_round_trip_ = TimeDelta::PlusInfinity();
  TimeDelta round_trip_time_ = kAssumedRoundTripTime;
  Timestamp round_trip_reported_ = Timestamp::MinusInfinity();

  webrtc::EmulatedEndpointImpl* const sfu_endpoint_;
  std::unique_ptr<RtcpTap> rtcp_tap_;
  // Must outlive the connection, whose packets they carry.
  std::unique_ptr<CallPath> media_path_;
  std::unique_ptr<CallPath> rtcp_path_;
  std::unique_ptr<SubscriberConnection> connection_;
  webrtc::ScopedTaskSafetyDetached safety_;
};

}  // namespace weir::sim

#endif  // WEIR_CALLS_VIRTUAL_CALL_SUBSCRIBER_H_
