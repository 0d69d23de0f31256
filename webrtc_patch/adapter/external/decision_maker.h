// A controller from outside this program: what it is told, and what it answers. Who hosts it, in simulated time or in
// real time, is another matter.
#ifndef WEIR_WEBRTC_PATCH_ADAPTER_EXTERNAL_DECISION_MAKER_H_
#define WEIR_WEBRTC_PATCH_ADAPTER_EXTERNAL_DECISION_MAKER_H_

#include <cstdint>

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

// Its errors say what is wrong with the controller, as sentences for its author. After one it is not asked again.
class DecisionMaker {
 public:
  virtual ~DecisionMaker() = default;

  // Asked with the packets of every `interval()`.
  virtual Result<DataRate> Decide(const weir_controller_interval& interval) = 0;
  virtual TimeDelta interval() const = 0;
};

// A target as a controller may have made it up.
Result<DataRate> CheckedTarget(double target_bps);
Result<TimeDelta> CheckedInterval(double interval_us);

}  // namespace weir::external

#endif  // WEIR_WEBRTC_PATCH_ADAPTER_EXTERNAL_DECISION_MAKER_H_
