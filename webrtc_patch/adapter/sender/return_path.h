// The loss on the return path, as a sender sees it.
#ifndef WEIR_WEBRTC_PATCH_ADAPTER_SENDER_RETURN_PATH_H_
#define WEIR_WEBRTC_PATCH_ADAPTER_SENDER_RETURN_PATH_H_

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>

#include "weir/units.h"

namespace weir {

// Estimates the share of feedback that is lost, and with it of NACK, from the packets that no transport feedback
// covers. OnFeedback() is called by one thread, loss_ratio() by any.
class ReturnPath {
 public:
  // Feedback on the packets `first` to `last`, by the numbers of their departure.
  void OnFeedback(int64_t first, int64_t last, Timestamp now) {
    if (last < first) return;
    const double factor = time_.IsFinite() && now > time_ ? std::exp((time_ - now) / kMemory) : 1;
    time_ = now;
    // Feedback that is late or repeated covers nothing new.
    const int64_t new_packets = std::max<int64_t>(0, last - std::max(first - 1, last_));
    const int64_t skipped = last_ < 0 ? 0 : std::clamp<int64_t>(first - last_ - 1, 0, kMostSkipped);
    covered_ = factor * covered_ + static_cast<double>(new_packets);
    skipped_ = factor * skipped_ + static_cast<double>(skipped);
    last_ = std::max(last_, last);
    const double packets = covered_ + skipped_;
    loss_ratio_ = packets < kFewestPackets ? 0 : skipped_ / packets;
  }

  // 0 to 1, over the last seconds.
  double loss_ratio() const { return loss_ratio_; }

 private:
  static constexpr TimeDelta kMemory = TimeDelta::Seconds(5);
  // A longer gap is an outage.
  static constexpr int64_t kMostSkipped = 1000;
  static constexpr double kFewestPackets = 100;

  Timestamp time_ = Timestamp::MinusInfinity();
  int64_t last_ = -1;
  double covered_ = 0;
  double skipped_ = 0;
  std::atomic<double> loss_ratio_ = 0;
};

}  // namespace weir

#endif  // WEIR_WEBRTC_PATCH_ADAPTER_SENDER_RETURN_PATH_H_
