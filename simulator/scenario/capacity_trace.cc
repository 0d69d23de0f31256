#include "scenario/capacity_trace.h"

#include <algorithm>
#include <utility>

#include "core/step_limit.h"

namespace weir::sim {
namespace {

constexpr int64_t kNanobitsPerBit = 1'000'000'000;

}  // namespace

CapacityTrace::CapacityTrace(std::vector<int64_t> start_times_ns, std::vector<int64_t> rates_bps,
                             std::optional<int64_t> period_ns)
    : PiecewiseConstant(std::move(start_times_ns), std::move(rates_bps), period_ns) {
  if (!period_ns_) return;
  const size_t n = start_times_ns_.size();
  for (size_t i = 0; i < n; ++i) {
    const int64_t end_ns = i + 1 < n ? start_times_ns_[i + 1] : *period_ns_;
    nanobits_per_period_ += static_cast<__int128>(values_[i]) * (end_ns - start_times_ns_[i]);
  }
}

int64_t CapacityTrace::BitsBetween(int64_t from_ns, int64_t to_ns) const {
  if (to_ns <= from_ns) return 0;
  __int128 nanobits = 0;
  if (period_ns_ && to_ns - from_ns > *period_ns_) {
    const int64_t whole_periods = (to_ns - from_ns) / *period_ns_;
    nanobits = nanobits_per_period_ * whole_periods;
    from_ns += whole_periods * *period_ns_;
  }
  ForEachRate(from_ns, to_ns, [&nanobits](int64_t rate_bps, int64_t duration_ns) {
    nanobits += static_cast<__int128>(rate_bps) * duration_ns;
  });
  return static_cast<int64_t>(nanobits / kNanobitsPerBit);
}

std::optional<int64_t> CapacityTrace::TransmissionEnd(int64_t start_ns, int64_t bits) const {
  if (bits <= 0) return start_ns;
  __int128 nanobits = static_cast<__int128>(bits) * kNanobitsPerBit;
  if (period_ns_ && nanobits > nanobits_per_period_) {
    if (nanobits_per_period_ == 0) return std::nullopt;
    // Leaves more than nothing and at most one period to walk through.
    const __int128 whole_periods = (nanobits - 1) / nanobits_per_period_;
    const __int128 later_ns = start_ns + whole_periods * *period_ns_;
    if (later_ns > kForEver - *period_ns_) return std::nullopt;
    start_ns = static_cast<int64_t>(later_ns);
    nanobits -= whole_periods * nanobits_per_period_;
  }
  Position position = Find(start_ns);
  for (int64_t segments = 0;; ++segments) {
    const int64_t rate_bps = values_[position.index];
    const int64_t end_ns = SegmentEnd(position);
    if (rate_bps > 0) {
      // A 64-bit division is several times faster than a 128-bit one, and suffices for every single packet.
      const __int128 rounded_up = nanobits + rate_bps - 1;
      const __int128 needed_ns =
          rounded_up <= kForEver ? static_cast<int64_t>(rounded_up) / rate_bps : rounded_up / rate_bps;
      if (needed_ns <= end_ns - start_ns) {
        CountWalk(segments);
        return start_ns + static_cast<int64_t>(needed_ns);
      }
      nanobits -= static_cast<__int128>(rate_bps) * (end_ns - start_ns);
    }
    if (end_ns == kForEver) return std::nullopt;
    start_ns = end_ns;
    Advance(position);
  }
}

void CapacityTrace::CountWalk(int64_t segments) {
  if (segments > 1000) SpendSteps(segments);
}

double CapacityTrace::MeanRateBps(int64_t duration_ns) const {
  const int64_t span_ns = period_ns_.value_or(duration_ns);
  __int128 nanobits = 0;
  for (size_t i = 0; i < values_.size() && start_times_ns_[i] < span_ns; ++i) {
    const int64_t end_ns = i + 1 < start_times_ns_.size() ? std::min(start_times_ns_[i + 1], span_ns) : span_ns;
    nanobits += static_cast<__int128>(values_[i]) * (end_ns - start_times_ns_[i]);
  }
  return static_cast<double>(nanobits) / static_cast<double>(span_ns);
}

CapacityTrace CapacityTrace::Delayed(int64_t delay_ns) const {
  if (delay_ns <= 0) return *this;
  const size_t n = start_times_ns_.size();
  std::vector<int64_t> start_times_ns{0};
  std::vector<int64_t> rates_bps;
  if (!period_ns_) {
    rates_bps.push_back(values_[0]);
    for (size_t i = 1; i < n; ++i) {
      start_times_ns.push_back(start_times_ns_[i] + delay_ns);
      rates_bps.push_back(values_[i]);
    }
    return CapacityTrace(std::move(start_times_ns), std::move(rates_bps));
  }
  // One period, rotated: it begins within the segment at `cut_ns` of the original.
  const int64_t cut_ns = (*period_ns_ - delay_ns % *period_ns_) % *period_ns_;
  const size_t first = IndexAt(cut_ns);
  rates_bps.push_back(values_[first]);
  for (size_t i = first + 1; i < n; ++i) {
    start_times_ns.push_back(start_times_ns_[i] - cut_ns);
    rates_bps.push_back(values_[i]);
  }
  for (size_t i = 0; i <= first && start_times_ns_[i] < cut_ns; ++i) {
    start_times_ns.push_back(start_times_ns_[i] + *period_ns_ - cut_ns);
    rates_bps.push_back(values_[i]);
  }
  return CapacityTrace(std::move(start_times_ns), std::move(rates_bps), period_ns_);
}

}  // namespace weir::sim
