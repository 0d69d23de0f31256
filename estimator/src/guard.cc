#include "weir/guard.h"

#include <algorithm>
#include <cmath>

#include "weir/arrival/arrival.h"

namespace weir {
namespace {

constexpr TimeDelta kMinSlot = TimeDelta::Millis(200);
constexpr TimeDelta kReceiveRateMemory = TimeDelta::Seconds(1);
constexpr TimeDelta kRepeat = TimeDelta::Millis(100);

constexpr DataRate kReceiveRateHeadroom = DataRate::KilobitsPerSecond(100);

constexpr double kRetainedFactor = 0.97;
constexpr double kCalmFactor = 1.01;
constexpr double kShareFactor = 1.03;
constexpr TimeDelta kFactorTime = TimeDelta::Millis(100);
constexpr double kCalmHeadroom = 1.1;
constexpr double kCalmShare = 0.5;
constexpr TimeDelta kCalmMemory = TimeDelta::Seconds(3);
constexpr TimeDelta kSparseGap = TimeDelta::Millis(200);
constexpr double kFilled = 1.3;
constexpr TimeDelta kStart = TimeDelta::Seconds(3);

constexpr TimeDelta kMinSilence = TimeDelta::Millis(500);
constexpr TimeDelta kMaxGaps = TimeDelta::Seconds(5);
constexpr DataSize kThreeFullPackets = kFullPacket * 3;
constexpr TimeDelta kHalfLife = TimeDelta::Seconds(1);

}  // namespace

void Guard::SetConstraints(const TargetRateConstraints& constraints, Timestamp now) {
  constraints_ = constraints;
  if (!last_apply_.IsFinite()) {
    rate_ = rate_at_last_packets_ = constraints.start_rate;
    last_apply_ = slot_start_ = now;
  }
  rate_ = std::clamp(rate_, constraints.min_rate, constraints.max_rate);
  rate_at_last_packets_ = std::clamp(rate_at_last_packets_, constraints.min_rate, constraints.max_rate);
}

void Guard::OnArrival(const Arrival& arrival) {
  OnPacket(arrival.packet.size());
  if (!options_.floor) return;
  queue_watch_.OnArrival(arrival);
  competing_flows_.OnArrival(arrival);
}

void Guard::MeasureReceiveRate(Timestamp now) {
  slot_size_ += pending_size_;
  pending_size_ = DataSize::Zero();
  const TimeDelta duration = now - slot_start_;
  if (duration < kMinSlot) return;
  // After a long pause between calls the older slots are history.
  if (duration >= kReceiveRateMemory) receive_rates_bps_.fill(0);
  slot_ = (slot_ + 1) % kSlots;
  receive_rates_bps_[slot_] = (slot_size_ / duration).bps();
  slot_size_ = DataSize::Zero();
  slot_start_ = now;
}

DataRate Guard::HighestReceiveRate() const {
  return DataRate::BitsPerSecond(*std::max_element(receive_rates_bps_.begin(), receive_rates_bps_.end()));
}

DataRate Guard::Grown(TimeDelta elapsed, const Growth& growth) const {
  const DataRate received = HighestReceiveRate();
  const DataRate grown = rate_ * std::pow(growth.factor_per_second, std::clamp(elapsed.seconds(), 0.0, 1.0));
  if (growth.unmeasured && received.IsZero()) return grown;
  return std::max({rate_, received, std::min(grown, received * growth.receive_rate_multiple + kReceiveRateHeadroom)});
}

void Guard::NoticePackets(Timestamp now) {
  if (!any_packets()) {
    latest_packets_.fill(now);
    first_packets_ = now;
  }
  for (size_t i = std::min<uint64_t>(pending_packets_, kLatestPackets); i > 0; --i) {
    std::rotate(latest_packets_.begin(), latest_packets_.begin() + 1, latest_packets_.end());
    latest_packets_.back() = now;
  }
  pending_packets_ = 0;
}

TimeDelta Guard::LatestGaps() const { return std::min(latest_packets_.back() - latest_packets_.front(), kMaxGaps); }

TimeDelta Guard::SilenceLimit() const {
  return std::max({kMinSilence, kThreeFullPackets / rate_at_last_packets_, LatestGaps()});
}

bool Guard::SendsFew() const {
  for (size_t i = 1; i < kLatestPackets; ++i) {
    if (latest_packets_[i] - latest_packets_[i - 1] < kSparseGap) return false;
  }
  return true;
}

DataRate Guard::Floor(TimeDelta elapsed, TimeDelta silence, QueueSign sign, bool starting) const {
  if (SendsFew() && silence < LatestGaps() && !queue_watch_.LatestWaited()) return rate_;
  if (starting) return Grown(elapsed, kStartFloor);
  const DataRate share = std::min(competing_flows_.Share(), rate_ * std::pow(kShareFactor, elapsed / kFactorTime));
  if (sign != QueueSign::kNone) return share;
  const bool calm = share_without_queue_ > kCalmShare && queue_watch_.IsNoisy();
  const DataRate changed = rate_ * std::pow(calm ? kCalmFactor : kRetainedFactor, elapsed / kFactorTime);
  return std::max(share, std::min(changed, queue_watch_.HighestReceiveRate() * (calm ? kCalmHeadroom : 1.0)));
}

Guard::Result Guard::Apply(DataRate wanted, Timestamp now) {
  Result result{wanted, GuardRule::kNone};
  const auto change_to = [&result](DataRate rate, GuardRule rule, uint64_t& counter) {
    if (rate == result.rate) return;
    result = {rate, rule};
    ++counter;
  };
  MeasureReceiveRate(now);
  const bool packets = pending_packets_ > 0;
  if (packets) NoticePackets(now);
  const TimeDelta silence_limit = SilenceLimit();
  const TimeDelta silence = any_packets() ? now - latest_packets_.back() : TimeDelta::Zero();
  const bool stale = options_.stale && silence >= silence_limit;
  const TimeDelta elapsed = now - last_apply_;
  const QueueSign sign = options_.floor ? queue_watch_.Look(now) : QueueSign::kUnknown;
  if (options_.floor) competing_flows_.Update(queue_watch_, elapsed);
  share_without_queue_ += (static_cast<double>(sign == QueueSign::kNone) - share_without_queue_) *
                          std::clamp(elapsed / kCalmMemory, 0.0, 1.0);
  no_queue_yet_ = no_queue_yet_ && sign != QueueSign::kQueue;
  const bool starting = no_queue_yet_ && now - first_packets_ < kStart && sign == QueueSign::kNone &&
                        rate_ > HighestReceiveRate() * kFilled;

  if (!wanted.IsFinite() || wanted <= DataRate::Zero()) change_to(rate_, GuardRule::kFinite, counters_.finite);
  if (options_.floor) {
    const DataRate floor = Floor(elapsed, silence, sign, starting);
    change_to(std::max(result.rate, floor), GuardRule::kFloor, counters_.floor);
  }
  change_to(std::clamp(result.rate, constraints_.min_rate, constraints_.max_rate), GuardRule::kBounds,
            counters_.bounds);
  if (options_.slew) {
    const DataRate limit = Grown(elapsed, starting ? kStartSlew : kSlew);
    change_to(std::min(result.rate, limit), GuardRule::kSlew, counters_.slew);
  }
  if (stale) {
    const DataRate decayed = rate_at_last_packets_ * std::exp2(-((silence - silence_limit) / kHalfLife));
    change_to(std::min(result.rate, std::max(decayed, constraints_.min_rate)), GuardRule::kStale, counters_.stale);
  }

  rate_ = result.rate;
  last_apply_ = now;
  if (packets || !any_packets()) rate_at_last_packets_ = rate_;

  if (result.rule == GuardRule::kSlew || stale) {
    next_timeout_ = now + kRepeat;
  } else if (options_.stale && any_packets()) {
    // Not only `silence_limit`: the rate in force may just have changed.
    next_timeout_ = std::max(latest_packets_.back() + SilenceLimit(), now + kRepeat);
  } else {
    next_timeout_ = Timestamp::PlusInfinity();
  }
  return result;
}

}  // namespace weir
