#include "decision_maker.h"

#include <cstdio>
#include <string>

namespace weir::external {
namespace {

std::string Shown(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

}  // namespace

Result<DataRate> CheckedTarget(double target_bps) {
  // Not a number compares with nothing.
  if (!(target_bps >= 0 && target_bps <= kMaxTargetBps))
    return Error{"its target is " + Shown(target_bps) + " bit/s; it must be 0 to " + Shown(kMaxTargetBps)};
  return DataRate::BitsPerSecondF(target_bps);
}

Result<TimeDelta> CheckedInterval(double interval_us) {
  const double min = static_cast<double>(kMinInterval.us());
  const double max = static_cast<double>(kMaxInterval.us());
  if (!(interval_us >= min && interval_us <= max))
    return Error{"its interval_us is " + Shown(interval_us) + "; it must be " + Shown(min) + " to " + Shown(max)};
  return TimeDelta::Micros(static_cast<int64_t>(interval_us));
}

}  // namespace weir::external
