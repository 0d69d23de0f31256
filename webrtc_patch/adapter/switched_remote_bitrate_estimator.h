// The estimator of one call under a ReceiveSideSwitch: GCC, Weir, or both.
#ifndef WEIR_WEBRTC_PATCH_ADAPTER_SWITCHED_REMOTE_BITRATE_ESTIMATOR_H_
#define WEIR_WEBRTC_PATCH_ADAPTER_SWITCHED_REMOTE_BITRATE_ESTIMATOR_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "api/environment/environment.h"
#include "feedback_without_losses.h"
#include "modules/congestion_controller/include/remote_bitrate_estimator_factory.h"
#include "modules/remote_bitrate_estimator/include/remote_bitrate_estimator.h"
#include "receive_side_settings.h"
#include "remb_outlet.h"
#include "system_wrappers/include/clock.h"
#include "weir_remote_bitrate_estimator.h"

namespace weir::adapter {

// Applies changed settings with each packet and each `Process`, which requests a call at least every 100 ms.
class SwitchedRemoteBitrateEstimator final : public webrtc::RemoteBitrateEstimatorFromFactory {
 public:
  // `throttler` must outlive this.
  SwitchedRemoteBitrateEstimator(std::shared_ptr<const SharedReceiveSideSettings> settings,
                                 webrtc::RemoteBitrateObserver* throttler, RembOutlet::RtcpSender rtcp_sender,
                                 const webrtc::Environment& environment);

  void IncomingPacket(const webrtc::RtpPacketReceived& packet) override;
  void RemoveStream(uint32_t ssrc) override;
  webrtc::DataRate LatestEstimate() const override;
  webrtc::TimeDelta Process() override;
  void OnRttUpdate(int64_t avg_rtt_ms, int64_t max_rtt_ms) override;
  FeedbackWithoutLosses::Messages OnTransportFeedback(FeedbackWithoutLosses::Messages feedback) override;

 private:
  void FollowSettings();
  void SwitchTo(const ReceiveSideSettings& settings);

  const std::shared_ptr<const SharedReceiveSideSettings> shared_settings_;
  const webrtc::Environment environment_;
  webrtc::Clock* const clock_;
  RembOutlet outlet_;
  FeedbackWithoutLosses feedback_;

  uint64_t version_ = 0;
  uint64_t repeats_ = 0;
  std::optional<ReceiveSideMode> mode_;
  // `gcc_` and `weir_` are null in modes that do not need them; at least one is set.
  std::unique_ptr<webrtc::RemoteBitrateEstimator> gcc_;
  webrtc::Timestamp next_gcc_process_ = webrtc::Timestamp::MinusInfinity();
  std::unique_ptr<WeirRemoteBitrateEstimator> weir_;
};

}  // namespace weir::adapter

#endif  // WEIR_WEBRTC_PATCH_ADAPTER_SWITCHED_REMOTE_BITRATE_ESTIMATOR_H_
