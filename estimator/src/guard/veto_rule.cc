#include "weir/guard/veto_rule.h"

namespace weir {
namespace {

constexpr TimeDelta kWaits = TimeDelta::Millis(60);
constexpr double kShare = 0.95;
constexpr double kLoses = 0.3;
constexpr int kLosingSeconds = 2;

}  // namespace

bool VetoRule::LosesByRate(const QueueWatch& watch) {
  if (watch.whole_seconds() != seconds_) {
    seconds_ = watch.whole_seconds();
    const bool loses = watch.latest_second().fates.lost >= QueueWatch::kFewestLost &&
                       watch.LatestLossRatio() - watch.LowestLossRatio() >= kLoses;
    losing_seconds_ = loses ? losing_seconds_ + 1 : 0;
  }
  return losing_seconds_ >= kLosingSeconds;
}

DataRate VetoRule::Limit(const GuardFacts& facts, const QueueWatch& watch, const ReceiveRate& received) {
  const bool waits = !facts.delay_stands && watch.WaitsFor(kWaits);
  return LosesByRate(watch) || waits ? received.Latest() * kShare : DataRate::PlusInfinity();
}

}  // namespace weir
