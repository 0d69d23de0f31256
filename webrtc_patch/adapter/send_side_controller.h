// Runs any of libwebrtc's send-side network controllers as a weir::SenderController: starts, drives and bounds it as
// libwebrtc's own transport (RtpTransportControllerSend) does.
#ifndef WEIR_WEBRTC_PATCH_ADAPTER_SEND_SIDE_CONTROLLER_H_
#define WEIR_WEBRTC_PATCH_ADAPTER_SEND_SIDE_CONTROLLER_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "api/rtc_event_log/rtc_event_log.h"
#include "api/transport/network_control.h"
#include "conversions.h"
#include "libwebrtc_globals.h"
#include "weir/decision_timer.h"
#include "weir/sender_controller.h"

namespace weir::adapter {

class SendSideController final : public SenderController {
 public:
  struct Options {
    // Called with the controller and its constraints after each transport feedback; may be null.
    std::function<void(webrtc::NetworkControllerInterface&, const TargetRateConstraints&)> after_feedback = nullptr;
    bool holds_frames = false;      // as in SenderController
    bool receiver_decides = false;  // as MakeGccOfReceiver()
  };
  SendSideController(std::string_view name, std::unique_ptr<webrtc::NetworkControllerFactoryInterface> factory,
                     const FieldTrials& field_trials, Options options);

  std::string_view name() const override { return name_; }

  void OnTargetRateConstraints(const TargetRateConstraints& constraints) override;
  void OnObjective(const Objective&) override {}
  void OnRoundTripTimeUpdate(const RoundTripTimeUpdate& update) override;
  void OnSentPacket(const SentPacket& packet) override;
  void OnTransportPacketsFeedback(const TransportPacketsFeedback& feedback) override;
  void OnTransportLossReport(const TransportLossReport& report) override;
  void OnRemoteBitrateReport(const RemoteBitrateReport& report) override;
  bool holds_frames() const override { return options_.holds_frames; }

  SenderControlUpdate OnTimeout(Timestamp now) override;
  Timestamp next_timeout() const override;

 private:
  void Start(Timestamp now);
  void ProcessInterval(Timestamp now);
  // Delivers RemoteEstimate and the first REMB, which arrive before the first packet is sent.
  void FollowReceiver(Timestamp now);
  // The constraints in force, without a start rate.
  webrtc::TargetRateConstraints Bounds(Timestamp now) const;
  webrtc::StreamsConfig StreamsConfig(Timestamp now) const;
  // Calls `message`, which passes a message to the controller, at `time`, and collects the update.
  template <class Message>
  void Deliver(Timestamp time, Message message);
  // Keeps new values in `update` until the host calls OnTimeout().
  void Collect(const webrtc::NetworkControlUpdate& update, Timestamp now);
  // Clamps the rates that the controller last requested to the bounds, and adds changes to `pending_`.
  void ApplyBounds(Timestamp now);

  const std::string name_;
  const std::unique_ptr<webrtc::NetworkControllerFactoryInterface> factory_;
  const FieldTrialsOfController field_trials_;
  const Options options_;
  webrtc::RtcEventLogNull event_log_;

  TargetRateConstraints constraints_;
  // The first constraints set both.
  std::optional<TimeConverter> time_;
  std::unique_ptr<webrtc::NetworkControllerInterface> controller_;

  // Fires every process interval of libwebrtc.
  DecisionTimer timer_;
  // The update that the next OnTimeout() returns, and the time since which it waits.
  SenderControlUpdate pending_;
  Timestamp pending_since_ = Timestamp::PlusInfinity();
  // `wanted_*` and `frame_drop_ratio_` are the controller's; the host has, or is about to receive, the others.
  DataRate wanted_target_rate_ = DataRate::Zero();
  std::optional<PacerConfig> wanted_pacer_config_;
  std::optional<DataRate> target_rate_;
  double frame_drop_ratio_ = 0;
  double applied_frame_drop_ratio_ = 0;
  std::optional<PacerConfig> pacer_config_;
};

}  // namespace weir::adapter

#endif  // WEIR_WEBRTC_PATCH_ADAPTER_SEND_SIDE_CONTROLLER_H_
