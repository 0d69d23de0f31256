// Network Delivery Time Control (draft-ageneau-ccwg-ndtc-01) at the receiver, a baseline for video calls: each frame
// probes the path.
#ifndef WEIR_SIMULATOR_ENDPOINTS_NDTC_CONTROLLER_H_
#define WEIR_SIMULATOR_ENDPOINTS_NDTC_CONTROLLER_H_

#include <memory>

#include "weir/network_controller.h"

namespace weir::sim {

// REMB carries only the target, so frames have the sender's pacing instead of the draft's dithering. The target
// includes RTP headers but no audio. ECN and padding of frames are not implemented.
std::unique_ptr<ReceiverController> MakeNdtcController();

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_ENDPOINTS_NDTC_CONTROLLER_H_
