// Overrules a policy that keeps the rate at the minimum on a free path. With T the rate in force, W the rate that the
// policy requests, and H the highest receive rate of a second, which decays by half each 100 s:
//
// 1. W is low: at most twice the minimum, or H / 10.
// 2. The path is free: packets do not wait, and the latest second did not lose 5 % and four packets. The sender uses
//    the target: at least half of T arrived in the latest second.
// 3. The policy starves the path after 10 s of 1 and 2; time in which one of them does not hold is subtracted. It is
//    then overruled until W has not been low for 60 s.
// 4. While it is overruled, the rate is at least that of the ten-line rule. With R the receive rate of the last 400 ms,
//    it is min(T 1.1^(dt / 100 ms), 2 R + 50 kbps) while no packet waits. While packets wait for q it is never above
//    the receive rate: R (1 - (q - 1200 bytes / R) / 300 ms), within 0.3 R and 0.9 R.
//
//    A packet waits if it takes longer than its own transmission, min(1200 bytes, R / 30) / max(R, 300 kbps): the base
//    delay is that of packets at the minimum, and video frames at a higher rate, 30 a second, fill larger packets.
#include <algorithm>
#include <cmath>

#include "guard/guard_rule.h"

namespace weir {
namespace {

constexpr double kMinimums = 2;
constexpr double kShareOfHighest = 0.1;
constexpr double kDecayInSecond = 0.993;
constexpr double kLoses = 0.05;
constexpr double kUses = 0.5;
constexpr TimeDelta kStarves = TimeDelta::Seconds(10);
constexpr TimeDelta kOverruled = TimeDelta::Seconds(60);

constexpr double kIncrease = 1.1;
constexpr TimeDelta kIncreaseTime = TimeDelta::Millis(100);
constexpr double kHeadroomFactor = 2;
constexpr DataRate kHeadroom = DataRate::KilobitsPerSecond(50);
constexpr double kDecrease = 0.9;
constexpr double kLargestDecrease = 0.3;
constexpr TimeDelta kQueueScale = TimeDelta::Millis(300);
constexpr TimeDelta kFrameInterval = TimeDelta::Millis(33);
constexpr DataRate kSlowLink = DataRate::KilobitsPerSecond(300);

class StarveRule final : public GuardRule {
  DataRate Apply(DataRate rate, GuardFacts& facts) override {
    const ArrivalHistory& arrivals = facts.arrivals;
    const DataRate second = arrivals.LatestSecondRate();
    if (arrivals.whole_seconds() != seconds_) {
      seconds_ = arrivals.whole_seconds();
      highest_ = std::max(highest_ * kDecayInSecond, second);
    }
    const bool is_little = rate <= std::max(facts.constraints.min_rate * kMinimums, highest_ * kShareOfHighest);
    const bool starves = is_little && IsFree(arrivals) && second >= facts.rate * kUses;
    starved_ = std::clamp(starves ? starved_ + facts.elapsed : starved_ - facts.elapsed, TimeDelta::Zero(), kStarves);
    const bool is_overruled = facts.now < overruled_until_;
    if (is_little && (is_overruled || starved_ >= kStarves)) overruled_until_ = facts.now + kOverruled;
    return facts.now < overruled_until_ ? std::max(rate, RuleRate(facts)) : rate;
  }

  static bool IsFree(const ArrivalHistory& arrivals) {
    const ArrivalHistory::Second& second = arrivals.latest_second();
    return arrivals.totals().packets_with_delay > 0 && !Waits(arrivals, TimeDelta::Zero()) && !second.Loses(kLoses);
  }

  static bool Waits(const ArrivalHistory& arrivals, TimeDelta allowance) {
    const QueueSign sign = arrivals.Sign(allowance);
    return sign == QueueSign::kQueue || (sign == QueueSign::kUnknown && arrivals.LatestWaited(allowance));
  }

  static DataRate RuleRate(const GuardFacts& facts) {
    const DataRate received = facts.arrivals.LatestReceiveRate();
    const TimeDelta transmission = std::min(kFullPacket, received * kFrameInterval) / std::max(received, kSlowLink);
    if (Waits(facts.arrivals, transmission)) return received * ShareWhilePacketsWait(received, facts);
    const double steps = std::clamp(facts.elapsed / kIncreaseTime, 0.0, 10.0);
    return std::min(facts.rate * std::pow(kIncrease, steps), received * kHeadroomFactor + kHeadroom);
  }

  static double ShareWhilePacketsWait(DataRate received, const GuardFacts& facts) {
    const TimeDelta delay = facts.arrivals.SmallestDelay();
    if (!delay.IsFinite()) return kDecrease;
    const TimeDelta packet = kFullPacket / std::max(received, facts.constraints.min_rate);
    return std::clamp(1 - (delay - packet) / kQueueScale, kLargestDecrease, kDecrease);
  }

  size_t seconds_ = 0;
  DataRate highest_ = DataRate::Zero();
  // Time in which 1 and 2 held, minus the other time.
  TimeDelta starved_ = TimeDelta::Zero();
  Timestamp overruled_until_ = Timestamp::MinusInfinity();
};

}  // namespace

std::unique_ptr<GuardRule> MakeStarveRule() { return std::make_unique<StarveRule>(); }

}  // namespace weir
