#include "arrival/interval_accumulator.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "weir/interval_statistics_fields.h"

namespace weir {
namespace internal {

// Each microsecond below 8 us has its own bin; each octave above has eight.
size_t DelayHistogram::Bin(int64_t delay_us) {
  if (delay_us < kBinsPerOctave) return static_cast<size_t>(std::max<int64_t>(delay_us, 0));
  const auto value = static_cast<uint64_t>(delay_us);
  const int octave = static_cast<int>(std::bit_width(value)) - 4;  // 0 for 8 .. 15 us
  const size_t bin = static_cast<size_t>(octave + 1) * kBinsPerOctave + ((value >> octave) & (kBinsPerOctave - 1));
  return std::min(bin, kBins - 1);
}

void DelayHistogram::Add(int64_t delay_us) {
  const size_t bin = Bin(delay_us);
  ++bins_[bin];
  lowest_ = std::min(lowest_, bin);
  highest_ = std::max(highest_, bin);
}

int64_t DelayHistogram::Quantile(double quantile, int64_t count) const {
  const auto rank = static_cast<int64_t>(std::ceil(quantile * static_cast<double>(count)));
  int64_t seen = 0;
  size_t bin = lowest_;
  for (; bin < highest_; ++bin) {
    seen += bins_[bin];
    if (seen >= rank) break;
  }
  if (bin < kBinsPerOctave) return static_cast<int64_t>(bin);
  const auto octave = static_cast<int>(bin / kBinsPerOctave) - 1;
  const int64_t low = static_cast<int64_t>(kBinsPerOctave + bin % kBinsPerOctave) << octave;
  return low + ((int64_t{1} << octave) >> 1);
}

void DelayHistogram::Clear() {
  for (size_t bin = lowest_; bin <= highest_ && bin < kBins; ++bin) bins_[bin] = 0;
  lowest_ = kBins;
  highest_ = 0;
}

}  // namespace internal

namespace {

// Prevents division by zero on a path within one host.
constexpr double kMinBaseDelayS = 1e-3;

// Slightly less than a second, since the sum of ten intervals of 0.1 s may be.
constexpr double kSlotS = 0.999;
// Rates over shorter times are too noisy.
constexpr double kShortestRateS = 0.5;
constexpr double kShortQueueS = 0.015;
// Shortest outage: nothing arrives for this time, and packets sent during it are missing afterwards. Packets that
// waited arrive first.
constexpr double kOutageS = 2;
constexpr double kBacklogS = 1;

}  // namespace

void IntervalAccumulator::Start(Timestamp now) { interval_start_ = now; }

void IntervalAccumulator::OnRoundTripTime(TimeDelta round_trip_time) {
  if (!IsRoundTripTime(round_trip_time)) return;
  round_trip_times_us_[round_trip_times_++ % round_trip_times_us_.size()] = round_trip_time.us();
  const auto known = std::min(round_trip_times_, round_trip_times_us_.size());
  base_round_trip_time_ =
      TimeDelta::Micros(*std::min_element(round_trip_times_us_.begin(), round_trip_times_us_.begin() + known));
}

void IntervalAccumulator::OnArrival(const Arrival& arrival) {
  const Timestamp time = arrival.packet.arrival_time;
  if (!interval_start_.IsFinite()) interval_start_ = time;
  ++packets_;
  bytes_ += arrival.packet.size().bytes();
  ++packets_of_kind_[static_cast<size_t>(arrival.packet.kind) & 3];
  lost_balance_ += arrival.lost_change;
  if (last_arrival_time_.IsFinite()) {
    ++gaps_;
    gap_sum_us_ += static_cast<double>(std::max<int64_t>(internal::Difference(time, last_arrival_time_).us(), 0));
  }
  last_arrival_time_ = time;
  // At the sender decisions come with the feedback, so that an interval without packets is a pause of the feedback.
  if (!arrival.send_time.IsFinite()) sender_gaps_.OnArrival(arrival);
  if (!arrival.has_delay) return;

  const int64_t delay_us = arrival.queueing_delay.us();
  last_queueing_delay_ = arrival.queueing_delay;
  // RFC 3550 section 6.4.1.
  jitter_us_ += (std::abs(static_cast<double>(arrival.delay_change.us())) - jitter_us_) / 16;
  if (delays_ == 0) {
    gradient_origin_ = time;
    delay_min_us_ = delay_max_us_ = delay_us;
  }
  ++delays_;
  delay_min_us_ = std::min(delay_min_us_, delay_us);
  delay_max_us_ = std::max(delay_max_us_, delay_us);
  delay_sum_us_ += static_cast<double>(delay_us);
  histogram_.Add(delay_us);
  const auto t = static_cast<double>(internal::Difference(time, gradient_origin_).us());
  sum_t_ += t;
  sum_tt_ += t * t;
  sum_td_ += t * static_cast<double>(delay_us);
}

void IntervalAccumulator::TakeDelays(IntervalStatistics& statistics) const {
  if (delays_ == 0) {
    const double delay_s = last_queueing_delay_.seconds();
    statistics.queueing_delay_mean_s = statistics.queueing_delay_min_s = delay_s;
    statistics.queueing_delay_max_s = statistics.queueing_delay_p95_s = delay_s;
  } else {
    const auto count = static_cast<double>(delays_);
    const int64_t p95_us = std::clamp(histogram_.Quantile(0.95, delays_), delay_min_us_, delay_max_us_);
    statistics.queueing_delay_mean_s = delay_sum_us_ / count * 1e-6;
    statistics.queueing_delay_min_s = static_cast<double>(delay_min_us_) * 1e-6;
    statistics.queueing_delay_max_s = static_cast<double>(delay_max_us_) * 1e-6;
    statistics.queueing_delay_p95_s = static_cast<double>(p95_us) * 1e-6;
    // In microseconds squared. Below 1, all samples have the same time and there is no slope.
    const double variance = sum_tt_ - sum_t_ * sum_t_ / count;
    if (variance > 1) {
      const double gradient = (sum_td_ - sum_t_ * delay_sum_us_ / count) / variance;
      // Packets with wrong send times that arrive within microseconds can have any slope.
      statistics.delay_gradient = std::clamp(gradient, -kMaxDelayGradient, kMaxDelayGradient);
    }
  }
  statistics.jitter_s = jitter_us_ * 1e-6;
  statistics.base_round_trip_time_s = base_round_trip_time_.seconds();
  const double base_s = std::max(base_round_trip_time_.seconds() / 2, kMinBaseDelayS);
  statistics.delay_ratio = (base_s + statistics.queueing_delay_mean_s) / base_s;
}

IntervalStatistics IntervalAccumulator::Take(Timestamp now, DataRate last_estimate) {
  if (!interval_start_.IsFinite()) interval_start_ = now;
  IntervalStatistics statistics;
  statistics.interval_s = std::max((now - interval_start_).seconds(), 0.0);

  const auto packets = static_cast<double>(packets_);
  const int64_t lost = std::max<int64_t>(lost_balance_, 0);
  const double expected = packets + static_cast<double>(lost);
  statistics.packets_received = packets;
  statistics.bytes_received = static_cast<double>(bytes_);
  statistics.packets_lost = static_cast<double>(lost);
  if (statistics.interval_s > 0) {
    statistics.receive_rate_bps = statistics.bytes_received * 8 / statistics.interval_s;
  }
  if (expected > 0) {
    statistics.loss_ratio = statistics.packets_lost / expected;
    statistics.sending_ratio = std::min(expected / std::max(packets, expected / kMaxSendingRatio), kMaxSendingRatio);
  }
  TakeDelays(statistics);
  if (gaps_ > 0) statistics.interarrival_time_mean_s = gap_sum_us_ / static_cast<double>(gaps_) * 1e-6;
  if (packets_ > 0) {
    // At most the interval: the clock of arrivals may have been set while that of `now` was not.
    time_since_last_packet_s_ = std::clamp((now - last_arrival_time_).seconds(), 0.0, statistics.interval_s);
    statistics.video_share = static_cast<double>(packets_of_kind_[0]) / packets;
    statistics.audio_share = static_cast<double>(packets_of_kind_[1]) / packets;
    statistics.probe_share = static_cast<double>(packets_of_kind_[2]) / packets;
    statistics.retransmission_share = static_cast<double>(packets_of_kind_[3]) / packets;
  } else {
    time_since_last_packet_s_ += statistics.interval_s;
  }
  statistics.time_since_last_packet_s = time_since_last_packet_s_;
  statistics.last_estimate_bps = static_cast<double>(last_estimate.bps());
  sender_gaps_.SetTarget(last_estimate);
  statistics.application_limited = IsApplicationLimited(packets_, lost, statistics.receive_rate_bps,
                                                        statistics.last_estimate_bps, statistics.queueing_delay_mean_s)
                                       ? 1
                                       : 0;

  memory_.Add(statistics);

  lost_balance_ -= lost;
  interval_start_ = std::max(interval_start_, now);
  Clear();
  return statistics;
}

bool IntervalAccumulator::SenderIsIdle(Timestamp now) const {
  const double silence_s = time_since_last_packet_s_ + (now - interval_start_).seconds();
  return packets_ == 0 && silence_s < sender_gaps_.Expected().seconds();
}

void IntervalAccumulator::Skip(Timestamp now, DataRate last_estimate) {
  sender_gaps_.SetTarget(last_estimate);
  time_since_last_packet_s_ += std::max((now - interval_start_).seconds(), 0.0);
  interval_start_ = std::max(interval_start_, now);
}

void IntervalAccumulator::Clear() {
  packets_ = bytes_ = gaps_ = delays_ = 0;
  packets_of_kind_.fill(0);
  gap_sum_us_ = delay_sum_us_ = sum_t_ = sum_tt_ = sum_td_ = 0;
  histogram_.Clear();
}

void PathMemory::WriteLossByRate(IntervalStatistics& statistics) const {
  struct Sent {
    double packets_per_s = 0;
    const Slot* slot = nullptr;
  };
  std::array<Sent, kSlots> slots{};
  size_t known = 0;
  for (const Slot& slot : slots_) {
    if (slot.duration_s >= kShortestRateS) slots[known++] = {(slot.received + slot.lost) / slot.duration_s, &slot};
  }
  std::sort(slots.begin(), slots.begin() + static_cast<ptrdiff_t>(known),
            [](const Sent& a, const Sent& b) { return a.packets_per_s < b.packets_per_s; });
  const auto loss_ratio = [&](size_t begin, size_t end) {
    double lost = 0, sent = 0;
    for (size_t i = begin; i < end; ++i) {
      lost += slots[i].slot->lost;
      sent += slots[i].slot->lost + slots[i].slot->received;
    }
    return sent > 0 ? lost / sent : 0;
  };
  statistics.loss_ratio_slow_10s = loss_ratio(0, known / 2);
  statistics.loss_ratio_fast_10s = loss_ratio(known / 2, known);
}

void PathMemory::ForgetOutage(const IntervalStatistics& statistics) {
  if (statistics.packets_received == 0) {
    silence_s_ += statistics.interval_s;
    return;
  }
  if (silence_s_ >= kOutageS) backlog_s_ = kBacklogS;
  silence_s_ = 0;
  if (backlog_s_ <= 0) return;
  backlog_s_ -= statistics.interval_s;
  if (statistics.packets_lost > 0) slots_ = {};
}

void PathMemory::Add(IntervalStatistics& statistics) {
  const bool has_delay = statistics.packets_received > 0;
  if (has_delay) noise_.Add(statistics.queueing_delay_min_s);
  if (slots_[slot_].duration_s >= kSlotS) {
    slot_ = (slot_ + 1) % kSlots;
    slots_[slot_] = {};
  }
  Slot& slot = slots_[slot_];
  slot.duration_s += statistics.interval_s;
  slot.bytes += statistics.bytes_received;
  slot.received += statistics.packets_received;
  slot.lost += statistics.packets_lost;
  if (has_delay) {
    slot.queue_min_s =
        slot.has_delay ? std::min(slot.queue_min_s, statistics.queueing_delay_min_s) : statistics.queueing_delay_min_s;
    slot.queue_max_s = std::max(slot.queue_max_s, statistics.queueing_delay_max_s);
    slot.has_delay = true;
  }
  if (statistics.queueing_delay_max_s < kShortQueueS) {
    slot.received_at_short_queue += statistics.packets_received;
    slot.lost_at_short_queue += statistics.packets_lost;
  }

  ForgetOutage(statistics);
  double lost = 0, expected = 0, highest_bps = 0, lowest_bps = kMaxPolicyRateBps, queue_max_s = 0;
  double queue_min_s = statistics.queueing_delay_min_s;
  for (const Slot& one : slots_) {
    lost += one.lost_at_short_queue;
    expected += one.lost_at_short_queue + one.received_at_short_queue;
    queue_max_s = std::max(queue_max_s, one.queue_max_s);
    if (one.has_delay) queue_min_s = std::min(queue_min_s, one.queue_min_s);
    if (one.duration_s < kShortestRateS) continue;
    const double rate_bps = one.bytes * 8 / one.duration_s;
    highest_bps = std::max(highest_bps, rate_bps);
    lowest_bps = std::min(lowest_bps, rate_bps);
  }
  WriteLossByRate(statistics);
  statistics.delay_noise_s = noise_.Seconds();
  statistics.loss_at_short_queue_10s = expected > 0 ? lost / expected : 0;
  statistics.receive_rate_max_10s_bps = highest_bps;
  statistics.receive_rate_min_10s_bps = std::min(lowest_bps, highest_bps);
  statistics.queueing_delay_min_10s_s = queue_min_s;
  statistics.queueing_delay_max_10s_s = queue_max_s;
}

}  // namespace weir
