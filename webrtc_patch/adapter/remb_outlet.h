// Sends REMB, and in the same RTCP packet RemoteEstimate (RTCP APP "goog" 13, experimental in libwebrtc), without which
// a sender with transport-cc uses the smaller of REMB and its own GCC's rate.
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

// REMB is sent without a receiver report (RFC 5506). libwebrtc's own way, RembThrottler to RTCPSender, adds a report to
// each REMB, and the reports of few packets make a sender spend more on FEC: it takes the largest loss of ten seconds.
//
// As an observer this class forwards estimates of libwebrtc's own estimators to the throttler. From then on RTCPSender
// repeats the throttler's last REMB in each report, so that all further REMBs go to the throttler, too. It drops a REMB
// within 200 ms of the last one unless it is 3 % lower. This class keeps to that in any case; RembSender decides when
// each REMB is sent.
class RembOutlet final : public webrtc::RemoteBitrateObserver {
 public:
  using RtcpSender = webrtc::RtpTransportFeedbackGenerator::RtcpSender;

  // `throttler` and its `clock` must outlive this.
  RembOutlet(webrtc::RemoteBitrateObserver* throttler, RtcpSender rtcp_sender, bool sends_remote_estimate,
             webrtc::Clock* clock)
      : throttler_(throttler),
        rtcp_sender_(std::move(rtcp_sender)),
        sends_remote_estimate_(sends_remote_estimate),
        clock_(clock) {}

  // Sends `rate` unless the throttler would drop it. Returns nothing if it was sent, else the time from which the
  // throttler lets any rate pass.
  [[nodiscard]] std::optional<Timestamp> Send(DataRate rate, const std::vector<uint32_t>& ssrcs);
  // Like Send(), but if the throttler would drop `rate`, sends 4 % less than the last REMB in its place.
  [[nodiscard]] std::optional<Timestamp> SendAtOnce(DataRate rate, const std::vector<uint32_t>& ssrcs);
  // Set to true if packets are reported to a GCC at the sender; unknown before the first packet. Without a GCC, no
  // RemoteEstimate is sent.
  void SetSenderHasGcc(bool sender_has_gcc) { sender_has_gcc_ = sender_has_gcc; }
  // Lifts REMB and RemoteEstimate if the sender has a GCC, which decides from now on.
  void Release();

 private:
  void OnReceiveBitrateChanged(const std::vector<uint32_t>& ssrcs, uint32_t bitrate) override;

  // Time from which the throttler lets everything pass.
  Timestamp open_time() const;
  bool Passes(uint32_t bitrate) const;
  // Sends the REMB, and RemoteEstimate with the lower bound.
  void Announce(uint32_t bitrate, const std::vector<uint32_t>& ssrcs, DataRate link_capacity_lower);
  // Notes the REMB as the last one.
  void OnSent(uint32_t bitrate);
  Timestamp now() const;

  webrtc::RemoteBitrateObserver* const throttler_;
  const RtcpSender rtcp_sender_;
  const bool sends_remote_estimate_;
  webrtc::Clock* const clock_;

  std::optional<bool> sender_has_gcc_;
  // A rate from Send() or SendAtOnce() is in force.
  bool announced_ = false;
  // libwebrtc repeats the throttler's last REMB.
  bool uses_throttler_ = false;
  bool passed_ = false;
  Timestamp last_time_ = Timestamp::MinusInfinity();
  uint32_t last_bitrate_ = 0;
};

}  // namespace weir::adapter

#endif  // WEIR_WEBRTC_PATCH_ADAPTER_REMB_OUTLET_H_
