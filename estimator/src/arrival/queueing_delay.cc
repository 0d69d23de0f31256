#include "weir/arrival/queueing_delay.h"

#include <algorithm>

namespace weir {

QueueingDelay::Result QueueingDelay::Update(Timestamp arrival, const SendClock::Result& measured, DataSize size) {
  if (measured.restarted) {
    const bool first = !latest_arrival_.IsFinite();
    latest_arrival_ = arrival;
    skew_ = {};
    drift_us_ = 0;
    base_.Restart(arrival, measured.one_way_delay);
    return {TimeDelta::Zero(), TimeDelta::Zero(), !first, false};
  }
  const TimeDelta gap = std::max(arrival - latest_arrival_, TimeDelta::Zero());
  latest_arrival_ = latest_arrival_ + gap;
  drift_us_ += skew_.skew() * static_cast<double>(gap.us());
  const double skew_before = skew_.skew();
  if (skew_.Update(latest_arrival_, measured.one_way_delay)) base_.Tilt(latest_arrival_, skew_.skew() - skew_before);
  const TimeDelta delay = measured.one_way_delay - TimeDelta::SecondsF(drift_us_ * 1e-6);
  const TimeDelta base = base_.Update(latest_arrival_, delay, size);
  return {std::max(delay - base, TimeDelta::Zero()), measured.change, false, base_.stands()};
}

}  // namespace weir
