#include "policy/mocc_arrivals.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "weir/arrival.h"

namespace weir {

void MoccArrivals::AddTo(ArrivalHistory& arrivals, const IntervalStatistics& statistics, TimeDelta interval,
                         Timestamp now) {
  const auto packets = static_cast<int64_t>(std::clamp(statistics.packets_received, 0.0, kMostPackets));
  if (packets == 0) return;
  constexpr double kLargestSize = std::numeric_limits<uint32_t>::max();
  const auto size =
      static_cast<uint32_t>(std::min(statistics.bytes_received / static_cast<double>(packets), kLargestSize));
  // Not more than the packets can stand for.
  const double lost = std::min(statistics.packets_lost / statistics.packets_received, kMostPackets);
  const double middle_s = statistics.interval_s / 2;
  for (int64_t after = packets - 1; after >= 0; --after) {
    const TimeDelta age = TimeDelta::Micros(interval.us() / packets * after);
    const double delay_s =
        std::clamp(statistics.queueing_delay_mean_s + statistics.delay_gradient * (middle_s - age.seconds()),
                   statistics.queueing_delay_min_s, statistics.queueing_delay_max_s);
    lost_ += lost;
    const auto lost_change = static_cast<int32_t>(lost_);
    lost_ -= lost_change;
    arrivals.OnArrival({.packet = {.arrival_time = now - age, .payload_size = size},
                        .lost_change = lost_change,
                        .has_delay = true,
                        .queueing_delay = TimeDelta::SecondsF(delay_s)});
  }
}

}  // namespace weir
