// A TUN device in a network namespace: IP packets that the namespace sends can be read, and those that are written
// arrive there.
#ifndef WEIR_TRAINER_GYM_SIM_REALTIME_TUN_DEVICE_H_
#define WEIR_TRAINER_GYM_SIM_REALTIME_TUN_DEVICE_H_

#include <string>

#include "core/file_descriptor.h"

namespace weir::sim {

// Makes the device `name`, up, with `address` and `netmask` (dotted) and an MTU of kMaxPacketBytes, in the namespace
// that `ip netns` calls `network_namespace`. It is gone when the result, which does not block, is closed. Throws
// InputError when there is no such namespace, MissingComponent when this machine or this user cannot make one.
FileDescriptor OpenTunDevice(const std::string& network_namespace, const std::string& name, const char* address,
                             const char* netmask);

}  // namespace weir::sim

#endif  // WEIR_TRAINER_GYM_SIM_REALTIME_TUN_DEVICE_H_
