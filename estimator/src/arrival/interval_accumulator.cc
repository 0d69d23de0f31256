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

void IntervalAccumulator::Start(Timestamp now) { interval_start_ = now; }

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
}

IntervalStatistics IntervalAccumulator::Take(Timestamp now, DataRate last_estimate) {
  if (!interval_start_.IsFinite()) interval_start_ = now;
  IntervalStatistics statistics;
  statistics.interval_s = std::max((now - interval_start_).seconds(), 0.0);

  const auto packets = static_cast<double>(packets_);
  const int64_t lost = std::max<int64_t>(lost_balance_, 0);
  statistics.packets_received = packets;
  statistics.bytes_received = static_cast<double>(bytes_);
  statistics.packets_lost = static_cast<double>(lost);
  TakeDelays(statistics);
  if (gaps_ > 0) statistics.interarrival_time_mean_s = gap_sum_us_ / static_cast<double>(gaps_) * 1e-6;
  if (packets_ > 0) {
    // At most the interval: the clock of arrivals may have been set while that of `now` was not.
    statistics.time_since_last_packet_s = std::clamp((now - last_arrival_time_).seconds(), 0.0, statistics.interval_s);
    statistics.video_share = static_cast<double>(packets_of_kind_[0]) / packets;
    statistics.audio_share = static_cast<double>(packets_of_kind_[1]) / packets;
    statistics.probe_share = static_cast<double>(packets_of_kind_[2]) / packets;
    statistics.retransmission_share = static_cast<double>(packets_of_kind_[3]) / packets;
  }
  derived_.Complete(statistics, last_estimate);
  sender_gaps_.SetTarget(last_estimate);

  lost_balance_ -= lost;
  interval_start_ = std::max(interval_start_, now);
  Clear();
  return statistics;
}

bool IntervalAccumulator::SenderIsIdle(Timestamp now) const {
  const double silence_s = derived_.time_since_last_packet_s() + (now - interval_start_).seconds();
  return packets_ == 0 && silence_s < sender_gaps_.Expected().seconds();
}

void IntervalAccumulator::Skip(Timestamp now, DataRate last_estimate) {
  sender_gaps_.SetTarget(last_estimate);
  derived_.Skip(std::max((now - interval_start_).seconds(), 0.0));
  interval_start_ = std::max(interval_start_, now);
}

void IntervalAccumulator::Clear() {
  packets_ = bytes_ = gaps_ = delays_ = 0;
  packets_of_kind_.fill(0);
  gap_sum_us_ = delay_sum_us_ = sum_t_ = sum_tt_ = sum_td_ = 0;
  histogram_.Clear();
}

}  // namespace weir
