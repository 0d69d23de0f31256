#include "arrival/arrival_history.h"

#include <cmath>
#include <utility>

namespace weir {
namespace {

// Time that a queue to yield counts after its last sign, in seconds.
constexpr size_t kQueueToYieldCounts = 15;
// Shorter delays before losses are also those of a queue of two packets, and of random loss.
constexpr TimeDelta kExplainsLosses = TimeDelta::Millis(3);
constexpr TimeDelta kTick = TimeDelta::Millis(25);
constexpr TimeDelta kSlot = TimeDelta::Millis(100);
constexpr TimeDelta kSecond = TimeDelta::Seconds(1);
constexpr int64_t kSlotsPerSecond = 10;
// After a pause of this length the history is outdated.
constexpr TimeDelta kForget = TimeDelta::Seconds(10);

constexpr double kQueueS = 0.002;
constexpr double kNoises = 1.5;
constexpr double kMaxNoiseS = 0.04;
constexpr double kQueueLossRatio = 0.2;
// In fewer seconds, the first losses of a policer look the same as random loss.
constexpr size_t kSecondsOfAnyRate = 5;
constexpr double kBeyondChance = 2.5;
constexpr double kNoisyS = 0.005;
constexpr int64_t kNoisyLossPercent = 1;

constexpr TimeDelta kMinRateSlot = TimeDelta::Millis(200);
constexpr TimeDelta kRateMemory = TimeDelta::Seconds(1);

constexpr TimeDelta kShortestStop = TimeDelta::Millis(50);
constexpr TimeDelta kLongestStop = TimeDelta::Millis(500);
constexpr DataRate kLowestRate = DataRate::KilobitsPerSecond(30);

}  // namespace

double ArrivalHistory::Second::LossRatio() const {
  return lost > 0 ? static_cast<double>(lost) / static_cast<double>(lost + received) : 0;
}

void ArrivalHistory::Second::Add(const Second& other) {
  size += other.size;
  received += other.received;
  lost += other.lost;
}

bool ArrivalHistory::Second::LosesMoreThan(const Second& other) const {
  const auto sent = static_cast<double>(lost + received), other_sent = static_cast<double>(other.lost + other.received);
  if (sent <= 0 || other_sent <= 0) return false;
  const double pooled = std::clamp(static_cast<double>(lost + other.lost) / (sent + other_sent), 0.0, 1.0);
  return LossRatio() - other.LossRatio() >
         kBeyondChance * std::sqrt(pooled * (1 - pooled) * (1 / sent + 1 / other_sent));
}

void ArrivalHistory::Start(Timestamp now) {
  const ArrivalTotals totals = totals_;
  const std::array<Timestamp, kLatest> latest_arrivals = latest_arrivals_;
  *this = {};
  totals_ = totals;
  latest_arrivals_ = latest_arrivals;
  noticed_packets_ = totals.packets;
  rate_slot_start_ = now;
  rate_slot_start_size_ = totals.size;
  Forget();
}

void ArrivalHistory::OnArrival(const Arrival& arrival) {
  NotePair(arrival);
  const Timestamp time = arrival.packet.arrival_time;
  // Arrival times run backwards only if the clock was set back.
  if (time < latest_arrival_) Forget();
  latest_arrival_ = time;
  if (time >= tick_end_) Advance(time);
  latest_arrivals_[static_cast<size_t>(totals_.packets) % kLatest] = time;
  ++totals_.packets;
  totals_.size += arrival.packet.size();
  latest_is_judged_ = false;
  totals_.packets_lost += arrival.lost_change;
  totals_.packets_with_ce += arrival.packet.ecn == EcnMarking::kCe ? 1 : 0;
  latest_followed_loss_ = arrival.lost_change > 0;
  if (latest_followed_loss_ && latest_delay_.IsFinite()) losses_after_delay_.OnLoss(latest_delay_);
  delay_stands_ = arrival.delay_stands;
  latest_delay_ = arrival.has_delay ? arrival.queueing_delay : TimeDelta::MinusInfinity();
  if (gaps_.OnArrival(arrival) && arrival.has_delay) [[unlikely]]
    NoteGap(latest_delay_);
  if (arrival.packet.kind != PacketKind::kAudio) frame_gaps_.OnArrival(arrival);
  if (!arrival.has_delay) return;
  losses_after_delay_.OnDelay(arrival.queueing_delay);
  ++totals_.packets_with_delay;
  totals_.queueing_delay += arrival.queueing_delay;
  tick_delays_[0] = std::min(tick_delays_[0], arrival.queueing_delay);
  if (arrival.delay_change >= kShortestStop) [[unlikely]]
    NoteStop(arrival);
  const TimeDelta dip = dip_.OnArrival(arrival.packet.arrival_time, arrival.queueing_delay, totals_.size);
  if (dip.IsZero()) [[likely]]
    return;
  dips_.Add(arrival.packet.arrival_time, dip);
  dip_is_new_ = true;
}

// The link was busy since the packet before this one if this one waited longer.
void ArrivalHistory::NotePair(const Arrival& arrival) {
  const TimeDelta gap = arrival.packet.arrival_time - latest_arrival_;
  if (!arrival.has_delay || arrival.queueing_delay < gap || gap < TimeDelta::Zero() || arrival.lost_change > 0) return;
  if (arrival.packet.size() < kFullPacket * (1.0 / 3) || WaitSeconds(arrival.queueing_delay) < 0) return;
  queue_sharing_.OnPair(gap, arrival.packet.size(), arrival.queueing_delay);
}

void ArrivalHistory::NoteGap(TimeDelta delay) {
  gap_ended_ = true;
  gap_delay_ = delay;
}

void ArrivalHistory::NoteStop(const Arrival& arrival) {
  const TimeDelta stop = arrival.delay_change - kFullPacket * 2 / std::max(LatestSecondRate(), kLowestRate);
  if (stop >= kShortestStop && stop <= kLongestStop) stops_.Add(arrival.packet.arrival_time, stop);
}

void ArrivalHistory::Forget() {
  tick_start_ = tick_end_ = Timestamp::MinusInfinity();
  ticks_ = slots_ = 0;
  tick_delays_.fill(TimeDelta::PlusInfinity());
  slot_delay_ = slot_delay_before_ = TimeDelta::PlusInfinity();
  slot_starts_.fill(totals_);
  second_start_ = totals_;
  seconds_ = {};
  whole_seconds_ = 0;
  losses_after_delay_ = {};
  queue_sharing_ = {};
  queue_to_yield_until_ = 0;
  noise_ = {};
  dip_ = {};
  latest_is_judged_ = true;
  latest_wait_s_ = kNoWaitS;
}

void ArrivalHistory::Advance(Timestamp now) {
  if (now - tick_start_ >= kForget) {
    Forget();
    tick_start_ = slot_start_ = now;
  }
  for (; now - tick_start_ >= kTick; tick_start_ += kTick) {
    slot_delay_ = std::min(slot_delay_, tick_delays_[0]);
    tick_delays_ = {TimeDelta::PlusInfinity(), tick_delays_[0]};
    if (++ticks_ % kTicksPerSlot == 0) EndSlot();
  }
  tick_end_ = tick_start_ + kTick;
}

void ArrivalHistory::EndSlot() {
  if (slot_delay_.IsFinite()) noise_.Add(slot_delay_.seconds());
  slot_delay_before_ = std::exchange(slot_delay_, TimeDelta::PlusInfinity());
  slot_start_ += kSlot;
  slot_starts_[static_cast<size_t>(++slots_) % kSlots] = totals_;
  if (slots_ % kSlotsPerSecond != 0) return;
  seconds_[whole_seconds_++ % kSeconds] = {.size = totals_.size - second_start_.size,
                                           .received = totals_.packets - second_start_.packets,
                                           .lost = totals_.packets_lost - second_start_.packets_lost};
  second_start_ = totals_;
  dip_.SetRate(LatestSecondRate());
  losses_after_delay_.EndSecond();
  queue_sharing_.EndSecond(noise_.Seconds(), SumOfSeconds().size / (std::min(whole_seconds_, kSeconds) * kSecond));
  const bool yields = losses_after_delay_.ShowShortQueue() || (queue_sharing_.is_shared() && LowestLossRatio() > 0);
  if (yields) queue_to_yield_until_ = whole_seconds_ + kQueueToYieldCounts;
}

bool ArrivalHistory::QueueExplainsLosses() const {
  return HasQueueToYield() && losses_after_delay_.MeanDelayBeforeLoss() > kExplainsLosses;
}

void ArrivalHistory::OnDecision(Timestamp now) {
  if (!latest_is_judged_) {
    latest_wait_s_ = latest_followed_loss_ ? -kNoWaitS : WaitSeconds(latest_delay_);
    latest_is_judged_ = true;
  }
  const bool gap_ended = std::exchange(gap_ended_, false);
  if (gap_ended) gap_wait_s_ = WaitSeconds(gap_delay_);
  sender_was_idle_ = gap_ended && !LatestFrameWaited();
  dip_ended_ = std::exchange(dip_is_new_, false);
  if (tick_start_.IsFinite() && now >= tick_end_) Advance(now);
  NoticePackets(now);
  EndReceiveRateSlot(now);
}

double ArrivalHistory::NoiseAllowanceSeconds() const { return std::min(kNoises * noise_.Seconds(), kMaxNoiseS); }

double ArrivalHistory::WaitSeconds(TimeDelta delay) const {
  return delay.seconds() - (kQueueS + NoiseAllowanceSeconds());
}

bool ArrivalHistory::WaitsFor(TimeDelta delay) const {
  const TimeDelta smallest = SmallestDelay();
  return smallest.IsFinite() && smallest.seconds() >= delay.seconds() + NoiseAllowanceSeconds();
}

bool ArrivalHistory::WaitsThroughFramesFor(TimeDelta delay) const {
  const TimeDelta smallest = std::min(slot_delay_, slot_delay_before_);
  return WaitsFor(delay) && smallest.seconds() >= delay.seconds() + NoiseAllowanceSeconds();
}

QueueSign ArrivalHistory::Sign(TimeDelta allowance) const {
  const TimeDelta delay = SmallestDelay();
  if (!delay.IsFinite()) return QueueSign::kUnknown;
  const ArrivalTotals& before = SlotStart(1);
  const int64_t lost = std::max<int64_t>(totals_.packets_lost - before.packets_lost, 0);
  const int64_t sent = lost + totals_.packets - before.packets;
  const double at_any_rate = whole_seconds_ >= kSecondsOfAnyRate ? LowestLossRatio() : 0;
  const bool loses =
      lost >= kFewestLost && static_cast<double>(lost) >= (kQueueLossRatio + at_any_rate) * static_cast<double>(sent);
  return loses || WaitSeconds(delay) >= allowance.seconds() ? QueueSign::kQueue : QueueSign::kNone;
}

bool ArrivalHistory::IsNoisy() const {
  const Second all = SumOfSeconds();
  return noise_.Seconds() >= kNoisyS ||
         (all.lost > 0 && 100 * all.lost >= kNoisyLossPercent * (all.lost + all.received));
}

DataRate ArrivalHistory::LatestSecondRate() const { return latest_second().size / kSecond; }

DataRate ArrivalHistory::MeanRate() const {
  const size_t count = std::clamp<size_t>(whole_seconds_, 1, 3);
  DataSize size = DataSize::Zero();
  for (size_t age = 1; age <= count; ++age) size += seconds_[(whole_seconds_ + kSeconds - age) % kSeconds].size;
  return size / (kSecond * static_cast<double>(count));
}

DataRate ArrivalHistory::HighestSecondRate() const {
  return std::ranges::max_element(seconds_, {}, &Second::size)->size / kSecond;
}

ArrivalHistory::Second ArrivalHistory::SumOfSeconds() const {
  Second sum;
  for (const Second& second : seconds_) sum.Add(second);
  return sum;
}

double ArrivalHistory::LowestLossRatio() const {
  double lowest = 1;
  for (size_t i = 0; i < std::min(whole_seconds_, kSeconds); ++i) {
    if (seconds_[i].received > 0) lowest = std::min(lowest, seconds_[i].LossRatio());
  }
  return lowest < 1 ? lowest : 0;
}

LastSecond ArrivalHistory::LastSecondBefore(Timestamp now) const {
  LastSecond result;
  if (!IsTime(now) || !tick_start_.IsFinite()) return result;
  const TimeDelta elapsed = std::max(now - slot_start_, TimeDelta::Zero());
  const int64_t back = kSlotsPerSecond - 1 - elapsed.us() / kSlot.us();
  if (back < 0) return result;
  const ArrivalTotals& start = SlotStart(back);
  const int64_t packets = totals_.packets - start.packets;
  const int64_t packets_with_delay = totals_.packets_with_delay - start.packets_with_delay;
  const int64_t lost = std::max<int64_t>(totals_.packets_lost - start.packets_lost, 0);
  result.receive_rate = (totals_.size - start.size) / (elapsed + kSlot * static_cast<double>(back));
  if (packets_with_delay > 0) {
    const TimeDelta sum = totals_.queueing_delay - start.queueing_delay;
    result.queueing_delay = TimeDelta::Micros(sum.us() / packets_with_delay);
  }
  if (lost > 0) result.loss_ratio = static_cast<double>(lost) / static_cast<double>(lost + packets);
  return result;
}

void ArrivalHistory::EndReceiveRateSlot(Timestamp now) {
  const TimeDelta duration = now - rate_slot_start_;
  if (duration < kMinRateSlot) return;
  // After a long pause between decisions the older slots are outdated.
  if (duration >= kRateMemory) rates_bps_.fill(0);
  rate_slot_ = (rate_slot_ + 1) % kRates;
  rates_bps_[rate_slot_] = ((totals_.size - rate_slot_start_size_) / duration).bps();
  rate_slot_start_ = now;
  rate_slot_start_size_ = totals_.size;
}

DataRate ArrivalHistory::HighestReceiveRate() const {
  return DataRate::BitsPerSecond(*std::max_element(rates_bps_.begin(), rates_bps_.end()));
}

DataRate ArrivalHistory::LatestReceiveRate() const {
  return DataRate::BitsPerSecond((rates_bps_[rate_slot_] + rates_bps_[(rate_slot_ + kRates - 1) % kRates]) / 2);
}

void ArrivalHistory::NoticePackets(Timestamp now) {
  const int64_t packets = totals_.packets - noticed_packets_;
  noticed_packets_ = totals_.packets;
  new_packets_ = packets > 0;
  if (!new_packets_) return;
  if (!any_packets()) first_noticed_ = now;
  latest_noticed_ = now;
}

}  // namespace weir
