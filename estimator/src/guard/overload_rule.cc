// Backs off to find the cause of lasting loss: if delays do not show the queue, loss of a full queue looks like random
// loss. Keeps the invariant of weir/guard.h.
//
// 1. After ten consecutive seconds that each lost 5 % of at least half the rate in force, the limit is 0.65 R for 3 s,
//    with R the receive rate of the tenth second. A sender that uses less is limited by its application, not by R.
// 2. If the last second of the back-off lost less than half as much as the ten before, and its last two seconds
//    significantly less, the rate was the cause. The limit is then 0.95 R, and 1 % more after each second in which it
//    was effective, until a second at more than 1.05 R loses less than 5 %.
// 3. The next back-off begins after 15 s. If the sender complied and the loss continued, it begins after a minute, and
//    twice as late after each such back-off. The rate before the back-off is in force again at once, since it was not
//    the cause and a controller would take seconds to reach it. The loss ratio during the back-off, if below 20 %, is
//    that of the path at any rate, and policies see little of it. A higher one suggests a queue of a few packets, which
//    drops most of each frame.
// 4. At a receiver, such a back-off also serves LossProof. While the loss is worth a proof and has none, the first
//    back-off begins after four seconds of (1) instead of ten, unless (2) holds a limit, and the next a minute after
//    it. If it proves nothing, it does not delay those of (3).
#include <algorithm>
#include <utility>

#include "guard/guard_rule.h"
#include "guard/loss_proof.h"

namespace weir {
namespace {

constexpr double kBackOff = 0.65;
constexpr double kLoses = 0.05;
constexpr double kUses = 0.5;
constexpr int kLosingSeconds = 10;
constexpr int kLosingSecondsForProof = 4;
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
      OnSecond(facts);
    }
    rate = std::max(rate, std::min(std::exchange(resumed_, DataRate::Zero()), facts.constraints.max_rate));
    facts.rate_causes_losses |= limit_.IsFinite() && !probes_;
    facts.loss_ratio_at_any_rate = loss_ratio_at_any_rate_;
    facts.losses_are_proven = proof_.Holds();
    limits_ = limits_ || rate > limit_;
    return Limited(rate, limit_, facts);
  }

  void OnSecond(const GuardFacts& facts) {
    const ArrivalHistory& arrivals = facts.arrivals;
    const double loss_ratio = arrivals.latest_second().LossRatio();
    const bool loses = loss_ratio >= kLoses;
    const bool uses = arrivals.LatestSecondRate() >= facts.rate * (kUses * (1 - loss_ratio));
    losing_seconds_ = loses && uses ? losing_seconds_ + 1 : 0;
    proof_.OnSecond(arrivals);
    if (probes_) {
      // The first second of the back-off has packets that were sent before it.
      if (seconds_ - begin_ > 1) {
        probed_loss_ratio_ += loss_ratio / (kBackOffSeconds - 1);
        probed_seconds_.Add(arrivals.latest_second());
      }
      if (seconds_ - begin_ >= kBackOffSeconds) End(arrivals);
      return;
    }
    if (limits_) limit_ = limit_ * kRise;
    limits_ = false;
    if (!loses && arrivals.LatestSecondRate() > passed_ * kWithin) limit_ = DataRate::PlusInfinity();
    const bool proves =
        !facts.reported && limit_.IsPlusInfinity() && proof_.NeedsBackOff() && LossProof::IsWorthIt(arrivals);
    const bool is_due = losing_seconds_ >= kLosingSeconds && seconds_ >= next_;
    serves_proof_ = !is_due && proves && losing_seconds_ >= kLosingSecondsForProof && seconds_ >= next_proof_;
    if (is_due || serves_proof_) Begin(arrivals, facts.rate);
  }

  void Begin(const ArrivalHistory& arrivals, DataRate rate) {
    probes_ = true;
    begin_ = seconds_;
    before_ = rate;
    passed_ = arrivals.LatestSecondRate();
    seconds_before_ = arrivals.SumOfSeconds();
    loss_ratio_ = seconds_before_.LossRatio();
    probed_seconds_ = {};
    probed_loss_ratio_ = 0;
    limit_ = passed_ * kBackOff;
  }

  void End(const ArrivalHistory& arrivals) {
    probes_ = limits_ = false;
    next_ = seconds_ + kShortestWait;
    next_proof_ = seconds_ + kWaitForLoss;
    limit_ = DataRate::PlusInfinity();
    const bool falls = arrivals.latest_second().LossRatio() < loss_ratio_ * kEnds;
    if (falls && seconds_before_.LosesMoreThan(probed_seconds_)) {
      limit_ = passed_ * kBelow;
      wait_ = kWaitForLoss;
      loss_ratio_at_any_rate_ = 0;
      proof_.Reset();
    } else if (arrivals.LatestSecondRate() < passed_ * kObeys) {
      resumed_ = before_;
      proof_.OnBackOff(seconds_before_, probed_seconds_, passed_);
      // Too few packets to tell, or a back-off that came before it was due and proved nothing.
      if (falls || (serves_proof_ && !proof_.proven())) return;
      next_ = seconds_ + wait_;
      wait_ = std::min(wait_ * 2, kLongestWait);
      loss_ratio_at_any_rate_ = probed_loss_ratio_ < kMostLossAtAnyRate ? probed_loss_ratio_ : 0;
    }
  }

  size_t seconds_ = 0;
  int losing_seconds_ = 0;
  // The present or latest back-off: its first second, and the rate in force, R and the loss ratio before it.
  bool probes_ = false;
  bool serves_proof_ = false;
  size_t begin_ = 0;
  DataRate before_ = DataRate::Zero();
  DataRate passed_ = DataRate::Zero();
  double loss_ratio_ = 0;
  ArrivalHistory::Second seconds_before_;
  ArrivalHistory::Second probed_seconds_;
  LossProof proof_;
  // The loss ratio during the back-off, and during the latest one that did not end the loss.
  double probed_loss_ratio_ = 0;
  double loss_ratio_at_any_rate_ = 0;
  DataRate limit_ = DataRate::PlusInfinity();
  // The rate before a back-off that did not end the loss, until it is in force again.
  DataRate resumed_ = DataRate::Zero();
  // True if the limit was effective in the present second.
  bool limits_ = false;
  size_t next_ = 0;
  // Time of the next back-off that may prove losses.
  size_t next_proof_ = 0;
  size_t wait_ = kWaitForLoss;
};

}  // namespace

std::unique_ptr<GuardRule> MakeOverloadRule() { return std::make_unique<OverloadRule>(); }

}  // namespace weir
