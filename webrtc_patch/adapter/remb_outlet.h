// Sends REMB through libwebrtc's RembThrottler without losing any in it, and with REMB RemoteEstimate (RTCP APP "goog"
// 13, experimental in libwebrtc), without which a sender with transport-cc uses the smaller of REMB and its own GCC's
// rate.
#ifndef WEIR_WEBRTC_PATCH_ADAPTER_REMB_OUTLET_H_
#define WEIR_WEBRTC_PATCH_ADAPTER_REMB_OUTLET_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "modules/remote_bitrate_estimator/include/remote_bitrate_estimator.h"
#include "modules/remote_bitrate_estimator/rtp_transport_feedback_generator.h"
#include "system_wrappers/include/clock.h"
#include "weir/units.h"

namespace weir::adapter {

// Holds back REMBs until libwebrtc's throttler, which drops those within 200 ms of the last one that are not 3 % lower,
// lets them pass. As an observer it forwards estimates of libwebrtc's own estimators unchanged.
class RembOutlet final : public webrtc::RemoteBitrateObserver {
 public:
  using RtcpSender = webrtc::RtpTransportFeedbackGenerator::RtcpSender;

  // `throttler` and its `clock` must outlive this. Null `rtcp_sender`: no RemoteEstimate.
  RembOutlet(webrtc::RemoteBitrateObserver* throttler, RtcpSender rtcp_sender, webrtc::Clock* clock)
      : throttler_(throttler), rtcp_sender_(std::move(rtcp_sender)), clock_(clock) {}

  // Announces `rate`, now or as soon as the throttler lets it pass; replaces a waiting rate.
  void Send(DataRate rate, const std::vector<uint32_t>& ssrcs);
  // Like Send(), but at once: if the throttler would drop `rate`, a REMB 4 % below the last one precedes it.
  void SendAtOnce(DataRate rate, const std::vector<uint32_t>& ssrcs);
  // Sends the waiting rate if it passes.
  void OnTimeout();
  // Set to true if packets are reported to a GCC at the sender; unknown before the first packet. Without a GCC, no
  // RemoteEstimate is sent.
  void SetSenderHasGcc(bool sender_has_gcc) { sender_has_gcc_ = sender_has_gcc; }
  // Drops the waiting rate, and lifts REMB and RemoteEstimate if the sender has a GCC, which decides from now on.
  void Release();
  // Time of the next OnTimeout(); PlusInfinity when nothing waits.
  Timestamp next_timeout() const;

 private:
  void OnReceiveBitrateChanged(const std::vector<uint32_t>& ssrcs, uint32_t bitrate) override;

  // Time from which the throttler lets everything pass.
  Timestamp open_time() const;
  bool Passes(uint32_t bitrate) const;
  void Announce(uint32_t bitrate, const std::vector<uint32_t>& ssrcs);
  void Pass(uint32_t bitrate, const std::vector<uint32_t>& ssrcs);
  void SendRemoteEstimate(DataRate link_capacity_lower);
  Timestamp now() const;

  webrtc::RemoteBitrateObserver* const throttler_;
  const RtcpSender rtcp_sender_;
  webrtc::Clock* const clock_;

  std::optional<bool> sender_has_gcc_;
  // A rate from Send() or SendAtOnce() is in force.
  bool announced_ = false;
  bool passed_ = false;
  Timestamp last_time_ = Timestamp::MinusInfinity();
  uint32_t last_bitrate_ = 0;
  bool waiting_ = false;
  uint32_t waiting_bitrate_ = 0;
  std::vector<uint32_t> waiting_ssrcs_;
};

}  // namespace weir::adapter

#endif  // WEIR_WEBRTC_PATCH_ADAPTER_REMB_OUTLET_H_
