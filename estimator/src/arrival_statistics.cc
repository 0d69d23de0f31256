#include "weir/arrival_statistics.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace weir {
namespace internal {
namespace {

constexpr int64_t kMicrosPerSecond = 1'000'000;
// A change of one-way delay beyond this is a clock that leapt, not a queue (libwebrtc's InterArrival uses the same
// limit).
constexpr int64_t kMaxDelayChangeUs = 3 * kMicrosPerSecond;

// Rounds down, so that the error never accumulates; correct for negative numbers of ticks too.
constexpr int64_t TicksToUs(int64_t ticks, int64_t ticks_per_second) {
  int64_t seconds = ticks / ticks_per_second;
  int64_t rest = ticks % ticks_per_second;
  if (rest < 0) {
    rest += ticks_per_second;
    --seconds;
  }
  return seconds * kMicrosPerSecond + rest * kMicrosPerSecond / ticks_per_second;
}

// The same for abs-send-time, without a division.
constexpr int kAbsSendTimeFractionBits = 18;
constexpr int64_t AbsSendTimeToUs(int64_t ticks) {
  constexpr int64_t kMask = (int64_t{1} << kAbsSendTimeFractionBits) - 1;
  return (ticks >> kAbsSendTimeFractionBits) * kMicrosPerSecond +
         (((ticks & kMask) * kMicrosPerSecond) >> kAbsSendTimeFractionBits);
}

constexpr int64_t ToUs(int64_t ticks, int64_t ticks_per_second) {
  return ticks_per_second == (int64_t{1} << kAbsSendTimeFractionBits) ? AbsSendTimeToUs(ticks)
                                                                      : TicksToUs(ticks, ticks_per_second);
}

// The difference of two `bits`-bit counters, within half their range of 0.
constexpr int64_t WrappingDifference(uint32_t a, uint32_t b, int bits) {
  const int shift = 32 - bits;
  return int64_t{static_cast<int32_t>((a - b) << shift)} >> shift;
}

}  // namespace

void SequenceNumbers::Start(uint16_t sequence_number) {
  received_.fill(0);
  first_ = highest_ = sequence_number;
  restart_candidate_ = 0x10000;
  Mark(highest_);
}

SequenceNumbers::Result SequenceNumbers::Add(uint16_t sequence_number) {
  const int64_t step = static_cast<int16_t>(static_cast<uint16_t>(sequence_number - static_cast<uint16_t>(highest_)));
  const int64_t number = highest_ + step;
  if (step > 0 && step < kMaxDropout) {
    restart_candidate_ = 0x10000;
    Advance(number);
    return {Verdict::kNew, number, static_cast<int32_t>(step - 1)};
  }
  if (step <= 0 && step > -kWindow) {
    if (Received(number)) return {Verdict::kDuplicate, number, 0};
    Mark(number);
    // What came before the first packet seen was never counted as lost.
    return {Verdict::kLate, number, number > first_ ? -1 : 0};
  }
  // Too far to be loss or reordering: a stray packet, or, when its successor follows, a sender that began anew.
  if (sequence_number != restart_candidate_) {
    restart_candidate_ = static_cast<uint16_t>(sequence_number + 1);
    return {Verdict::kLeap, number, 0};
  }
  Start(sequence_number);
  return {Verdict::kRestart, highest_, 0};
}

void SequenceNumbers::Advance(int64_t number) {
  if (number - highest_ >= kWindow) {
    received_.fill(0);
  } else {
    for (int64_t skipped = highest_ + 1; skipped < number; ++skipped) Unmark(skipped);
  }
  highest_ = number;
  Mark(number);
}

void WindowedMinimum::Restart(int64_t time_us, int64_t value) {
  buckets_.fill(std::numeric_limits<int64_t>::max());
  current_ = 0;
  buckets_[0] = value;
  minimum_ = value;
  bucket_end_us_ = time_us + kBucketUs;
}

int64_t WindowedMinimum::Update(int64_t time_us, int64_t value) {
  if (time_us >= bucket_end_us_) {
    const int64_t steps = (time_us - bucket_end_us_) / kBucketUs + 1;
    for (int64_t i = 0; i < std::min<int64_t>(steps, kBuckets); ++i) {
      current_ = (current_ + 1) % kBuckets;
      buckets_[current_] = std::numeric_limits<int64_t>::max();
    }
    bucket_end_us_ += steps * kBucketUs;
    minimum_ = *std::min_element(buckets_.begin(), buckets_.end());
  }
  buckets_[current_] = std::min(buckets_[current_], value);
  minimum_ = std::min(minimum_, value);
  return minimum_;
}

void OneWayDelay::Restart(int64_t arrival_us, uint32_t ticks, int64_t ticks_per_second) {
  started_ = true;
  ticks_per_second_ = ticks_per_second;
  last_ticks_ = ticks;
  unwrapped_ticks_ = 0;
  start_us_ = last_arrival_us_ = latest_arrival_us_ = arrival_us;
  last_delay_us_ = 0;
  base_delay_us_.Restart(arrival_us, 0);
}

OneWayDelay::Result OneWayDelay::Update(int64_t arrival_us, uint32_t ticks, int bits, int64_t ticks_per_second) {
  if (!started_ || ticks_per_second != ticks_per_second_) {
    const bool restarted = started_;
    Restart(arrival_us, ticks, ticks_per_second);
    return {TimeDelta::Zero(), TimeDelta::Zero(), restarted};
  }
  const int64_t period_ticks = int64_t{1} << bits;
  const int64_t period_us = ToUs(period_ticks, ticks_per_second);
  int64_t step = WrappingDifference(ticks, last_ticks_, bits);
  // By how much the sender's clock would have fallen behind the receiver's if it had not wrapped.
  const int64_t lag_us = arrival_us - last_arrival_us_ - ToUs(step, ticks_per_second);
  if (lag_us > period_us / 2) {
    step += (lag_us + period_us / 2) / period_us * period_ticks;
  } else if (lag_us < -period_us / 2) {
    step -= (period_us / 2 - lag_us) / period_us * period_ticks;
  }
  const int64_t delay_us = arrival_us - start_us_ - ToUs(unwrapped_ticks_ + step, ticks_per_second);
  const int64_t change_us = delay_us - last_delay_us_;
  if (change_us > kMaxDelayChangeUs || change_us < -kMaxDelayChangeUs) {
    Restart(arrival_us, ticks, ticks_per_second);
    return {TimeDelta::Zero(), TimeDelta::Zero(), true};
  }
  unwrapped_ticks_ += step;
  last_ticks_ = ticks;
  last_arrival_us_ = arrival_us;
  last_delay_us_ = delay_us;
  latest_arrival_us_ = std::max(latest_arrival_us_, arrival_us);
  const int64_t base_us = base_delay_us_.Update(latest_arrival_us_, delay_us);
  return {TimeDelta::Micros(delay_us - base_us), TimeDelta::Micros(change_us), false};
}

}  // namespace internal

namespace {

constexpr int64_t kMaxClockStepBackUs = 3'000'000;
constexpr int64_t kAbsSendTimeMemoryUs = 10'000'000;
constexpr int kAbsSendTimeBits = 24;
constexpr int64_t kAbsSendTimeTicksPerSecond = int64_t{1} << 18;
constexpr uint32_t kMinRtpClockRate = 1000;
constexpr uint32_t kMaxRtpClockRate = 1'000'000;
// Differences of arrival times and their sums stay far from overflow within this (70,000 years).
constexpr int64_t kMaxAbsoluteTimeUs = int64_t{1} << 61;
constexpr int64_t kMaxUdpPayload = 65'535;

bool IsPlausible(const PacketArrival& packet) {
  const int64_t time_us = packet.arrival_time.us();
  return time_us <= kMaxAbsoluteTimeUs && time_us >= -kMaxAbsoluteTimeUs && packet.size().bytes() <= kMaxUdpPayload;
}

}  // namespace

ArrivalStatistics::ArrivalStatistics() : streams_(kMaxSsrcs) {}

ArrivalStatistics::Stream& ArrivalStatistics::Find(uint32_t ssrc, bool& is_new) {
  is_new = false;
  if (stream_count_ == 0 || ssrcs_[last_stream_] != ssrc) {
    const auto end = ssrcs_.begin() + static_cast<std::ptrdiff_t>(stream_count_);
    const auto found = std::find(ssrcs_.begin(), end, ssrc);
    last_stream_ = static_cast<size_t>(found - ssrcs_.begin());
    if (found == end) {
      is_new = true;
      if (stream_count_ < kMaxSsrcs) {
        ++stream_count_;
      } else {
        const auto oldest = std::min_element(last_heard_.begin(), last_heard_.end());
        last_stream_ = static_cast<size_t>(oldest - last_heard_.begin());
        ++counters_.ssrc_evictions;
      }
      ssrcs_[last_stream_] = ssrc;
      streams_[last_stream_] = Stream{};
    }
  }
  last_heard_[last_stream_] = ++packets_;
  return streams_[last_stream_];
}

std::optional<Arrival> ArrivalStatistics::OnPacket(const PacketArrival& packet) {
  if (!IsPlausible(packet)) {
    ++counters_.invalid;
    return std::nullopt;
  }
  bool is_new = false;
  Stream& stream = Find(packet.ssrc, is_new);

  std::optional<Arrival> result(std::in_place);
  Arrival& arrival = *result;
  if (is_new) {
    stream.sequence_numbers.Start(packet.sequence_number);
    arrival.sequence_number = packet.sequence_number;
  } else {
    using Verdict = internal::SequenceNumbers::Verdict;
    const internal::SequenceNumbers::Result number = stream.sequence_numbers.Add(packet.sequence_number);
    switch (number.verdict) {
      case Verdict::kDuplicate:
        ++counters_.duplicates;
        return std::nullopt;
      case Verdict::kLeap:
        ++counters_.invalid;
        return std::nullopt;
      case Verdict::kLate:
        ++counters_.reordered;
        break;
      case Verdict::kRestart:
        ++counters_.restarts;
        // The RTP timestamp begins at a random value again; abs-send-time is the sender's clock and does not.
        stream.delay = {};
        stream.has_rtp_timestamp = false;
        break;
      case Verdict::kNew:
        break;
    }
    arrival.sequence_number = number.sequence_number;
    arrival.lost_change = number.lost_change;
  }

  arrival.packet = packet;
  const int64_t arrival_us = packet.arrival_time.us();
  if (!has_arrival_ || arrival_us > last_arrival_us_ || arrival_us < last_arrival_us_ - kMaxClockStepBackUs) {
    if (has_arrival_ && arrival_us < last_arrival_us_) {
      // The receiver's clock was set back. No delay measured before compares with one measured now.
      ++counters_.clock_restarts;
      abs_send_time_delay_ = {};
      for (Stream& other : streams_) other.delay = {};
      last_abs_send_time_us_ = arrival_us;
    }
    has_arrival_ = true;
    last_arrival_us_ = arrival_us;
  }
  arrival.packet.arrival_time = Timestamp::Micros(last_arrival_us_);
  MeasureDelay(packet, arrival_us, stream, arrival);
  return result;
}

void ArrivalStatistics::MeasureDelay(const PacketArrival& packet, int64_t arrival_us, Stream& stream,
                                     Arrival& arrival) {
  std::optional<internal::OneWayDelay::Result> delay;
  if (packet.has_abs_send_time) {
    has_abs_send_time_ = true;
    last_abs_send_time_us_ = last_arrival_us_;
    delay = abs_send_time_delay_.Update(arrival_us, packet.abs_send_time & ((1u << kAbsSendTimeBits) - 1),
                                        kAbsSendTimeBits, kAbsSendTimeTicksPerSecond);
  } else if ((!has_abs_send_time_ || last_arrival_us_ - last_abs_send_time_us_ > kAbsSendTimeMemoryUs) &&
             packet.rtp_clock_rate >= kMinRtpClockRate && packet.rtp_clock_rate <= kMaxRtpClockRate) {
    if (!stream.has_rtp_timestamp || static_cast<int32_t>(packet.rtp_timestamp - stream.rtp_timestamp) > 0) {
      stream.has_rtp_timestamp = true;
      stream.rtp_timestamp = packet.rtp_timestamp;
      delay = stream.delay.Update(arrival_us, packet.rtp_timestamp, 32, packet.rtp_clock_rate);
    }
  }
  if (delay) {
    if (delay->restarted) ++counters_.clock_restarts;
    queueing_delay_ = delay->queueing_delay;
    delay_change_ = delay->change;
    arrival.has_delay = true;
  }
  arrival.queueing_delay = queueing_delay_;
  arrival.delay_change = delay_change_;
}

size_t ArrivalStatistics::Ssrcs(std::span<uint32_t> out) const {
  std::array<uint16_t, kMaxSsrcs> order{};
  const auto end = order.begin() + static_cast<std::ptrdiff_t>(stream_count_);
  std::iota(order.begin(), end, uint16_t{0});
  std::sort(order.begin(), end, [this](uint16_t a, uint16_t b) { return last_heard_[a] > last_heard_[b]; });
  const size_t count = std::min(out.size(), stream_count_);
  for (size_t i = 0; i < count; ++i) out[i] = ssrcs_[order[i]];
  return count;
}

}  // namespace weir
