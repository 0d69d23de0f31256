// libwebrtc's congestion controllers behind Weir's interfaces, for hosts that run in simulated time, and the bitrates
// that a receiver's SDP sets for GCC, which calls use too. This header does not include libwebrtc.
//
// All controllers are sans-IO: they use only the times passed in, start no threads and share no state, so any number of
// them can run in one process, and the same calls give the same results. Creating one turns off libwebrtc's log for
// the process.
#ifndef WEIR_WEBRTC_PATCH_ADAPTER_RATE_CONTROLLERS_H_
#define WEIR_WEBRTC_PATCH_ADAPTER_RATE_CONTROLLERS_H_

#include <memory>
#include <string_view>

#include "field_trials.h"
#include "weir/sender_controller.h"
#include "weir/units.h"

namespace weir {

// Milestone of the linked libwebrtc, and its version as results report it.
int LibwebrtcMilestone();
std::string_view LibwebrtcVersion();

// "gcc", at the sender: GoogCcNetworkController with LossBasedBweV2 on and probing. README.md has the contract of its
// host. `field_trials` are libwebrtc's and apply to this controller only.
std::unique_ptr<SenderController> MakeGccController(const FieldTrials& field_trials = {});

// `x-google-start-bitrate` in the answer of a receiver that makes GCC follow REMB (docs/remb.md). GCC probes at once
// with up to six times the start rate; 3 Mbps would flood slow paths.
inline constexpr DataRate kStartRateOfReceiver = DataRate::KilobitsPerSecond(1'000);
// `x-google-max-bitrate` in the same answer.
inline constexpr DataRate kMaxRateOfReceiver = DataRate::KilobitsPerSecond(20'000);

// "gcc" at a sender whose receiver decides: the target is at most the last REMB, and GCC's own rate drops on loss but
// not on delay. The constraints' start rate is that of the REMB that arrives before the first packet.
std::unique_ptr<SenderController> MakeGccOfReceiver();

// "scream", at the sender: ScreamNetworkController (SCReAM v2), as a browser creates it with these field trials, from
// transport-wide or RFC 8888 feedback. Requires LibwebrtcMilestone() of at least 150.
std::unique_ptr<SenderController> MakeScreamController(
    const FieldTrials& field_trials = FieldTrialsOf("scream").value());

// "gcc-remb", at the receiver: RemoteBitrateEstimatorAbsSendTime. It ignores packets without abs-send-time and caps its
// estimate at 30 Mbps.
std::unique_ptr<ReceiverController> MakeGccRembController();

// "pcc", at the sender: pcc::PccNetworkController (PCC Vivace). It has an update after nearly every sent packet, and
// requests padding up to its target rate.
std::unique_ptr<SenderController> MakePccController();

}  // namespace weir

#endif  // WEIR_WEBRTC_PATCH_ADAPTER_RATE_CONTROLLERS_H_
