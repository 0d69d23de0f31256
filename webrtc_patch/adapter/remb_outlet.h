// Where REMB leaves for libwebrtc: through its RembThrottler, but such that nothing is lost in it.
#ifndef WEIR_WEBRTC_PATCH_ADAPTER_REMB_OUTLET_H_
#define WEIR_WEBRTC_PATCH_ADAPTER_REMB_OUTLET_H_

#include <cstdint>
#include <vector>

#include "modules/remote_bitrate_estimator/include/remote_bitrate_estimator.h"
#include "system_wrappers/include/clock.h"
#include "weir/units.h"

namespace weir::adapter {

// libwebrtc's throttler forgets what comes within 200 ms of the last REMB and is not 3 % lower. This holds it back
// instead, until it passes. As an observer it forwards what libwebrtc's own estimators say, unchanged.
class RembOutlet final : public webrtc::RemoteBitrateObserver {
 public:
  // `throttler` and `clock`, which must be the throttler's, outlive this.
  RembOutlet(webrtc::RemoteBitrateObserver* throttler, webrtc::Clock* clock) : throttler_(throttler), clock_(clock) {}

  // Announces `rate`, now or as soon as the throttler lets it pass; replaces what waits.
  void Send(DataRate rate, const std::vector<uint32_t>& ssrcs);
  // The same, but at once: where the throttler is in the way, 4 % lower, with `rate` following.
  void SendAtOnce(DataRate rate, const std::vector<uint32_t>& ssrcs);
  // Sends what waits, if it may.
  void OnTimeout();
  // Forgets what waits.
  void Clear() { waiting_ = false; }
  // When OnTimeout may be called next: PlusInfinity when nothing waits.
  Timestamp next_timeout() const;

 private:
  void OnReceiveBitrateChanged(const std::vector<uint32_t>& ssrcs, uint32_t bitrate) override;

  // From when on the throttler lets everything pass.
  Timestamp open_time() const;
  bool Passes(uint32_t bitrate) const;
  void Pass(uint32_t bitrate, const std::vector<uint32_t>& ssrcs);
  Timestamp now() const;

  webrtc::RemoteBitrateObserver* const throttler_;
  webrtc::Clock* const clock_;

  bool passed_ = false;
  Timestamp last_time_ = Timestamp::MinusInfinity();
  uint32_t last_bitrate_ = 0;
  bool waiting_ = false;
  uint32_t waiting_bitrate_ = 0;
  std::vector<uint32_t> waiting_ssrcs_;
};

}  // namespace weir::adapter

#endif  // WEIR_WEBRTC_PATCH_ADAPTER_REMB_OUTLET_H_
