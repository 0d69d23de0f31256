// While packets wait, the path carries its receive rate and no more. The rate is at most 0.95 times the receive rate of
// the last 400 ms, so that the queue drains, while one of these holds:
//
// 1. Each packet of the last 25 to 50 ms waited for 60 ms above the delay noise, and no delay persists that the
//    sender's back-off did not drain: in competition with flows that keep the queue full, backing off only loses
//    throughput.
// 2. The last two or more whole seconds each lost 30 % more than the best of the last ten, and at least four packets.
//    Loss that occurs at any rate does not count, nor does chance with a sender of few packets.
//
// The constants are the best of a dozen settings on 400 training scenarios, the families and the traces together.
#include "guard/guard_rule.h"

namespace weir {
namespace {

constexpr TimeDelta kWaits = TimeDelta::Millis(60);
constexpr double kShare = 0.95;
constexpr double kLoses = 0.3;
constexpr int kLosingSeconds = 2;

class VetoRule final : public GuardRule {
  DataRate Apply(DataRate rate, GuardFacts& facts) override {
    const ArrivalHistory& arrivals = facts.arrivals;
    const bool waits = !arrivals.delay_stands() && arrivals.WaitsFor(kWaits);
    const bool vetoes = LosesByRate(arrivals) || waits;
    return vetoes ? Limited(rate, arrivals.LatestReceiveRate() * kShare, facts) : rate;
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

  size_t seconds_ = 0;
  int losing_seconds_ = 0;
};

}  // namespace

std::unique_ptr<GuardRule> MakeVetoRule() { return std::make_unique<VetoRule>(); }

}  // namespace weir
