#include "arrival/congestion_monitor.h"

#include <algorithm>
#include <array>

namespace weir {
namespace {

constexpr TimeDelta kQueue = TimeDelta::Millis(15);
constexpr TimeDelta kLongQueue = TimeDelta::Millis(30);
constexpr TimeDelta kUntilWarning = TimeDelta::Millis(100);
constexpr TimeDelta kUntilCongested = TimeDelta::Millis(200);
constexpr TimeDelta kUntilNormal = TimeDelta::Millis(500);
constexpr TimeDelta kSilence = TimeDelta::Millis(500);
constexpr double kLossRatio = 0.1;

// Updates `since`, the time at which a condition began to hold; infinite if it does not hold now.
void Follow(bool holds, Timestamp now, Timestamp& since) {
  since = holds ? std::min(since, now) : Timestamp::PlusInfinity();
}

bool Loses(const ArrivalHistory& arrivals) {
  return arrivals.latest_second().Loses(arrivals.LowestLossRatio() + kLossRatio);
}

}  // namespace

std::string_view ToString(CongestionState state) {
  constexpr std::array<std::string_view, 3> kNames{"normal", "early_warning", "congested"};
  return kNames[static_cast<size_t>(state)];
}

void CongestionMonitor::OnDecision(const ArrivalHistory& arrivals, Timestamp now, DataRate target) {
  const bool silent = arrivals.Silence(now) >= std::max(kSilence, arrivals.ExpectedSilence());
  const bool loses = Loses(arrivals);
  Follow(arrivals.WaitsThroughFramesFor(kQueue), now, queue_since_);
  Follow(arrivals.WaitsThroughFramesFor(kLongQueue), now, long_queue_since_);
  Follow(!queue_since_.IsFinite() && !loses && !silent, now, clear_since_);
  const bool waits = now - long_queue_since_ >= kUntilCongested;
  if (waits || loses) {
    // Losses may follow an outage, in which the latest rates are zero.
    const DataRate carried = waits ? arrivals.LatestReceiveRate() : arrivals.HighestReceiveRate();
    Enter(CongestionState::kCongested, now, carried);
    state_.link_capacity = std::min(state_.link_capacity, carried);
  } else if (silent) {
    Enter(CongestionState::kCongested, now, target);
  } else if (state_.state == CongestionState::kNormal && now - queue_since_ >= kUntilWarning) {
    Enter(CongestionState::kEarlyWarning, now, target);
  } else if (now - clear_since_ >= kUntilNormal) {
    Enter(CongestionState::kNormal, now, target);
  }
}

void CongestionMonitor::OnProbeAfterPause(Timestamp now, DataRate rate) {
  queue_since_ = long_queue_since_ = Timestamp::PlusInfinity();
  Enter(CongestionState::kNormal, now, rate);
}

void CongestionMonitor::Enter(CongestionState state, Timestamp now, DataRate capacity) {
  if (state_.state != state || !state_.at_time.IsFinite()) state_ = {state, now, capacity};
}

}  // namespace weir
