// Estimate of the media that waits in libwebrtc's pacer, which controllers cannot read.
#ifndef WEIR_WEBRTC_PATCH_ADAPTER_SENDER_PACER_BACKLOG_H_
#define WEIR_WEBRTC_PATCH_ADAPTER_SENDER_PACER_BACKLOG_H_

#include <algorithm>

#include "api/units/time_delta.h"
#include "api/units/timestamp.h"

namespace weir::adapter {

// Decides when the encoder must pause. libwebrtc's pacer holds packets while the congestion window is full, but the
// encoder goes on. After 2 s in the pacer the packets would leave in one burst, and meanwhile the target would not
// govern what is sent.
//
// The backlog is the time that media takes to encode. It grows with the time in which the window is full and the
// encoder runs, and shrinks, once the window is open, as the pacer sends faster than the encoder. With 350 ms of it,
// and a full window, the encoder pauses. Links that stop for a moment, as cellular ones do, thus lose no frames.
class PacerBacklog {
 public:
  // Called with each state of the window; `pacing_factor` is the pacing rate over the target, at least 1.
  void Update(webrtc::Timestamp now, bool window_is_full, double pacing_factor) {
    if (!now.IsFinite()) return;
    if (latest_.IsFinite() && now > latest_) {
      const webrtc::TimeDelta elapsed = now - latest_;
      const double encoded = pauses_ ? 0 : 1;
      backlog_ += elapsed * (is_full_ ? encoded : encoded - pacing_factor);
      backlog_ = std::max(backlog_, webrtc::TimeDelta::Zero());
    }
    latest_ = now;
    is_full_ = window_is_full;
    pauses_ = is_full_ && backlog_ >= kLongest;
  }
  bool pauses_encoder() const { return pauses_; }

 private:
  static constexpr webrtc::TimeDelta kLongest = webrtc::TimeDelta::Millis(350);

  webrtc::Timestamp latest_ = webrtc::Timestamp::MinusInfinity();
  // Since the latest call.
  bool is_full_ = false;
  bool pauses_ = false;
  webrtc::TimeDelta backlog_ = webrtc::TimeDelta::Zero();
};

}  // namespace weir::adapter

#endif  // WEIR_WEBRTC_PATCH_ADAPTER_SENDER_PACER_BACKLOG_H_
