#include "estimate_bounds.h"

#include <algorithm>

#include "conversions.h"
#include "modules/congestion_controller/goog_cc/goog_cc_network_control.h"

namespace weir::adapter {
namespace {

// Gives access to libwebrtc's private estimates. An explicit instantiation may name private members, so this needs no
// change to libwebrtc, and stops compiling when the members are removed.
template <auto kMember, class Name>
struct Export {
  friend constexpr auto Member(Name) { return kMember; }
};

struct PccEstimate {
  friend constexpr auto Member(PccEstimate);
};
template struct Export<&webrtc::pcc::PccNetworkController::bandwidth_estimate_, PccEstimate>;

}  // namespace

#if WEIR_LIBWEBRTC_MILESTONE >= 150

void StopLossBasedEstimate(webrtc::NetworkControllerInterface&) {}

#else

namespace {

constexpr webrtc::DataRate kLossBasedCeiling = webrtc::DataRate::KilobitsPerSec(1'000'000'000);

struct BandwidthEstimation {
  friend constexpr auto Member(BandwidthEstimation);
};
struct LossBasedEstimator {
  friend constexpr auto Member(LossBasedEstimator);
};
template struct Export<&webrtc::GoogCcNetworkController::bandwidth_estimation_, BandwidthEstimation>;
template struct Export<&webrtc::SendSideBandwidthEstimation::loss_based_bandwidth_estimator_v2_, LossBasedEstimator>;

}  // namespace

void StopLossBasedEstimate(webrtc::NetworkControllerInterface& controller) {
  auto& gcc = static_cast<webrtc::GoogCcNetworkController&>(controller);
  webrtc::SendSideBandwidthEstimation& estimation = *(gcc.*Member(BandwidthEstimation{}));
  webrtc::LossBasedBweV2& loss_based = estimation.*Member(LossBasedEstimator{});
  if (!loss_based.IsReady()) return;
  // Without a delay-based limit the result is the loss-limited estimate, or less while recent losses bound it.
  const auto result = loss_based.GetLossBasedResult(webrtc::DataRate::PlusInfinity());
  if (result.bandwidth_estimate > kLossBasedCeiling) loss_based.SetBandwidthEstimate(kLossBasedCeiling);
}

#endif

void BoundPccEstimate(webrtc::pcc::PccNetworkController& controller, const TargetRateConstraints& constraints) {
  webrtc::DataRate& estimate = controller.*Member(PccEstimate{});
  estimate = std::clamp(estimate, ToWebrtc(constraints.min_rate), ToWebrtc(constraints.max_rate));
}

}  // namespace weir::adapter
