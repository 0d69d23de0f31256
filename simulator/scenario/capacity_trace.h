// The capacity of a link over time: piecewise constant, optionally periodic. All arithmetic is exact, in integers of ns
// and bit/s.
#ifndef WEIR_SIMULATOR_SCENARIO_CAPACITY_TRACE_H_
#define WEIR_SIMULATOR_SCENARIO_CAPACITY_TRACE_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/piecewise_constant.h"

namespace weir::sim {

// Keeps the bits of any duration within 64 bits.
inline constexpr double kMaxRateBps = 1e10;

class CapacityTrace : private PiecewiseConstant<int64_t> {
 public:
  // As in PiecewiseConstant, with rates from 0 to kMaxRateBps.
  CapacityTrace(std::vector<int64_t> start_times_ns, std::vector<int64_t> rates_bps,
                std::optional<int64_t> period_ns = std::nullopt);

  // Times must be >= 0. Each function is fast if times advance from call to call.
  int64_t RateAt(int64_t time_ns) const { return At(time_ns); }
  // Bits that the link carries from `from_ns` to `to_ns`; rounded down to whole bits.
  int64_t BitsBetween(int64_t from_ns, int64_t to_ns) const;
  // Calls visit(rate_bps, duration_ns) for every segment of constant rate from `from_ns` to `to_ns`, in order.
  template <class Visitor>
  void ForEachRate(int64_t from_ns, int64_t to_ns, Visitor&& visit) const {
    if (from_ns >= to_ns) return;
    int64_t segments = 0;
    for (Position position = Find(from_ns);; Advance(position), ++segments) {
      const int64_t end_ns = std::min(SegmentEnd(position), to_ns);
      visit(values_[position.index], end_ns - from_ns);
      if (end_ns == to_ns) break;
      from_ns = end_ns;
    }
    CountWalk(segments);
  }
  // When the last of `bits` has left if the first starts at `start_ns`: the first ns at which the integral of the rate
  // has reached `bits`. Returns nullopt if the capacity never suffices.
  std::optional<int64_t> TransmissionEnd(int64_t start_ns, int64_t bits) const;
  // The mean over one period or, without a period, over `duration_ns` (> 0).
  double MeanRateBps(int64_t duration_ns) const;

  // The same trace, `delay_ns` (>= 0) later. Before that it has its first rate or, with a period, earlier periods.
  CapacityTrace Delayed(int64_t delay_ns) const;

  std::optional<int64_t> period_ns() const { return period_ns_; }

 private:
  // Counts the work: a trace may have millions of segments per millisecond, which each packet walks through.
  static void CountWalk(int64_t segments);

  // In bit/s * ns, that is 1e-9 bits.
  __int128 nanobits_per_period_ = 0;
};

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_SCENARIO_CAPACITY_TRACE_H_
