// libwebrtc's process-wide state as its controllers need it: clock, log and field trials.
#ifndef WEIR_WEBRTC_PATCH_ADAPTER_LIBWEBRTC_GLOBALS_H_
#define WEIR_WEBRTC_PATCH_ADAPTER_LIBWEBRTC_GLOBALS_H_

#include <string>

#include "absl/strings/string_view.h"
#include "api/field_trials_view.h"
#include "api/units/timestamp.h"

namespace weir::adapter {

// Sets libwebrtc's clock to `now` in its thread during its lifetime; other threads are not affected. At most one at a
// time in a thread.
//
// GCC's detector of application-limited regions reads libwebrtc's global clock. In simulated time it would compare
// simulated times with the uptime of the machine, so that results would differ between runs.
class ScopedSimulatedTime {
 public:
  explicit ScopedSimulatedTime(webrtc::Timestamp now);
  ~ScopedSimulatedTime();
  ScopedSimulatedTime(const ScopedSimulatedTime&) = delete;
  ScopedSimulatedTime& operator=(const ScopedSimulatedTime&) = delete;
};

// Stops libwebrtc from logging to stderr, which Debian's build does from level INFO on. Acts once a process, so that a
// host can turn the log on again.
void SilenceLibwebrtcLog();

// One trial of one controller; all others have libwebrtc's default. libwebrtc's global field-trial string would leak
// from one controller into the next.
class SingleFieldTrial final : public webrtc::FieldTrialsView {
 public:
  SingleFieldTrial(absl::string_view name, absl::string_view value) : name_(name), value_(value) {}

  std::string Lookup(absl::string_view key) const override { return key == name_ ? value_ : std::string(); }

 private:
  const std::string name_;
  const std::string value_;
};

// The field trial of the GCC of current browsers: LossBasedBweV2 is off by default in the libwebrtc of January 2023 and
// on in Chromium since. The values are those of Chromium 150, for the parameters that this version has.
inline constexpr char kLossBasedBweV2Trial[] = "WebRTC-Bwe-LossBasedBweV2";
inline constexpr char kLossBasedBweV2Parameters[] =
    "Enabled:true,BwRampupUpperBoundFactor:1.5,CandidateFactors:1.02|1.0|0.95,HigherBwBiasFactor:0.0002,"
    "HigherLogBwBiasFactor:0.02,LossThresholdOfHighBandwidthPreference:0.2,InherentLossUpperBoundBwBalance:100kbps,"
    "NewtonStepSize:0.75,DelayBasedCandidate:true,ObservationDurationLowerBound:250ms,ObservationWindowSize:15,"
    "InstantUpperBoundTemporalWeightFactor:0.9,InstantUpperBoundBwBalance:100kbps,TemporalWeightFactor:0.9,"
    "MaxIncreaseFactor:1.3,NotIncreaseIfInherentLossLessThanAverageLoss:true";

}  // namespace weir::adapter

#endif  // WEIR_WEBRTC_PATCH_ADAPTER_LIBWEBRTC_GLOBALS_H_
