// The requests to an external controller and its answers, in simulated time and in real time.
#ifndef WEIR_PROGRAM_DECISION_MAKER_H_
#define WEIR_PROGRAM_DECISION_MAKER_H_

#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>

#include "program/line_process.h"
#include "weir/result.h"
#include "weir/units.h"
#include "weir_controller.h"

namespace weir::external {

// How often it decides.
inline constexpr TimeDelta kMinInterval = TimeDelta::Millis(5);
inline constexpr TimeDelta kMaxInterval = TimeDelta::Seconds(10);
inline constexpr TimeDelta kDefaultInterval = TimeDelta::Millis(100);
// The highest target; the bounds of the call apply to it.
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

// Loads a shared library, which stays loaded for good. With `watch`, a call into it that lasts longer than the limit
// ends this process with a message that begins with `about`: there is no other way to stop it.
Result<std::unique_ptr<DecisionMaker>> StartLibrary(const std::string& path, const std::string& about,
                                                    const weir_controller_start& start, TimeDelta decision_limit,
                                                    bool watch);

// Has `process` begin anew. `take_back` gets it at the end, if it works: it can begin anew.
Result<std::unique_ptr<DecisionMaker>> StartProgram(std::unique_ptr<LineProcess> process,
                                                    const weir_controller_start& start, TimeDelta decision_limit,
                                                    std::function<void(std::unique_ptr<LineProcess>)> take_back);

}  // namespace weir::external

#endif  // WEIR_PROGRAM_DECISION_MAKER_H_
