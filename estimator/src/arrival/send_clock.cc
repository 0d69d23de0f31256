#include "weir/arrival/send_clock.h"

namespace weir {
namespace {

// A change of one-way delay beyond this is a clock that leapt, not a queue (libwebrtc's InterArrival uses the same
// limit).
constexpr TimeDelta kMaxDelayChange = TimeDelta::Seconds(3);
constexpr int64_t kMicrosPerSecond = 1'000'000;

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

constexpr TimeDelta ToTime(int64_t ticks, int64_t ticks_per_second) {
  return TimeDelta::Micros(ticks_per_second == (int64_t{1} << kAbsSendTimeFractionBits)
                               ? AbsSendTimeToUs(ticks)
                               : TicksToUs(ticks, ticks_per_second));
}

// The difference of two `bits`-bit counters, within half their range of 0.
constexpr int64_t WrappingDifference(uint32_t a, uint32_t b, int bits) {
  const int shift = 32 - bits;
  return int64_t{static_cast<int32_t>((a - b) << shift)} >> shift;
}

}  // namespace

SendClock::Result SendClock::Restart(Timestamp arrival, const SendTime& sent) {
  started_ = true;
  last_sent_ = sent;
  unwrapped_ticks_ = 0;
  start_ = last_arrival_ = arrival;
  last_delay_ = TimeDelta::Zero();
  return {TimeDelta::Zero(), TimeDelta::Zero(), true};
}

SendClock::Result SendClock::Update(Timestamp arrival, const SendTime& sent) {
  if (!started_ || sent.ticks_per_second != last_sent_.ticks_per_second) return Restart(arrival, sent);
  const int64_t period_ticks = int64_t{1} << sent.bits;
  const int64_t period_us = ToTime(period_ticks, sent.ticks_per_second).us();
  int64_t step = WrappingDifference(sent.ticks, last_sent_.ticks, sent.bits);
  // By how much the sender's clock would have fallen behind the receiver's if it had not wrapped.
  const int64_t lag_us = (arrival - last_arrival_ - ToTime(step, sent.ticks_per_second)).us();
  if (lag_us > period_us / 2) {
    step += (lag_us + period_us / 2) / period_us * period_ticks;
  } else if (lag_us < -period_us / 2) {
    step -= (period_us / 2 - lag_us) / period_us * period_ticks;
  }
  const TimeDelta delay = arrival - start_ - ToTime(unwrapped_ticks_ + step, sent.ticks_per_second);
  const TimeDelta change = delay - last_delay_;
  if (change.Abs() > kMaxDelayChange) return Restart(arrival, sent);
  unwrapped_ticks_ += step;
  last_sent_ = sent;
  last_arrival_ = arrival;
  last_delay_ = delay;
  return {delay, change, false};
}

}  // namespace weir
