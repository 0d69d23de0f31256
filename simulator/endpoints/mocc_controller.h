// A sender that has MOCC's interface (weir/mocc_sender.h) decide.
#ifndef WEIR_SIMULATOR_ENDPOINTS_MOCC_CONTROLLER_H_
#define WEIR_SIMULATOR_ENDPOINTS_MOCC_CONTROLLER_H_

#include <memory>

#include "weir/mocc_sender.h"
#include "weir/network_controller.h"

namespace weir::sim {

// For a SendSideEstimator, whose arrivals it sums up to one status per interval, as a sender without packets would
// report it. The latency of a packet is half of the smallest round-trip time plus the packet's queueing delay.
std::unique_ptr<ReceiverController> MakeMoccController(MoccSender sender);

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_ENDPOINTS_MOCC_CONTROLLER_H_
