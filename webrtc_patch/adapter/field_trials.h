// The field trials of one controller, kept beside it: libwebrtc's global field-trial string would leak from one
// controller into the next.
#ifndef WEIR_WEBRTC_PATCH_ADAPTER_FIELD_TRIALS_H_
#define WEIR_WEBRTC_PATCH_ADAPTER_FIELD_TRIALS_H_

#include <string>

#include "absl/strings/string_view.h"
#include "api/field_trials_view.h"

namespace weir::adapter {

// One trial and its value; every other trial is at libwebrtc's default.
class SingleFieldTrial final : public webrtc::FieldTrialsView {
 public:
  SingleFieldTrial(absl::string_view name, absl::string_view value) : name_(name), value_(value) {}

  std::string Lookup(absl::string_view key) const override { return key == name_ ? value_ : std::string(); }

 private:
  const std::string name_;
  const std::string value_;
};

}  // namespace weir::adapter

#endif  // WEIR_WEBRTC_PATCH_ADAPTER_FIELD_TRIALS_H_
