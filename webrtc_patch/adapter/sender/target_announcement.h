// Builds the updates of Weir's network controllers for libwebrtc's sender: the target rate and the pacing that goes
// with it, whenever one of them has changed.
#ifndef WEIR_WEBRTC_PATCH_ADAPTER_SENDER_TARGET_ANNOUNCEMENT_H_
#define WEIR_WEBRTC_PATCH_ADAPTER_SENDER_TARGET_ANNOUNCEMENT_H_

#include <optional>

#include "api/transport/network_control.h"

namespace weir::adapter {

class TargetAnnouncement {
 public:
  // Packets are paced at `pacing_factor` times the target unless the streams request another factor. libwebrtc sends
  // the packets of one `pacing_window` as a burst; zero: packet by packet.
  TargetAnnouncement(const webrtc::NetworkControllerConfig& config, double pacing_factor,
                     webrtc::TimeDelta pacing_window);

  // A missing, infinite or zero minimum becomes 30 kbps, libwebrtc's default; a missing maximum is infinite, and one
  // below the minimum is raised to it; a missing start rate stays as it was, at first 300 kbps.
  void SetConstraints(const webrtc::TargetRateConstraints& constraints);
  // See the constructor.
  void SetPacing(double factor, webrtc::TimeDelta window);
  // While frames are held, the announced target rate is zero, with which libwebrtc encodes no frame. Pacing stays.
  void HoldFrames(bool hold);
  // Missing values stay unchanged. The current rate is announced again.
  void SetStreams(const webrtc::StreamsConfig& streams);
  // Ignored unless finite and above 0.
  void SetRoundTripTime(webrtc::TimeDelta round_trip_time);

  webrtc::DataRate min_rate() const { return min_rate_; }
  // May be infinite.
  webrtc::DataRate max_rate() const { return max_rate_; }
  // Twice the rate that all streams can use, with room for retransmissions and growth; infinite without streams.
  webrtc::DataRate desired_rate() const;
  webrtc::DataRate start_rate() const { return start_rate_; }
  webrtc::TimeDelta round_trip_time() const { return round_trip_time_; }

  // Empty if nothing has changed, or `now` is infinite. `target` must be within the bounds, `loss_ratio` in [0, 1].
  webrtc::NetworkControlUpdate Announce(webrtc::DataRate target, double loss_ratio, webrtc::Timestamp now);

 private:
  webrtc::PacerConfig Pacer(webrtc::DataRate target, webrtc::Timestamp now) const;

  double pacing_factor_;
  webrtc::TimeDelta pacing_window_;
  webrtc::StreamsConfig streams_;
  webrtc::DataRate min_rate_ = webrtc::DataRate::Zero();
  webrtc::DataRate max_rate_ = webrtc::DataRate::PlusInfinity();
  webrtc::DataRate start_rate_ = webrtc::DataRate::KilobitsPerSec(300);
  webrtc::TimeDelta round_trip_time_ = webrtc::TimeDelta::Millis(100);
  bool holds_frames_ = false;
  std::optional<webrtc::DataRate> announced_;
};

}  // namespace weir::adapter

#endif  // WEIR_WEBRTC_PATCH_ADAPTER_SENDER_TARGET_ANNOUNCEMENT_H_
