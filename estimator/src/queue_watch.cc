#include "weir/queue_watch.h"

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
  second_size_ += arrival.packet.size();
  if (!arrival.has_delay) return;
  smallest_delays_[0] = std::min(smallest_delays_[0], arrival.queueing_delay);
  slot.smallest_delay = std::min(slot.smallest_delay, arrival.queueing_delay);
}

void QueueWatch::Advance(Timestamp now) {
  if (now - tick_start_ >= kForget) {
    *this = QueueWatch();
    tick_start_ = now;
  }
  for (; now - tick_start_ >= kTick; tick_start_ += kTick) {
    smallest_delays_ = {TimeDelta::PlusInfinity(), smallest_delays_[0]};
    if (++ticks_ % kTicksASlot == 0) CloseSlot();
  }
}

void QueueWatch::CloseSlot() {
  if (slots_[0].smallest_delay.IsFinite()) {
    noise_.Add(slots_[0].smallest_delay.seconds());
    noise_s_ = noise_.Seconds();
  }
  second_fates_.received += slots_[0].fates.received;
  second_fates_.lost += slots_[0].fates.lost;
  slots_ = {Slot{}, slots_[0]};
  if (ticks_ % (kTicksASlot * kSlotsASecond) != 0) return;
  receive_rates_bps_[second_ % kSeconds] = (second_size_ / kSecond).bps();
  fates_[second_++ % kSeconds] = second_fates_;
  second_fates_ = {};
  second_size_ = DataSize::Zero();
}

QueueSign QueueWatch::Look(Timestamp now) {
  if (!tick_start_.IsFinite()) return QueueSign::kUnknown;
  Advance(now);
  const TimeDelta delay = std::min(smallest_delays_[0], smallest_delays_[1]);
  if (!delay.IsFinite()) return QueueSign::kUnknown;
  const int64_t lost = std::max<int64_t>(slots_[0].fates.lost + slots_[1].fates.lost, 0);
  const int64_t sent = lost + slots_[0].fates.received + slots_[1].fates.received;
  const bool queue =
      delay.seconds() >= kQueueS + std::min(kNoises * noise_s_, kMaxNoiseS) || 100 * lost >= kLostInAHundred * sent;
  return queue ? QueueSign::kQueue : QueueSign::kNone;
}

bool QueueWatch::IsNoisy() const {
  Fates all;
  for (const Fates& second : fates_) {
    all.received += second.received;
    all.lost += second.lost;
  }
  return noise_s_ >= kNoisyS || (all.lost > 0 && 100 * all.lost >= kNoisyInAHundred * (all.lost + all.received));
}

DataRate QueueWatch::HighestReceiveRate() const {
  return DataRate::BitsPerSecond(*std::max_element(receive_rates_bps_.begin(), receive_rates_bps_.end()));
}

}  // namespace weir
