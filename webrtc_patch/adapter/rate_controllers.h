// libwebrtc's own congestion controllers behind Weir's interfaces, for hosts that run in simulated time; and the rates
// that a receiver's SDP gives GCC, in calls too. This header needs nothing of libwebrtc.
//
// All are sans-IO: they act on the times they are given, start no thread and share no state, so any number of
// them run in one process and the same calls give the same results. Creating one turns off libwebrtc's log for the
// process.
#ifndef WEIR_WEBRTC_PATCH_ADAPTER_RATE_CONTROLLERS_H_
#define WEIR_WEBRTC_PATCH_ADAPTER_RATE_CONTROLLERS_H_

#include <memory>
#include <string_view>

#include "controllers/field_trials.h"
#include "sender/sender_controller.h"
#include "weir/units.h"

namespace weir {

// The libwebrtc that they are of: its milestone, and its version as results name it.
int LibwebrtcMilestone();
std::string_view LibwebrtcVersion();

// "gcc", sender's side: GoogCcNetworkController with LossBasedBweV2 on and probing. README.md has the contract of its
// host. `field_trials`: of libwebrtc, for this controller alone.
std::unique_ptr<SenderController> MakeGccController(const FieldTrials& field_trials = {});

// `x-google-start-bitrate` of the answer of a receiver that makes GCC follow REMB (docs/remb.md). GCC probes at once
// with up to six times the start rate; 3 Mbps would flood slow paths.
inline constexpr DataRate kStartRateOfReceiver = DataRate::KilobitsPerSecond(1'000);
// `x-google-max-bitrate` of the same.
inline constexpr DataRate kMaxRateOfReceiver = DataRate::KilobitsPerSecond(20'000);

// "gcc" at the sender of a receiver in charge: its target is at most the last REMB, and its own rate falls under
// loss but not under delay. The constraints' start rate is that of the REMB that comes before the first packet.
std::unique_ptr<SenderController> MakeGccOfReceiver();

// "scream", sender's side: ScreamNetworkController (SCReAM v2), as a browser makes it with these field trials, from
// transport-wide or RFC 8888 feedback. Only where LibwebrtcMilestone() is 150 or more.
std::unique_ptr<SenderController> MakeScreamController(
    const FieldTrials& field_trials = FieldTrialsOf("scream").value());

// "gcc-remb", receiver's side: RemoteBitrateEstimatorAbsSendTime. Packets without abs-send-time are invisible to it;
// its own ceiling is 30 Mbps.
std::unique_ptr<ReceiverController> MakeGccRembController();

// "pcc", sender's side: pcc::PccNetworkController (PCC Vivace). It has something to say after nearly every sent packet,
// and asks for padding up to its target rate.
std::unique_ptr<SenderController> MakePccController();

}  // namespace weir

#endif  // WEIR_WEBRTC_PATCH_ADAPTER_RATE_CONTROLLERS_H_
