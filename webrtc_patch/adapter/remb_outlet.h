// Where REMB leaves for libwebrtc: through its RembThrottler, but such that nothing is lost in it; and RemoteEstimate
// beside it (RTCP APP "goog" 13, experimental in libwebrtc), without which a sender with transport-cc takes the smaller
// of REMB and its own GCC.
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

// libwebrtc's throttler forgets what comes within 200 ms of the last REMB and is not 3 % lower. This holds it back
// instead, until it passes. As an observer it forwards what libwebrtc's own estimators say, unchanged.
class RembOutlet final : public webrtc::RemoteBitrateObserver {
 public:
  using RtcpSender = webrtc::RtpTransportFeedbackGenerator::RtcpSender;

  // `throttler` and `clock`, which must be the throttler's, outlive this. A null `rtcp_sender`: no RemoteEstimate.
  RembOutlet(webrtc::RemoteBitrateObserver* throttler, RtcpSender rtcp_sender, webrtc::Clock* clock)
      : throttler_(throttler), rtcp_sender_(std::move(rtcp_sender)), clock_(clock) {}

  // Announces `rate`, now or as soon as the throttler lets it pass; replaces what waits.
  void Send(DataRate rate, const std::vector<uint32_t>& ssrcs);
  // The same, but at once: where the throttler is in the way, 4 % lower, with `rate` following.
  void SendAtOnce(DataRate rate, const std::vector<uint32_t>& ssrcs);
  // Sends what waits, if it may.
  void OnTimeout();
  // True where packets are reported to a GCC of the sender; not known before the first packet. Where it has none, no
  // RemoteEstimate is sent.
  void SetSenderHasGcc(bool sender_has_gcc) { sender_has_gcc_ = sender_has_gcc; }
  // Forgets what waits, and lifts REMB and RemoteEstimate where the sender has a GCC, which is in charge from now on.
  void Release();
  // When OnTimeout may be called next: PlusInfinity when nothing waits.
  Timestamp next_timeout() const;

 private:
  void OnReceiveBitrateChanged(const std::vector<uint32_t>& ssrcs, uint32_t bitrate) override;

  // From when on the throttler lets everything pass.
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
  // A rate of Send() or SendAtOnce() is in force.
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
