// libwebrtc's own congestion controllers behind Weir's interfaces, for hosts that run in simulated time. This header
// needs nothing of libwebrtc.
//
// All three are sans-IO: they act on the times they are given, start no thread and share no state, so any number of
// them run in one process and the same calls give the same results. Creating one turns off libwebrtc's log for the
// process.
#ifndef WEIR_WEBRTC_PATCH_ADAPTER_RATE_CONTROLLERS_H_
#define WEIR_WEBRTC_PATCH_ADAPTER_RATE_CONTROLLERS_H_

#include <memory>

#include "sender_controller.h"

namespace weir {

// "gcc", sender's side: GoogCcNetworkController with LossBasedBweV2 on and probing. It is only itself when the host
//   - reports every sent packet before anything else that happens at that time,
//   - hands in transport feedback with the lost packets in it, and RTCP receiver reports (OnTransportLossReport, once a
//   second): without these its
//     loss-based half never leaves the start phase,
//   - sends the probe clusters it asks for, at their rate, marked with their PacedPacketInfo.
std::unique_ptr<SenderController> MakeGccController();

// "gcc-remb", receiver's side: RemoteBitrateEstimatorAbsSendTime. Packets without abs-send-time are invisible to it;
// its own ceiling is 30 Mbps.
std::unique_ptr<ReceiverController> MakeGccRembController();

// "pcc", sender's side: pcc::PccNetworkController (PCC Vivace). It has something to say after nearly every sent packet,
// and asks for padding up to its target rate.
std::unique_ptr<SenderController> MakePccController();

}  // namespace weir

#endif  // WEIR_WEBRTC_PATCH_ADAPTER_RATE_CONTROLLERS_H_
