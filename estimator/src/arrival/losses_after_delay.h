// A test whether losses follow long delays.
#ifndef WEIR_ARRIVAL_LOSSES_AFTER_DELAY_H_
#define WEIR_ARRIVAL_LOSSES_AFTER_DELAY_H_

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "weir/units.h"

namespace weir {

// A full queue drops the packets behind those that waited longest. Random loss does not depend on the delay of the
// packet before it. This shows a queue of a few packets, whose delay is too short to be seen by itself.
//
// Per second: n losses, b the sum of the delays of the packets received before them, and the mean m and the variance v
// of all delays. Score() is z = sum(b - n m) / sqrt(sum(n v)) over the last ten seconds. Without a queue that drops
// packets, z is about normal with variance 1.
class LossesAfterDelay {
 public:
  void OnDelay(TimeDelta delay) {
    const double delay_s = delay.seconds();
    present_.packets += 1;
    present_.sum_s += delay_s;
    present_.squares_s2 += delay_s * delay_s;
  }
  // `delay` is that of the latest packet before the loss.
  void OnLoss(TimeDelta delay) {
    present_.losses += 1;
    present_.before_losses_s += delay.seconds();
  }

  void EndSecond() {
    if (present_.packets > 0) {
      const double mean_s = present_.sum_s / present_.packets;
      const double variance_s2 = std::max(present_.squares_s2 / present_.packets - mean_s * mean_s, kLeastVarianceS2);
      ended_[next_] = {present_.before_losses_s - present_.losses * mean_s, present_.losses * variance_s2,
                       present_.before_losses_s, present_.losses};
    } else {
      ended_[next_] = {};
    }
    next_ = (next_ + 1) % kSeconds;
    present_ = {};
  }

  double Score() const { return LastSeconds().Score(); }
  // True if losses follow long delays that are still too short to matter to a viewer: a queue of a few packets drops
  // them. The mean delay before a loss is at most kShortDelay.
  bool ShowShortQueue() const { return LastSeconds().Score() > kFollows && MeanDelayBeforeLoss() <= kShortDelay; }
  // The last ten seconds count. Zero without losses.
  TimeDelta MeanDelayBeforeLoss() const {
    const Ended all = LastSeconds();
    return all.losses > 0 ? TimeDelta::SecondsF(all.before_losses_s / all.losses) : TimeDelta::Zero();
  }

  // A higher score than chance explains, with a probability of 0.6 %.
  static constexpr double kFollows = 2.5;

 private:
  static constexpr size_t kSeconds = 10;
  // 20 packets at 4 Mbps.
  static constexpr TimeDelta kShortDelay = TimeDelta::Millis(60);
  // (10 us)^2: shorter delays are those of timestamps.
  static constexpr double kLeastVarianceS2 = 1e-10;

  struct Present {
    double packets = 0;
    double sum_s = 0;
    double squares_s2 = 0;
    double losses = 0;
    double before_losses_s = 0;
  };
  struct Ended {
    double excess_s = 0;
    double variance_s2 = 0;
    double before_losses_s = 0;
    double losses = 0;

    double Score() const { return variance_s2 > 0 ? excess_s / std::sqrt(variance_s2) : 0; }
  };

  Ended LastSeconds() const {
    Ended all;
    for (const Ended& second : ended_) {
      all.excess_s += second.excess_s;
      all.variance_s2 += second.variance_s2;
      all.before_losses_s += second.before_losses_s;
      all.losses += second.losses;
    }
    return all;
  }

  Present present_;
  std::array<Ended, kSeconds> ended_;
  size_t next_ = 0;
};

}  // namespace weir

#endif  // WEIR_ARRIVAL_LOSSES_AFTER_DELAY_H_
