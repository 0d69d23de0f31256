#include "weir/arrival/send_clock.h"

namespace weir {
namespace {

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

SendTime SendTime::After(TimeDelta time) const {
  if (time.IsZero()) return *this;
  const int64_t seconds = time.us() / kMicrosPerSecond;
  const int64_t rest_us = time.us() % kMicrosPerSecond;
  const int64_t later = seconds * ticks_per_second + rest_us * ticks_per_second / kMicrosPerSecond;
  SendTime result = *this;
  result.ticks = (ticks + static_cast<uint32_t>(later)) & (~uint32_t{0} >> (32 - bits));
  return result;
}

int64_t SendClock::TicksSinceLast(Timestamp arrival, const SendTime& sent) const {
  const int64_t period_ticks = int64_t{1} << sent.bits;
  const int64_t period_us = ToTime(period_ticks, sent.ticks_per_second).us();
  const int64_t step = WrappingDifference(sent.ticks, last_sent_.ticks, sent.bits);
  // By how much the sender's clock would have fallen behind the receiver's if it had not wrapped.
  const int64_t lag_us = (arrival - last_arrival_ - ToTime(step, sent.ticks_per_second)).us();
  if (lag_us > period_us / 2) return step + (lag_us + period_us / 2) / period_us * period_ticks;
  if (lag_us < -period_us / 2) return step - (period_us / 2 - lag_us) / period_us * period_ticks;
  return step;
}

SendClock::Reading SendClock::Read(Timestamp arrival, const SendTime& sent) const {
  const int64_t ticks = unwrapped_ticks_ + TicksSinceLast(arrival, sent);
  return {ticks, arrival - start_ - ToTime(ticks, last_sent_.ticks_per_second)};
}

SendClock::Result SendClock::Update(Timestamp arrival, const SendTime& sent) {
  if (!restarts_at(sent)) return Update(arrival, sent, Read(arrival, sent));
  *this = {};
  started_ = true;
  start_ = last_arrival_ = arrival;
  last_sent_ = sent;
  return {TimeDelta::Zero(), TimeDelta::Zero(), true};
}

SendClock::Result SendClock::Update(Timestamp arrival, const SendTime& sent, const Reading& reading) {
  unwrapped_ticks_ = reading.unwrapped_ticks;
  last_sent_ = sent;
  last_arrival_ = arrival;
  const TimeDelta change = reading.one_way_delay - last_delay_;
  last_delay_ = reading.one_way_delay;
  return {reading.one_way_delay, change, false};
}

}  // namespace weir
