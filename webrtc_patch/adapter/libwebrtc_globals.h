// Sets up the process-wide state that libwebrtc's controllers use: clock, log and field trials.
#ifndef WEIR_WEBRTC_PATCH_ADAPTER_LIBWEBRTC_GLOBALS_H_
#define WEIR_WEBRTC_PATCH_ADAPTER_LIBWEBRTC_GLOBALS_H_

#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/string_view.h"
#include "api/field_trials_view.h"
#include "api/units/timestamp.h"
#include "field_trials.h"

namespace weir::adapter {

// Sets libwebrtc's clock to `now` in the current thread for its own lifetime. A thread may have only one at a time.
//
// GCC's detector of application-limited regions reads libwebrtc's global clock. Without this class it would compare
// simulated times with the uptime of the machine, and results would differ between runs.
class ScopedSimulatedTime {
 public:
  explicit ScopedSimulatedTime(webrtc::Timestamp now);
  ~ScopedSimulatedTime();
  ScopedSimulatedTime(const ScopedSimulatedTime&) = delete;
  ScopedSimulatedTime& operator=(const ScopedSimulatedTime&) = delete;
};

// Stops libwebrtc from logging to stderr, as Debian's build does from level INFO up. Only the first call in a process
// has an effect, so that a host can turn the log on again.
void SilenceLibwebrtcLog();

// The field trials of one controller; all other trials keep libwebrtc's defaults. libwebrtc's global field-trial string
// would leak from one controller into the next.
class FieldTrialsOfController final : public webrtc::FieldTrialsView {
 public:
  explicit FieldTrialsOfController(FieldTrials trials = {}) : trials_(std::move(trials)) {}

  std::string Lookup(absl::string_view key) const override {
    const auto found = trials_.find(std::string_view(key.data(), key.size()));
    return found == trials_.end() ? std::string() : found->second;
  }

 private:
  const FieldTrials trials_;
};

}  // namespace weir::adapter

#endif  // WEIR_WEBRTC_PATCH_ADAPTER_LIBWEBRTC_GLOBALS_H_
