#include "weir/fusion.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace weir {
namespace {

DataRate GeometricMean(std::span<const DataRate> rates) {
  double sum = 0;
  for (const DataRate rate : rates) sum += std::log(static_cast<double>(rate.bps()));
  const DataRate mean = DataRate::BitsPerSecondF(std::exp(sum / static_cast<double>(rates.size())));
  // Clamped because rounding must not change equal rates.
  const auto [lowest, highest] = std::ranges::minmax(rates);
  return std::clamp(mean, lowest, highest);
}

DataRate Median(std::span<DataRate> rates) {
  std::ranges::sort(rates);
  const size_t middle = (rates.size() - 1) / 2;
  return GeometricMean(rates.subspan(middle, rates.size() % 2 == 1 ? 1 : 2));
}

DataRate Closest(DataRate target, std::span<const DataRate> rates) {
  return *std::ranges::min_element(rates, {},
                                   [target](DataRate rate) { return rate < target ? target - rate : rate - target; });
}

// The pilot's rate is the first of `rates`.
DataRate Fuse(const Fusion& fusion, std::span<DataRate> rates) {
  switch (fusion.kind) {
    case FusionKind::kMax:
      return std::ranges::max(rates);
    case FusionKind::kMin:
      return std::ranges::min(rates);
    case FusionKind::kMedian:
      return Median(rates);
    case FusionKind::kMean:
      return GeometricMean(rates);
    case FusionKind::kClosest:
      return Closest(fusion.target, rates);
    case FusionKind::kUser:
      if (fusion.function && *fusion.function) return (*fusion.function)(rates[0], rates.subspan(1));
      break;
    case FusionKind::kPilotOnly:
      break;
  }
  return rates[0];
}

}  // namespace

FusedRate FuseRates(const Fusion& fusion, DataRate pilot, std::span<const DataRate> copilots) {
  std::array<DataRate, 1 + kMaxCopilots> buffer{pilot, pilot, pilot, pilot, pilot, pilot, pilot, pilot};
  const size_t count = std::min(copilots.size(), kMaxCopilots);
  std::ranges::copy(copilots.first(count), buffer.begin() + 1);
  const std::span<DataRate> rates = std::span(buffer).first(1 + count);
  const auto [lowest, highest] = std::ranges::minmax(rates);
  const DataRate rate = Fuse(fusion, rates);
  if (rate < lowest || rate > highest) return {.rate = pilot, .fault = true};
  return {.rate = rate, .from_copilot = rate != pilot};
}

}  // namespace weir
