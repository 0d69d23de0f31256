// Hosts and sockets of ns-3's TCP/IP, set up as Linux would be.
#ifndef WEIR_TRAINER_GYM_SIM_FLOWS_TCP_HOST_H_
#define WEIR_TRAINER_GYM_SIM_FLOWS_TCP_HOST_H_

#include <ns3/node.h>
#include <ns3/tcp-congestion-ops.h>
#include <ns3/tcp-socket-base.h>

#include <cstdint>
#include <utility>

#include "flows/link_device.h"
#include "scenario/scenario.h"

namespace weir::sim {

// What fits into an IP packet of 1500 bytes beside IP, TCP and its time stamp option.
inline constexpr uint32_t kTcpSegmentBytes = 1448;

// A host with one device, at `address`. Every flow has a network to itself, so the addresses are always the same.
std::pair<ns3::Ptr<ns3::Node>, ns3::Ptr<LinkDevice>> MakeTcpHost(const char* address);

// With Linux's values where ns-3's differ.
ns3::Ptr<ns3::TcpSocketBase> MakeTcpSocket(const ns3::Ptr<ns3::Node>& node);

// `ns3_stream` numbers the random stream of those that draw. ns-3 would number it by its creation in the process, and
// make a simulation depend on those before it.
ns3::Ptr<ns3::TcpCongestionOps> MakeTcpCongestionControl(const TcpSpec& spec, uint32_t ns3_stream);

}  // namespace weir::sim

#endif  // WEIR_TRAINER_GYM_SIM_FLOWS_TCP_HOST_H_
