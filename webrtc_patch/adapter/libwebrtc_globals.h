// libwebrtc's process-wide state as its controllers need it: clock, log and field trials.
#ifndef WEIR_WEBRTC_PATCH_ADAPTER_LIBWEBRTC_GLOBALS_H_
#define WEIR_WEBRTC_PATCH_ADAPTER_LIBWEBRTC_GLOBALS_H_

#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/string_view.h"
#include "api/field_trials_view.h"
#include "api/units/timestamp.h"
#include "controllers/field_trials.h"

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

// Stops libwebrtc from logging to stderr, which Debian's build does from level INFO on. Only the first call in a
// process has an effect, so that a host can turn the log on again.
void SilenceLibwebrtcLog();

// The field trials of one controller; all others have libwebrtc's default. libwebrtc's global field-trial string would
// leak from one controller into the next.
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
