// Weir's choice of repair at libwebrtc's sender.
//
//   auto return_path = std::make_shared<weir::ReturnPath>();
//   dependencies.fec_controller_factory = weir::MakeRepairFecControllerFactory(return_path);
//   dependencies.network_controller_factory = ... MakeWeirNetworkControllerFactory({.return_path = return_path, ...})
#ifndef WEIR_WEBRTC_PATCH_ADAPTER_SENDER_REPAIR_FEC_CONTROLLER_H_
#define WEIR_WEBRTC_PATCH_ADAPTER_SENDER_REPAIR_FEC_CONTROLLER_H_

#include <memory>

#include "api/fec_controller.h"
#include "sender/return_path.h"

namespace weir {

// Makes FEC controllers that use libwebrtc's own table where a RepairPolicy chooses FEC, and no FEC elsewhere. A null
// `return_path`: the loss of NACKs is unknown.
std::unique_ptr<webrtc::FecControllerFactoryInterface> MakeRepairFecControllerFactory(
    std::shared_ptr<const ReturnPath> return_path);

}  // namespace weir

#endif  // WEIR_WEBRTC_PATCH_ADAPTER_SENDER_REPAIR_FEC_CONTROLLER_H_
