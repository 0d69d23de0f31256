// A controller from outside this program: what it is told, and what it answers. Who hosts it, in simulated time or in
// real time, is another matter.
#ifndef WEIR_PROGRAM_DECISION_MAKER_H_
#define WEIR_PROGRAM_DECISION_MAKER_H_

#include <cstdint>
#include <cstdio>
#include <string>

#include "weir/result.h"
#include "weir/units.h"
#include "weir_controller.h"

namespace weir::external {

// How often it decides.
inline constexpr TimeDelta kMinInterval = TimeDelta::Millis(5);
inline constexpr TimeDelta kMaxInterval = TimeDelta::Seconds(10);
inline constexpr TimeDelta kDefaultInterval = TimeDelta::Millis(100);
// What it may ask for; the bounds of the call are applied to that.
inline constexpr double kMaxTargetBps = 1e12;
// Starting may take this many times as long as one decision: interpreters and models have to be loaded.
inline constexpr int kStartLimitFactor = 10;

// A number as a message shows it.
inline std::string ShownNumber(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

// Its errors say what is wrong with the controller, as sentences for its author. After one it is not asked again.
class DecisionMaker {
 public:
  virtual ~DecisionMaker() = default;

  // Asked with the packets of every `interval()`.
  virtual Result<DataRate> Decide(const weir_controller_interval& interval) = 0;
  virtual TimeDelta interval() const = 0;
};

// Checks a target, which may be any number.
inline Result<DataRate> CheckedTarget(double target_bps) {
  // A NaN fails the comparison.
  if (target_bps >= 0 && target_bps <= kMaxTargetBps) return DataRate::BitsPerSecondF(target_bps);
  return Error{"its target is " + ShownNumber(target_bps) + " bit/s; it must be 0 to " + ShownNumber(kMaxTargetBps)};
}

inline Result<TimeDelta> CheckedInterval(double interval_us) {
  const double min_us = static_cast<double>(kMinInterval.us());
  const double max_us = static_cast<double>(kMaxInterval.us());
  if (interval_us >= min_us && interval_us <= max_us) return TimeDelta::Micros(static_cast<int64_t>(interval_us));
  return Error{"its interval_us is " + ShownNumber(interval_us) + "; it must be " + ShownNumber(min_us) + " to " +
               ShownNumber(max_us)};
}

}  // namespace weir::external

#endif  // WEIR_PROGRAM_DECISION_MAKER_H_
