#include "weir/guard/queue_watch.h"

#include <algorithm>

namespace weir {
namespace {

constexpr TimeDelta kTick = TimeDelta::Millis(25);
constexpr TimeDelta kSecond = TimeDelta::Seconds(1);
// After a pause this long nothing that is remembered holds.
constexpr TimeDelta kForget = TimeDelta::Seconds(10);

constexpr double kQueueS = 0.002;
constexpr double kNoises = 1.5;
constexpr double kMaxNoiseS = 0.04;
constexpr int64_t kLostInAHundred = 20;
constexpr double kNoisyS = 0.005;
constexpr int64_t kNoisyInAHundred = 1;

}  // namespace

void QueueWatch::OnArrival(const Arrival& arrival) {
  Advance(arrival.packet.arrival_time);
  Slot& slot = slots_[0];
  ++slot.fates.received;
  slot.fates.lost += arrival.lost_change;
  second_.size += arrival.packet.size();
  latest_waited_ = arrival.lost_change > 0 || (arrival.has_delay && IsQueue(arrival.queueing_delay));
  if (!arrival.has_delay) return;
  smallest_delays_[0] = std::min(smallest_delays_[0], arrival.queueing_delay);
  slot.smallest_delay = std::min(slot.smallest_delay, arrival.queueing_delay);
}

double QueueWatch::NoiseAllowanceSeconds() const { return std::min(kNoises * noise_.Seconds(), kMaxNoiseS); }

bool QueueWatch::IsQueue(TimeDelta delay) const { return delay.seconds() >= kQueueS + NoiseAllowanceSeconds(); }

bool QueueWatch::WaitsFor(TimeDelta delay) const {
  const TimeDelta smallest = SmallestDelay();
  return smallest.IsFinite() && smallest.seconds() >= delay.seconds() + NoiseAllowanceSeconds();
}

void QueueWatch::Advance(Timestamp now) {
  const TimeDelta elapsed = now - tick_start_;
  if (elapsed < kTick) return;
  if (elapsed >= kForget) {
    *this = QueueWatch();
    tick_start_ = now;
  }
  for (; now - tick_start_ >= kTick; tick_start_ += kTick) {
    smallest_delays_ = {TimeDelta::PlusInfinity(), smallest_delays_[0]};
    if (++ticks_ % kTicksASlot == 0) CloseSlot();
  }
}

void QueueWatch::CloseSlot() {
  if (slots_[0].smallest_delay.IsFinite()) noise_.Add(slots_[0].smallest_delay.seconds());
  second_.fates.Add(slots_[0].fates);
  slots_ = {Slot{}, slots_[0]};
  if (ticks_ % (kTicksASlot * kSlotsASecond) != 0) return;
  seconds_[whole_seconds_++ % kSeconds] = second_;
  second_ = {};
}

QueueSign QueueWatch::Look(Timestamp now) {
  if (!tick_start_.IsFinite()) return QueueSign::kUnknown;
  Advance(now);
  const TimeDelta delay = SmallestDelay();
  if (!delay.IsFinite()) return QueueSign::kUnknown;
  const int64_t lost = std::max<int64_t>(slots_[0].fates.lost + slots_[1].fates.lost, 0);
  const int64_t sent = lost + slots_[0].fates.received + slots_[1].fates.received;
  return IsQueue(delay) || (lost >= kFewestLost && 100 * lost >= kLostInAHundred * sent) ? QueueSign::kQueue
                                                                                         : QueueSign::kNone;
}

bool QueueWatch::IsNoisy() const {
  Fates all;
  for (const Second& second : seconds_) all.Add(second.fates);
  return noise_.Seconds() >= kNoisyS ||
         (all.lost > 0 && 100 * all.lost >= kNoisyInAHundred * (all.lost + all.received));
}

DataRate QueueWatch::HighestReceiveRate() const {
  return std::ranges::max_element(seconds_, {}, &Second::size)->size / kSecond;
}

DataRate QueueWatch::LatestReceiveRate() const { return latest_second().size / kSecond; }

double QueueWatch::LatestLossRatio() const { return latest_second().fates.LossRatio(); }

double QueueWatch::LowestLossRatio() const {
  double lowest = 1;
  for (size_t i = 0; i < std::min(whole_seconds_, kSeconds); ++i) {
    if (seconds_[i].fates.received > 0) lowest = std::min(lowest, seconds_[i].fates.LossRatio());
  }
  return lowest;
}

void QueueWatch::Fates::Add(const Fates& other) {
  received += other.received;
  lost += other.lost;
}

double QueueWatch::Fates::LossRatio() const {
  return lost > 0 ? static_cast<double>(lost) / static_cast<double>(lost + received) : 0;
}

}  // namespace weir
