// The field trial that makes this libwebrtc's GCC the one of browsers of today: LossBasedBweV2 is off by default in the
// libwebrtc of January 2023 and on in Chromium since. The values are those of Chromium 150 as far as this version knows
// the parameter.
#ifndef WEIR_WEBRTC_PATCH_ADAPTER_LOSS_BASED_BWE_V2_H_
#define WEIR_WEBRTC_PATCH_ADAPTER_LOSS_BASED_BWE_V2_H_

namespace weir::adapter {

inline constexpr char kLossBasedBweV2Trial[] = "WebRTC-Bwe-LossBasedBweV2";
inline constexpr char kLossBasedBweV2Parameters[] =
    "Enabled:true,BwRampupUpperBoundFactor:1.5,CandidateFactors:1.02|1.0|0.95,HigherBwBiasFactor:0.0002,"
    "HigherLogBwBiasFactor:0.02,LossThresholdOfHighBandwidthPreference:0.2,InherentLossUpperBoundBwBalance:100kbps,"
    "NewtonStepSize:0.75,DelayBasedCandidate:true,ObservationDurationLowerBound:250ms,ObservationWindowSize:15,"
    "InstantUpperBoundTemporalWeightFactor:0.9,InstantUpperBoundBwBalance:100kbps,TemporalWeightFactor:0.9,"
    "MaxIncreaseFactor:1.3,NotIncreaseIfInherentLossLessThanAverageLoss:true";

}  // namespace weir::adapter

#endif  // WEIR_WEBRTC_PATCH_ADAPTER_LOSS_BASED_BWE_V2_H_
