// Detects a policer: a token bucket that passes a rate R, drops the packets beyond it, and delays none.
//
// 1. A second is policed when
//    a. it lost at least 5 % and four packets, and no packet waited for 10 ms;
//    b. of the last ten seconds, those with more than 1.05 R sent lost at least 5 % together, the others less than 3 %;
//    c. the others had enough packets to lose four at the loss ratio of the former: random loss occurs in both groups.
// 2. After three policed seconds with the same R, within 10 % and a minute of each other, the limit is 0.95 R. Each
//    further one lowers it by at least 5 %.
// 3. Each second that is not policed and carries half of the limit raises it by 1 %. The limit ends at 1.3 R, or when
//    seconds with less than 3 % of loss have carried more than R by 0.5 s of R: the tokens saved in a pause allow less.
//    After that, one policed second within a minute restores it.
#include <algorithm>
#include <cmath>

#include "guard/guard_rule.h"

namespace weir {
namespace {

using Second = ArrivalHistory::Second;

constexpr double kLoses = 0.05;
// Accuracy of R.
constexpr double kWithin = 1.05;
constexpr double kLosesLittle = 0.03;
constexpr TimeDelta kWaits = TimeDelta::Millis(10);
constexpr int kTimes = 3;
constexpr size_t kMemorySeconds = 60;
constexpr double kSame = 0.1;
constexpr double kBelow = 0.95;
constexpr double kRise = 1.01;
constexpr double kUsed = 0.5;
constexpr double kEnd = 1.3;
constexpr double kSavedS = 0.5;

// Bytes sent, if lost packets are as large as others.
double SentBytes(const Second& second) { return static_cast<double>(second.size.bytes()) / (1 - second.LossRatio()); }

bool LosesBeyond(double passed_bytes, const ArrivalHistory& arrivals) {
  Second beyond, within;
  for (const Second& second : arrivals.seconds()) {
    if (second.received == 0) continue;
    (SentBytes(second) > kWithin * passed_bytes ? beyond : within).Add(second);
  }
  const double lost_at_any_rate = beyond.LossRatio() * static_cast<double>(within.lost + within.received);
  return lost_at_any_rate >= ArrivalHistory::kFewestLost && beyond.LossRatio() >= kLoses &&
         within.LossRatio() < kLosesLittle;
}

class PolicerRule final : public GuardRule {
  DataRate Apply(DataRate rate, GuardFacts& facts) override {
    waited_ = waited_ || facts.arrivals.WaitsFor(kWaits);
    if (facts.arrivals.whole_seconds() != seconds_) {
      seconds_ = facts.arrivals.whole_seconds();
      OnSecond(facts.arrivals);
    }
    facts.rate_causes_losses |= limit_.IsFinite();
    return Limited(rate, limit_, facts);
  }

  void OnSecond(const ArrivalHistory& arrivals) {
    const Second& second = arrivals.latest_second();
    if (!waited_ && second.Loses(kLoses) && LosesBeyond(static_cast<double>(second.size.bytes()), arrivals)) {
      OnPolicedSecond(arrivals.LatestSecondRate());
    } else if (limit_.IsFinite()) {
      const DataRate rate = arrivals.LatestSecondRate();
      if (rate >= limit_ * kUsed) limit_ = limit_ * kRise;
      excess_s_ = second.LossRatio() < kLosesLittle ? std::max(excess_s_ + rate / passed_ - 1, 0.0) : 0.0;
      if (limit_ > passed_ * kEnd || excess_s_ > kSavedS) {
        limit_ = DataRate::PlusInfinity();
        times_ = kTimes - 1;
        latest_ = seconds_;
      }
    }
    waited_ = false;
  }

  void OnPolicedSecond(DataRate passed) {
    const bool again = times_ > 0 && seconds_ - latest_ <= kMemorySeconds && std::abs(passed / passed_ - 1) <= kSame;
    times_ = again ? times_ + 1 : 1;
    excess_s_ = 0;
    passed_ = passed;
    latest_ = seconds_;
    if (times_ >= kTimes) limit_ = std::min(limit_ * kBelow, passed * kBelow);
  }

  size_t seconds_ = 0;
  // A packet waited in the present second.
  bool waited_ = false;
  // R, the number and the latest of the policed seconds.
  DataRate passed_ = DataRate::Zero();
  int times_ = 0;
  size_t latest_ = 0;
  // Arrived beyond R since, in seconds of R.
  double excess_s_ = 0;
  DataRate limit_ = DataRate::PlusInfinity();
};

}  // namespace

std::unique_ptr<GuardRule> MakePolicerRule() { return std::make_unique<PolicerRule>(); }

}  // namespace weir
