// While packets wait, the path carries no more than the receive rate. With R the receive rate of the last 400 ms, the
// limit is
//
// 1. 0.95 R, so that the queue drains, while each packet of the last 25 to 50 ms waited for 60 ms above the delay
//    noise. At the receiver, whose rate takes effect later, it falls with the shortest of these waits to 0.6 R at 160
//    ms, unless the link stops repeatedly. There is no limit while a delay persists that the sender's back-off did not
//    drain: in competition with flows that keep the queue full, backing off only loses throughput. There is none in an
//    expected dip of the capacity either, until its queue has drained.
// 2. 0.95 R, while the last two or more whole seconds each lost 30 % more than the best of the last ten, and at least
//    four packets. This ignores loss that occurs at any rate, and chance with a sender of few packets.
// 3. on a link that stops repeatedly, 0.8 times the mean receive rate of the last three seconds, for 3 s after a packet
//    waited for 120 ms longer than a stop: the rate between two stops is more than the link carries.
//
// At the receiver, if the link does not stop repeatedly, the rule also runs each 50 ms while packets wait for 10 ms.
// 0.95, 60 ms and 30 % are the best of a dozen settings on 400 training scenarios, the families and the traces
// together.
#include <algorithm>

#include "guard/guard_rule.h"

namespace weir {
namespace {

constexpr TimeDelta kWaits = TimeDelta::Millis(60);
constexpr double kShare = 0.95;
constexpr double kLeastShare = 0.6;
constexpr TimeDelta kShareScale = TimeDelta::Millis(400);
constexpr TimeDelta kBegins = TimeDelta::Millis(10);
constexpr TimeDelta kRepeat = TimeDelta::Millis(50);
constexpr double kShareOverStops = 0.8;
constexpr double kLoses = 0.3;
constexpr int kLosingSeconds = 2;

class VetoRule final : public GuardRule {
  DataRate Apply(DataRate rate, GuardFacts& facts) override {
    const ArrivalHistory& arrivals = facts.arrivals;
    const bool waits = !arrivals.delay_stands() && facts.rate_before_dip.IsZero() && arrivals.WaitsFor(kWaits);
    const TimeDelta stop = arrivals.RecurringStop(facts.now);
    if (stop >= kRecurringStop && arrivals.WaitsFor(stop + kBeyondStop)) queue_counts_until_ = facts.now + kAfterQueue;
    if (facts.now < queue_counts_until_) rate = Limited(rate, arrivals.MeanRate() * kShareOverStops, facts);
    const bool vetoes = LosesByRate(arrivals) || waits;
    if (!vetoes) return rate;
    return Limited(rate, arrivals.LatestReceiveRate() * (waits ? ShareWhileWaiting(facts) : kShare), facts);
  }
  Timestamp NextTimeout(const GuardFacts& facts, bool) const override {
    const bool waits = !facts.arrivals.delay_stands() && facts.arrivals.WaitsFor(kBegins);
    return waits && TakesEffectLater(facts) ? facts.now + kRepeat : Timestamp::PlusInfinity();
  }

  static bool TakesEffectLater(const GuardFacts& facts) {
    return !facts.reported && facts.arrivals.RecurringStop(facts.now) < kRecurringStop;
  }

  static double ShareWhileWaiting(const GuardFacts& facts) {
    if (!TakesEffectLater(facts)) return kShare;
    return std::clamp(1 - facts.arrivals.SmallestDelay() / kShareScale, kLeastShare, kShare);
  }

  bool LosesByRate(const ArrivalHistory& arrivals) {
    if (arrivals.whole_seconds() != seconds_) {
      seconds_ = arrivals.whole_seconds();
      const ArrivalHistory::Second& latest = arrivals.latest_second();
      const bool loses =
          latest.lost >= ArrivalHistory::kFewestLost && latest.LossRatio() - arrivals.LowestLossRatio() >= kLoses;
      losing_seconds_ = loses ? losing_seconds_ + 1 : 0;
    }
    return losing_seconds_ >= kLosingSeconds;
  }

  Timestamp queue_counts_until_ = Timestamp::MinusInfinity();
  size_t seconds_ = 0;
  int losing_seconds_ = 0;
};

}  // namespace

std::unique_ptr<GuardRule> MakeVetoRule() { return std::make_unique<VetoRule>(); }

}  // namespace weir
