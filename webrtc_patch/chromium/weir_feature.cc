#include "weir_feature.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/feature_list.h"
#include "base/logging.h"
#include "base/metrics/field_trial_params.h"
#include "base/metrics/histogram_functions.h"
#include "receive_side_switch.h"
#include "shipped_model.h"

namespace weir {
namespace {

BASE_FEATURE(kWebRtcWeirBandwidthEstimator, base::FEATURE_DISABLED_BY_DEFAULT);
BASE_FEATURE_PARAM(std::string, kMode, &kWebRtcWeirBandwidthEstimator, "mode", "weir");
// Weights of the objective; only their ratios matter.
BASE_FEATURE_PARAM(double, kThroughputWeight, &kWebRtcWeirBandwidthEstimator, "throughput", kBalanced.throughput);
BASE_FEATURE_PARAM(double, kLatencyWeight, &kWebRtcWeirBandwidthEstimator, "latency", kBalanced.latency);
BASE_FEATURE_PARAM(double, kLossWeight, &kWebRtcWeirBandwidthEstimator, "loss", kBalanced.loss);

// chrome://histograms; in shadow mode, the rate that REMB would carry.
void RecordDecision(const ReceiveSideDecision& decision) {
  base::UmaHistogramCounts100000("WebRTC.Weir.TargetKbps",
                                 static_cast<int>(decision.estimate.target_rate.bps() / 1000));
  base::UmaHistogramBoolean("WebRTC.Weir.InCharge", decision.in_charge);
  base::UmaHistogramBoolean("WebRTC.Weir.Fallback", decision.controller == "fallback");
}

// Configures the policy with the shipped model, and the mode and weights of the feature.
std::optional<ReceiveSideSwitchConfig> Config(ReceiveSideMode mode) {
  Result<ControllerFactory> policy = PolicyAlone(ShippedModel());
  if (!policy) {
    LOG(ERROR) << "WebRtcWeirBandwidthEstimator: " << policy.error();
    return std::nullopt;
  }
  ReceiveSideSwitchConfig config;
  config.mode = mode;
  config.controller = std::move(policy.value());
  config.on_decision = RecordDecision;
  const std::optional<Objective> objective =
      NormalizedObjective(static_cast<float>(kThroughputWeight.Get()), static_cast<float>(kLatencyWeight.Get()),
                          static_cast<float>(kLossWeight.Get()));
  if (objective) {
    config.objective = *objective;
  } else {
    LOG(ERROR) << "WebRtcWeirBandwidthEstimator: the weights must be above 0; they are ignored";
  }
  return config;
}

bool Install() {
  if (!base::FeatureList::IsEnabled(kWebRtcWeirBandwidthEstimator)) return false;
  const std::optional<ReceiveSideMode> mode = ParseReceiveSideMode(kMode.Get());
  if (!mode) {
    LOG(ERROR) << "WebRtcWeirBandwidthEstimator: no mode " << kMode.Get() << "; libwebrtc's own estimator is in charge";
    return false;
  }
  base::UmaHistogramExactLinear("WebRTC.Weir.Mode", static_cast<int>(*mode), 4);
  // kGcc is the control group of a trial: calls run as without the feature.
  if (*mode == ReceiveSideMode::kGcc) return false;
  std::optional<ReceiveSideSwitchConfig> config = Config(*mode);
  if (!config) return false;
  const auto receive_side = ReceiveSideSwitch::Create(std::move(*config));
  if (!receive_side) return false;
  receive_side.value()->Install();
  return true;
}

}  // namespace

void InstallIfEnabled() { [[maybe_unused]] static const bool installed = Install(); }

}  // namespace weir
