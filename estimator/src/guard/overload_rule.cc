// Backs off to find the cause of lasting loss: if delays do not show the queue, loss of a full queue looks like random
// loss. Keeps the invariant of weir/guard.h.
//
// 1. After ten consecutive seconds that each lost 5 % of at least half the rate in force, the limit is 0.65 R for 3 s,
//    with R the receive rate of the tenth second. A sender that uses less is limited by its application, not by R.
// 2. If the last second of the back-off lost less than half as much as the ten before, the rate was the cause. The
//    limit is then 0.95 R, and 1 % more after each second in which it was effective, until a second at more than 1.05 R
//    loses less than 5 %.
// 3. The next back-off begins after 15 s. If the sender complied and the loss continued, it begins after a minute, and
//    twice as late after each such back-off. The rate before the back-off is in force again at once, since it was not
//    the cause and a controller would take seconds to reach it. The loss ratio during the back-off, if below 20 %, is
//    that of the path at any rate, and policies see little of it. A higher one suggests a queue of a few packets, which
//    drops most of each frame.
#include <algorithm>
#include <utility>

#include "guard/guard_rule.h"

namespace weir {
namespace {

constexpr double kBackOff = 0.65;
constexpr double kLoses = 0.05;
constexpr double kUses = 0.5;
constexpr int kLosingSeconds = 10;
constexpr size_t kBackOffSeconds = 3;
constexpr double kEnds = 0.5;
constexpr double kMostLossAtAnyRate = 0.2;
constexpr double kBelow = 0.95;
constexpr double kRise = 1.01;
constexpr double kWithin = 1.05;
// A sender that complies is closer to the back-off's rate than to R.
constexpr double kObeys = (1 + kBackOff) / 2;
constexpr size_t kShortestWait = 15;
constexpr size_t kWaitForLoss = 60;
constexpr size_t kLongestWait = 480;

class OverloadRule final : public GuardRule {
  DataRate Apply(DataRate rate, GuardFacts& facts) override {
    // After a long pause the history begins again.
    if (facts.arrivals.whole_seconds() < seconds_) *this = {};
    if (facts.arrivals.whole_seconds() != seconds_) {
      seconds_ = facts.arrivals.whole_seconds();
      OnSecond(facts.arrivals, facts.rate);
    }
    rate = std::max(rate, std::min(std::exchange(resumed_, DataRate::Zero()), facts.constraints.max_rate));
    facts.rate_causes_losses |= limit_.IsFinite() && !probes_;
    facts.loss_ratio_at_any_rate = loss_ratio_at_any_rate_;
    limits_ = limits_ || rate > limit_;
    return Limited(rate, limit_, facts);
  }

  void OnSecond(const ArrivalHistory& arrivals, DataRate rate) {
    const double loss_ratio = arrivals.latest_second().LossRatio();
    const bool loses = loss_ratio >= kLoses;
    const bool uses = arrivals.LatestSecondRate() >= rate * (kUses * (1 - loss_ratio));
    losing_seconds_ = loses && uses ? losing_seconds_ + 1 : 0;
    if (probes_) {
      // The first second of the back-off has packets that were sent before it.
      if (seconds_ - begin_ > 1) probed_loss_ratio_ += loss_ratio / (kBackOffSeconds - 1);
      if (seconds_ - begin_ >= kBackOffSeconds) End(arrivals);
      return;
    }
    if (limits_) limit_ = limit_ * kRise;
    limits_ = false;
    if (!loses && arrivals.LatestSecondRate() > passed_ * kWithin) limit_ = DataRate::PlusInfinity();
    if (losing_seconds_ >= kLosingSeconds && seconds_ >= next_) Begin(arrivals, rate);
  }

  void Begin(const ArrivalHistory& arrivals, DataRate rate) {
    probes_ = true;
    begin_ = seconds_;
    before_ = rate;
    passed_ = arrivals.LatestSecondRate();
    loss_ratio_ = arrivals.MeanLossRatio();
    probed_loss_ratio_ = 0;
    limit_ = passed_ * kBackOff;
  }

  void End(const ArrivalHistory& arrivals) {
    probes_ = limits_ = false;
    next_ = seconds_ + kShortestWait;
    limit_ = DataRate::PlusInfinity();
    if (arrivals.latest_second().LossRatio() < loss_ratio_ * kEnds) {
      limit_ = passed_ * kBelow;
      wait_ = kWaitForLoss;
      loss_ratio_at_any_rate_ = 0;
    } else if (arrivals.LatestSecondRate() < passed_ * kObeys) {
      next_ = seconds_ + wait_;
      wait_ = std::min(wait_ * 2, kLongestWait);
      resumed_ = before_;
      loss_ratio_at_any_rate_ = probed_loss_ratio_ < kMostLossAtAnyRate ? probed_loss_ratio_ : 0;
    }
  }

  size_t seconds_ = 0;
  int losing_seconds_ = 0;
  // The present or latest back-off: its first second, and the rate in force, R and the loss ratio before it.
  bool probes_ = false;
  size_t begin_ = 0;
  DataRate before_ = DataRate::Zero();
  DataRate passed_ = DataRate::Zero();
  double loss_ratio_ = 0;
  // The loss ratio during the back-off, and during the latest one that did not end the loss.
  double probed_loss_ratio_ = 0;
  double loss_ratio_at_any_rate_ = 0;
  DataRate limit_ = DataRate::PlusInfinity();
  // The rate before a back-off that did not end the loss, until it is in force again.
  DataRate resumed_ = DataRate::Zero();
  // True if the limit was effective in the present second.
  bool limits_ = false;
  size_t next_ = 0;
  size_t wait_ = kWaitForLoss;
};

}  // namespace

std::unique_ptr<GuardRule> MakeOverloadRule() { return std::make_unique<OverloadRule>(); }

}  // namespace weir
