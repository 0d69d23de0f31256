#include "scenario/capacity_trace.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/step_limit.h"

namespace weir::sim {
namespace {

constexpr int64_t kNanobitsPerBit = 1'000'000'000;
constexpr int64_t kMostNs = std::numeric_limits<int64_t>::max();

__int128 Nanobits(int64_t rate_bps, SimDuration duration) { return static_cast<__int128>(rate_bps) * duration.ns(); }

}  // namespace

CapacityTrace::CapacityTrace(std::vector<SimTime> start_times, std::vector<int64_t> rates_bps,
                             std::optional<SimDuration> period)
    : PiecewiseConstant(std::move(start_times), std::move(rates_bps), period) {
  if (!period_) return;
  const size_t n = start_times_.size();
  for (size_t i = 0; i < n; ++i) {
    const SimTime end = i + 1 < n ? start_times_[i + 1] : kTimeZero + *period_;
    nanobits_per_period_ += Nanobits(values_[i], end - start_times_[i]);
  }
}

int64_t CapacityTrace::BitsBetween(SimTime from, SimTime to) const {
  if (to <= from) return 0;
  __int128 nanobits = 0;
  if (period_ && to - from > *period_) {
    const int64_t whole_periods = (to - from).ns() / period_->ns();
    nanobits = nanobits_per_period_ * whole_periods;
    from += whole_periods * *period_;
  }
  ForEachRate(from, to,
              [&nanobits](int64_t rate_bps, SimDuration duration) { nanobits += Nanobits(rate_bps, duration); });
  return static_cast<int64_t>(nanobits / kNanobitsPerBit);
}

std::optional<SimTime> CapacityTrace::TransmissionEnd(SimTime start, int64_t bits) const {
  if (bits <= 0) return start;
  __int128 nanobits = static_cast<__int128>(bits) * kNanobitsPerBit;
  if (period_ && nanobits > nanobits_per_period_) {
    if (nanobits_per_period_ == 0) return std::nullopt;
    // Leaves more than nothing and at most one period to walk through.
    const __int128 whole_periods = (nanobits - 1) / nanobits_per_period_;
    const __int128 later_ns = start.ns() + whole_periods * period_->ns();
    if (later_ns > kMostNs - period_->ns()) return std::nullopt;
    start = SimTime::Nanos(static_cast<int64_t>(later_ns));
    nanobits -= whole_periods * nanobits_per_period_;
  }
  Position position = Find(start);
  for (int64_t segments = 0;; ++segments) {
    const int64_t rate_bps = values_[position.index];
    const SimTime end = SegmentEnd(position);
    if (rate_bps > 0) {
      // A 64-bit division is several times faster than a 128-bit one, and suffices for every single packet.
      const __int128 rounded_up = nanobits + rate_bps - 1;
      const __int128 needed_ns =
          rounded_up <= kMostNs ? static_cast<int64_t>(rounded_up) / rate_bps : rounded_up / rate_bps;
      if (needed_ns <= end.ns() - start.ns()) {
        CountWalk(segments);
        return start + SimDuration::Nanos(static_cast<int64_t>(needed_ns));
      }
      nanobits -= Nanobits(rate_bps, end - start);
    }
    if (end == kNever) return std::nullopt;
    start = end;
    Advance(position);
  }
}

void CapacityTrace::CountWalk(int64_t segments) {
  if (segments > 1000) SpendSteps(segments);
}

double CapacityTrace::MeanRateBps(SimDuration duration) const {
  const SimDuration span = period_.value_or(duration);
  const SimTime span_end = kTimeZero + span;
  __int128 nanobits = 0;
  for (size_t i = 0; i < values_.size() && start_times_[i] < span_end; ++i) {
    const SimTime end = i + 1 < start_times_.size() ? std::min(start_times_[i + 1], span_end) : span_end;
    nanobits += Nanobits(values_[i], end - start_times_[i]);
  }
  return static_cast<double>(nanobits) / static_cast<double>(span.ns());
}

CapacityTrace CapacityTrace::Delayed(SimDuration delay) const {
  if (delay <= SimDuration::Zero()) return *this;
  const size_t n = start_times_.size();
  std::vector<SimTime> start_times{kTimeZero};
  std::vector<int64_t> rates_bps;
  if (!period_) {
    rates_bps.push_back(values_[0]);
    for (size_t i = 1; i < n; ++i) {
      start_times.push_back(start_times_[i] + delay);
      rates_bps.push_back(values_[i]);
    }
    return CapacityTrace(std::move(start_times), std::move(rates_bps));
  }
  // One period, rotated: it begins within the segment at `cut` of the original.
  const int64_t period_ns = period_->ns();
  const SimDuration cut = SimDuration::Nanos((period_ns - delay.ns() % period_ns) % period_ns);
  const SimTime cut_time = kTimeZero + cut;
  const size_t first = IndexAt(cut_time);
  rates_bps.push_back(values_[first]);
  for (size_t i = first + 1; i < n; ++i) {
    start_times.push_back(start_times_[i] - cut);
    rates_bps.push_back(values_[i]);
  }
  for (size_t i = 0; i <= first && start_times_[i] < cut_time; ++i) {
    start_times.push_back(start_times_[i] + *period_ - cut);
    rates_bps.push_back(values_[i]);
  }
  return CapacityTrace(std::move(start_times), std::move(rates_bps), period_);
}

}  // namespace weir::sim
