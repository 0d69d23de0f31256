#include "arrival/reported_arrivals.h"

#include <algorithm>
#include <utility>

namespace weir {

Arrival ReportedArrivals::OnArrival(const ReportedArrival& reported) {
  latest_arrival_ = std::max(latest_arrival_, reported.arrival_time);
  Arrival arrival{.packet = {.arrival_time = latest_arrival_,
                             .kind = reported.kind,
                             .ecn = reported.ecn,
                             .payload_size = static_cast<uint32_t>(reported.size.bytes())},
                  .send_time = reported.send_time,
                  .sequence_number = reported.number,
                  .lost_change = LostChange(reported.number),
                  .has_delay = reported.has_delay};
  if (reported.has_delay) MeasureDelay(reported, arrival.lost_change);
  arrival.queueing_delay = measured_.queueing_delay;
  arrival.delay_change = measured_.change;
  arrival.delay_stands = measured_.stands;
  return arrival;
}

int32_t ReportedArrivals::LostChange(uint32_t number) {
  if (!std::exchange(any_, true)) {
    first_ = highest_ = number;
    return 0;
  }
  const auto step = static_cast<int32_t>(number - highest_);
  if (step > 0) {
    highest_ = number;
    return step - 1;
  }
  ++reordered_;
  // Packets before the first that arrived were never counted as lost.
  return static_cast<int32_t>(number - first_) > 0 ? -1 : 0;
}

void ReportedArrivals::MeasureDelay(const ReportedArrival& reported, int32_t lost_change) {
  const TimeDelta delay = internal::Difference(reported.arrival_time, reported.send_time);
  const bool is_first = !std::exchange(any_delay_, true);
  if (is_first) first_delay_ = latest_delay_ = delay;
  const TimeDelta change = delay - std::exchange(latest_delay_, delay);
  measured_ = queueing_delay_.Update(reported.arrival_time, {delay - first_delay_, change, is_first},
                                     SentSize(reported.size, lost_change), reported.size, lowest_rate_);
  if (measured_.restarted && !is_first) ++clock_restarts_;
}

}  // namespace weir
