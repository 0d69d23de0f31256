#include "weir/arrival/queueing_delay.h"

#include <algorithm>

namespace weir {

QueueingDelay::Result QueueingDelay::Update(Timestamp arrival, const SendTime& sent, DataSize size) {
  const bool first = !clock_.started();
  const SendClock::Result measured = clock_.Update(arrival, sent);
  if (measured.restarted) {
    latest_arrival_ = arrival;
    base_.Restart(arrival, measured.one_way_delay);
    return {TimeDelta::Zero(), TimeDelta::Zero(), !first};
  }
  latest_arrival_ = std::max(latest_arrival_, arrival);
  const TimeDelta base = base_.Update(latest_arrival_, measured.one_way_delay, size);
  return {std::max(measured.one_way_delay - base, TimeDelta::Zero()), measured.change, false};
}

}  // namespace weir
