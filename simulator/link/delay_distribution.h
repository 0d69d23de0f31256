// The one-way delays of a flow in bounded memory, however long it lasts.
#ifndef WEIR_SIMULATOR_LINK_DELAY_DISTRIBUTION_H_
#define WEIR_SIMULATOR_LINK_DELAY_DISTRIBUTION_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "core/sim_time.h"

namespace weir::sim {

struct DelaySummary {
  double mean_ms = 0;
  double p5_ms = 0;
  double p50_ms = 0;
  double p95_ms = 0;
  double p99_ms = 0;
  double max_ms = 0;
};

// Counts delays in bins of 10 us up to 2 s and of 1 ms beyond; all from 400 s on share one bin. Never more than 2.4 MB.
class DelayDistribution {
 public:
  void Add(SimDuration delay) {
    const size_t bin = BinOf(delay);
    if (bin >= bins_.size()) bins_.resize(bin + 1);
    ++bins_[bin];
    ++count_;
    sum_ms_ += ToMilliseconds(delay);
    max_ = std::max(max_, delay);
  }
  bool empty() const { return count_ == 0; }
  // Mean and maximum are exact; percentiles are nearest-rank, within half a bin. Must not be empty.
  DelaySummary Summary() const {
    return {.mean_ms = sum_ms_ / static_cast<double>(count_),
            .p5_ms = PercentileMs(5),
            .p50_ms = PercentileMs(50),
            .p95_ms = PercentileMs(95),
            .p99_ms = PercentileMs(99),
            .max_ms = ToMilliseconds(max_)};
  }

 private:
  static constexpr SimDuration kFineBin = SimDuration::Micros(10);
  static constexpr SimDuration kCoarseBin = SimDuration::Millis(1);
  static constexpr SimDuration kFineLimit = SimDuration::Seconds(2);
  static constexpr SimDuration kLimit = SimDuration::Seconds(400);
  static constexpr int64_t kFineBins = kFineLimit.ns() / kFineBin.ns();

  static size_t BinOf(SimDuration delay) {
    if (delay < kFineLimit) return static_cast<size_t>(NotNegative(delay).ns() / kFineBin.ns());
    return static_cast<size_t>(kFineBins + (std::min(delay, kLimit) - kFineLimit).ns() / kCoarseBin.ns());
  }
  static SimDuration Middle(int64_t bin) {
    if (bin < kFineBins) return bin * kFineBin + 0.5 * kFineBin;
    return kFineLimit + (bin - kFineBins) * kCoarseBin + 0.5 * kCoarseBin;
  }
  double PercentileMs(int percent) const {
    const int64_t rank = std::max<int64_t>(1, (count_ * percent + 99) / 100);
    int64_t seen = 0;
    size_t bin = 0;
    while ((seen += bins_[bin]) < rank) ++bin;
    return ToMilliseconds(std::min(Middle(static_cast<int64_t>(bin)), max_));
  }

  std::vector<uint32_t> bins_;
  int64_t count_ = 0;
  double sum_ms_ = 0;
  SimDuration max_ = SimDuration::Zero();
};

struct MeanAndP95 {
  double mean_ms = 0;
  double p95_ms = 0;
};

// Exact, over the delays of a short interval; the percentile is nearest-rank. Reorders `delays`, which must not be
// empty.
inline MeanAndP95 MeanAndP95Of(std::vector<SimDuration>& delays) {
  const SimDuration sum = std::accumulate(delays.begin(), delays.end(), SimDuration::Zero());
  const auto p95 = delays.begin() + static_cast<std::ptrdiff_t>((delays.size() * 95 + 99) / 100 - 1);
  std::nth_element(delays.begin(), p95, delays.end());
  return {.mean_ms = static_cast<double>(sum.ns()) / static_cast<double>(delays.size()) * 1e-6,
          .p95_ms = ToMilliseconds(*p95)};
}

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_LINK_DELAY_DISTRIBUTION_H_
