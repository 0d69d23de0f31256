// Proof that losses do not depend on the rate.
#ifndef WEIR_GUARD_LOSS_PROOF_H_
#define WEIR_GUARD_LOSS_PROOF_H_

#include <algorithm>
#include <cstddef>
#include <optional>

#include "arrival/arrival_history.h"
#include "weir/units.h"

namespace weir {

// A queue of a few packets, a policer and an AQM drop packets without a delay that a receiver could see, and these
// losses grow with the rate, of this flow or of another. Therefore losses are proven not to depend on the rate
//   1. once a back-off from the receive rate R has lost a share that is not significantly lower;
//   2. while the loss ratio of the last ten seconds does not significantly exceed that of the back-off and the ten
//      seconds before it. Otherwise the next back-off must prove them again;
//   3. at rates of at most 3 R. After ten seconds without significantly more loss, R is their mean rate if that is
//      higher;
//   4. while they do not follow long delays: z of LossesAfterDelay is at most 2.5. Otherwise a short queue drops
//      packets, and nothing is proven for 15 s, each time twice as long, at most 8 minutes.
class LossProof {
 public:
  using Second = ArrivalHistory::Second;

  // True if a proof would help:
  //   1. each of the last ten seconds lost 2 % or more, and together they lost 7 %. Below that, LossBasedBweV2 hardly
  //      limits the rate, and at a higher rate than it allows a viewer sees more freezes, since a frame of more packets
  //      is lost more often;
  //   2. one feedback message for each of these losses, of 60 bytes with UDP and IP, costs at most 5 % of the received
  //      bytes, the share that RFC 3550 (section 6.2) gives to RTCP. Streams of small packets, such as audio alone, may
  //      exceed it.
  static bool IsWorthIt(const ArrivalHistory& arrivals) {
    const Second all = arrivals.SumOfSeconds();
    return arrivals.LowestLossRatio() >= kLowestLoss && all.LossRatio() >= kMeanLoss &&
           kMessage * static_cast<double>(all.lost) <= all.size * kHighestCost;
  }

  // Called after each whole second.
  void OnSecond(const ArrivalHistory& arrivals) {
    seconds_ = arrivals.whole_seconds();
    if (arrivals.LossesAfterDelayScore() > LossesAfterDelay::kFollows && seconds_ >= queue_until_) {
      queue_until_ = seconds_ + hold_;
      hold_ = std::min(hold_ * 2, kLongestHold);
    }
    const Second all = arrivals.SumOfSeconds();
    if (proven_ && all.LosesMoreThan(*proven_)) proven_.reset();
    if (seconds_ >= proven_at_ + kSecondsAtRate) rate_ = std::max(rate_, all.size / TimeDelta::Seconds(kSecondsAtRate));
    grown_ = arrivals.LatestSecondRate() > rate_ * kMostGrowth;
  }

  // Called at the end of a back-off with which the sender complied: the packets of the ten seconds before it, the
  // packets of its own last seconds, and R.
  void OnBackOff(const Second& before, const Second& during, DataRate rate) {
    proven_.reset();
    if (before.LosesMoreThan(during)) return;
    proven_ = before;
    proven_->Add(during);
    rate_ = rate;
    grown_ = false;
    proven_at_ = seconds_;
  }
  bool proven() const { return proven_.has_value(); }
  // Called at the end of a back-off that ended the losses.
  void Reset() { proven_.reset(); }

  bool Holds() const { return proven_ && !grown_ && seconds_ >= queue_until_; }
  // True if a back-off might prove the present losses.
  bool NeedsBackOff() const { return !proven_ && seconds_ >= queue_until_; }

 private:
  static constexpr double kLowestLoss = 0.02;
  static constexpr double kMeanLoss = 0.07;
  static constexpr DataSize kMessage = DataSize::Bytes(60);
  static constexpr double kHighestCost = 0.05;
  static constexpr double kMostGrowth = 3;
  static constexpr size_t kSecondsAtRate = 10;
  static constexpr size_t kShortestHold = 15;
  static constexpr size_t kLongestHold = 480;

  size_t seconds_ = 0;
  // The packets that proved it, R, and when.
  std::optional<Second> proven_;
  DataRate rate_ = DataRate::Zero();
  size_t proven_at_ = 0;
  // True if the rate is above 3 R.
  bool grown_ = false;
  size_t queue_until_ = 0;
  size_t hold_ = kShortestHold;
};

}  // namespace weir

#endif  // WEIR_GUARD_LOSS_PROOF_H_
