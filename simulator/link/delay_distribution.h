// The one-way delays of a flow in bounded memory, however long it lasts.
#ifndef WEIR_SIMULATOR_LINK_DELAY_DISTRIBUTION_H_
#define WEIR_SIMULATOR_LINK_DELAY_DISTRIBUTION_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

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
  void Add(int64_t delay_ns) {
    const size_t bin = BinOf(delay_ns);
    if (bin >= bins_.size()) bins_.resize(bin + 1);
    ++bins_[bin];
    ++count_;
    sum_ms_ += static_cast<double>(delay_ns) * 1e-6;
    max_ns_ = std::max(max_ns_, delay_ns);
  }
  bool empty() const { return count_ == 0; }
  // Mean and maximum are exact; percentiles are nearest-rank, within half a bin. Must not be empty.
  DelaySummary Summary() const {
    return {.mean_ms = sum_ms_ / static_cast<double>(count_),
            .p5_ms = PercentileMs(5),
            .p50_ms = PercentileMs(50),
            .p95_ms = PercentileMs(95),
            .p99_ms = PercentileMs(99),
            .max_ms = static_cast<double>(max_ns_) * 1e-6};
  }

 private:
  static constexpr int64_t kFineBinNs = 10'000;
  static constexpr int64_t kCoarseBinNs = 1'000'000;
  static constexpr int64_t kFineLimitNs = 2'000'000'000;
  static constexpr int64_t kLimitNs = 400'000'000'000;
  static constexpr int64_t kFineBins = kFineLimitNs / kFineBinNs;

  static size_t BinOf(int64_t delay_ns) {
    if (delay_ns < kFineLimitNs) return static_cast<size_t>(std::max<int64_t>(0, delay_ns) / kFineBinNs);
    return static_cast<size_t>(kFineBins + (std::min(delay_ns, kLimitNs) - kFineLimitNs) / kCoarseBinNs);
  }
  static int64_t MiddleNs(int64_t bin) {
    if (bin < kFineBins) return bin * kFineBinNs + kFineBinNs / 2;
    return kFineLimitNs + (bin - kFineBins) * kCoarseBinNs + kCoarseBinNs / 2;
  }
  double PercentileMs(int percent) const {
    const int64_t rank = std::max<int64_t>(1, (count_ * percent + 99) / 100);
    int64_t seen = 0;
    size_t bin = 0;
    while ((seen += bins_[bin]) < rank) ++bin;
    return static_cast<double>(std::min(MiddleNs(static_cast<int64_t>(bin)), max_ns_)) * 1e-6;
  }

  std::vector<uint32_t> bins_;
  int64_t count_ = 0;
  double sum_ms_ = 0;
  int64_t max_ns_ = 0;
};

struct MeanAndP95 {
  double mean_ms = 0;
  double p95_ms = 0;
};

// Exact, over the delays of a short interval; the percentile is nearest-rank. Reorders `delays_ns`, which must not be
// empty.
inline MeanAndP95 MeanAndP95Of(std::vector<int64_t>& delays_ns) {
  const int64_t sum = std::accumulate(delays_ns.begin(), delays_ns.end(), int64_t{0});
  const auto p95 = delays_ns.begin() + static_cast<std::ptrdiff_t>((delays_ns.size() * 95 + 99) / 100 - 1);
  std::nth_element(delays_ns.begin(), p95, delays_ns.end());
  return {.mean_ms = static_cast<double>(sum) / static_cast<double>(delays_ns.size()) * 1e-6,
          .p95_ms = static_cast<double>(*p95) * 1e-6};
}

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_LINK_DELAY_DISTRIBUTION_H_
