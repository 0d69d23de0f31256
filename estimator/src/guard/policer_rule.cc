#include "weir/guard/policer_rule.h"

#include <cmath>

namespace weir {
namespace {

constexpr double kLoses = 0.05;
// Its rate is not known better than this.
constexpr double kWithin = 1.05;
constexpr double kLosesLittle = 0.03;
constexpr TimeDelta kWaits = TimeDelta::Millis(10);
constexpr int kTimes = 3;
constexpr size_t kMemorySeconds = 60;
constexpr double kSame = 0.1;
constexpr double kBelow = 0.95;
constexpr double kRise = 1.01;
constexpr double kEnd = 1.3;

// What was sent, by what arrived, if packets that are lost are as large as others.
double SentBytes(const QueueWatch::Second& second) {
  return static_cast<double>(second.size.bytes()) / (1 - second.fates.LossRatio());
}

bool LosesBeyond(double passed_bytes, const QueueWatch& watch) {
  QueueWatch::Fates beyond;
  QueueWatch::Fates within;
  for (const QueueWatch::Second& second : watch.seconds()) {
    if (second.fates.received == 0) continue;
    (SentBytes(second) > kWithin * passed_bytes ? beyond : within).Add(second.fates);
  }
  const double lost_at_any_rate = beyond.LossRatio() * static_cast<double>(within.lost + within.received);
  return lost_at_any_rate >= QueueWatch::kFewestLost && beyond.LossRatio() >= kLoses &&
         within.LossRatio() < kLosesLittle;
}

}  // namespace

void PolicerRule::OnSecond(const QueueWatch& watch) {
  const QueueWatch::Second& second = watch.latest_second();
  const bool loses = second.fates.lost >= QueueWatch::kFewestLost && second.fates.LossRatio() >= kLoses;
  if (!waited_ && loses && LosesBeyond(static_cast<double>(second.size.bytes()), watch)) {
    OnPolicedSecond(watch.LatestReceiveRate());
  } else if (limit_.IsFinite()) {
    limit_ = limit_ * kRise;
    const bool passes_more = second.fates.LossRatio() < kLosesLittle && watch.LatestReceiveRate() > passed_ * kWithin;
    if (limit_ > passed_ * kEnd || passes_more) {
      limit_ = DataRate::PlusInfinity();
      times_ = 0;
    }
  }
  waited_ = false;
}

void PolicerRule::OnPolicedSecond(DataRate passed) {
  const bool again = times_ > 0 && seconds_ - latest_ <= kMemorySeconds && std::abs(passed / passed_ - 1) <= kSame;
  times_ = again ? times_ + 1 : 1;
  passed_ = passed;
  latest_ = seconds_;
  if (times_ >= kTimes) limit_ = passed * kBelow;
}

DataRate PolicerRule::Limit(const QueueWatch& watch) {
  waited_ = waited_ || watch.WaitsFor(kWaits);
  if (watch.whole_seconds() == seconds_) return limit_;
  seconds_ = watch.whole_seconds();
  OnSecond(watch);
  return limit_;
}

}  // namespace weir
