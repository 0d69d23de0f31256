// Network Delivery Time Control (draft-ageneau-ccwg-ndtc-01) at the receiver, an opponent for calls with video: each
// frame's packets are a probe of the path.
#ifndef WEIR_SIMULATOR_ENDPOINTS_NDTC_CONTROLLER_H_
#define WEIR_SIMULATOR_ENDPOINTS_NDTC_CONTROLLER_H_

#include <memory>

#include "weir/network_controller.h"

namespace weir::sim {

// REMB tells its sender the target only, so frames are paced as the sender likes, without the draft's dithering. The
// target has the RTP headers, and no room for audio. ECN and padding of frames are left out.
std::unique_ptr<ReceiverController> MakeNdtcController();

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_ENDPOINTS_NDTC_CONTROLLER_H_
