#include <array>
#include <cmath>
#include <optional>

#include "arrival/arrival_statistics.h"
#include "arrival/interval_accumulator.h"
#include "fuzz_input.h"
#include "fuzz_targets.h"
#include "weir/interval_statistics_fields.h"

namespace weir::fuzz {
namespace {

void CheckStatistics(const IntervalStatistics& statistics) {
  for (const IntervalStatisticsField& field : kIntervalStatisticsFields) {
    const double value = statistics.*field.member;
    WEIR_FUZZ_CHECK(std::isfinite(value));
    WEIR_FUZZ_CHECK(value >= field.quantity.observation_space.low);
    if (field.quantity.unit.empty()) WEIR_FUZZ_CHECK(value <= field.quantity.observation_space.high);
  }
}

}  // namespace

void FuzzArrivals(std::span<const uint8_t> bytes) {
  FuzzInput input(bytes);
  ArrivalStatistics statistics;
  IntervalAccumulator accumulator;
  Timestamp now = Timestamp::Micros(input.TakeScaled() / 4);
  Timestamp last_arrival = Timestamp::MinusInfinity();
  uint16_t sequence_number = input.Take<uint16_t>();
  accumulator.Start(now);
  while (!input.empty()) {
    const uint32_t choice = input.Choose(16);
    if (choice < 12) {
      const PacketArrival packet = TakePacket(input, now, sequence_number);
      const std::optional<Arrival> arrival = statistics.OnPacket(packet);
      if (!arrival) continue;
      WEIR_FUZZ_CHECK(arrival->queueing_delay >= TimeDelta::Zero() && arrival->queueing_delay.IsFinite());
      WEIR_FUZZ_CHECK(arrival->delay_change.IsFinite());
      // Never backwards, unless the clock was set back.
      const Timestamp time = arrival->packet.arrival_time;
      WEIR_FUZZ_CHECK(time >= last_arrival || last_arrival - time > TimeDelta::Seconds(3));
      last_arrival = time;
      accumulator.OnArrival(*arrival);
    } else if (choice < 14) {
      now += TimeDelta::Micros(input.Choose(16) == 0 ? input.TakeScaled() / 8 : input.Take<uint16_t>());
    } else if (choice == 14) {
      accumulator.OnRoundTripTime(TimeDelta::Micros(input.TakeScaled()));
    } else {
      CheckStatistics(accumulator.Take(now, DataRate::BitsPerSecond(input.TakeScaled() & INT64_MAX)));
    }
  }
  std::array<uint32_t, ArrivalStatistics::kMaxSsrcs + 1> ssrcs{};
  WEIR_FUZZ_CHECK(statistics.Ssrcs(ssrcs) <= ArrivalStatistics::kMaxSsrcs);
}

}  // namespace weir::fuzz
