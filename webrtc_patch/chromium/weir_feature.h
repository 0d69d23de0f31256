// Chromium's feature WebRtcWeirBandwidthEstimator, off by default; ../README.md has its parameters.
#ifndef WEIR_WEBRTC_PATCH_CHROMIUM_WEIR_FEATURE_H_
#define WEIR_WEBRTC_PATCH_CHROMIUM_WEIR_FEATURE_H_

namespace weir {

// Installs a ReceiveSideSwitch for the calls of this process if the feature is enabled; later invocations have no
// effect. Thread-safe. Call it before the PeerConnectionFactory is created, and after base::FeatureList.
void InstallIfEnabled();

}  // namespace weir

#endif  // WEIR_WEBRTC_PATCH_CHROMIUM_WEIR_FEATURE_H_
