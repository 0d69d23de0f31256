// Hosts, network devices and sockets of ns-3's TCP/IP, configured like Linux.
#ifndef WEIR_SIMULATOR_FLOWS_TCP_HOST_H_
#define WEIR_SIMULATOR_FLOWS_TCP_HOST_H_

#include <ns3/address.h>
#include <ns3/node.h>
#include <ns3/tcp-congestion-ops.h>
#include <ns3/tcp-socket-base.h>
#include <ns3/virtual-net-device.h>

#include <cstdint>
#include <utility>

#include "core/sim_time.h"
#include "link/link.h"
#include "link/packet.h"
#include "scenario/scenario.h"

namespace weir::sim {

class LinkDevice final : public ns3::VirtualNetDevice, private PacketSink {
 public:
  static ns3::TypeId GetTypeId();
  LinkDevice();

  // Packets that the host sends go to `link` and arrive at `peer`, which must outlive the simulation's last event.
  // `observer`, which may be null, sees them sent, received and dropped.
  void Connect(Link* link, LinkDevice* peer, SimDuration extra_delay, FlowObserver* observer);
  // Discards all that the host sends from now on.
  void Silence() { silent_ = true; }

  bool Send(ns3::Ptr<ns3::Packet> packet, const ns3::Address& destination, uint16_t protocol) override;

 private:
  bool needs_event() const override { return true; }
  // From `peer`.
  void OnPacket(Packet&& packet, SimTime arrival_time) override;
  void OnDropped(const Packet& packet) override;

  Link* link_ = nullptr;
  LinkDevice* peer_ = nullptr;
  SimDuration extra_delay_ = SimDuration::Zero();
  FlowObserver* observer_ = nullptr;
  bool silent_ = false;
};

// The payload of an IP packet of 1500 bytes with IP and TCP headers and the timestamp option.
inline constexpr uint32_t kTcpSegmentBytes = 1448;

// A host with one device, at `address`. Every flow has a network to itself, so the addresses are always the same.
std::pair<ns3::Ptr<ns3::Node>, ns3::Ptr<LinkDevice>> MakeTcpHost(const char* address);

// Makes a socket with Linux's values where ns-3's differ.
ns3::Ptr<ns3::TcpSocketBase> MakeTcpSocket(const ns3::Ptr<ns3::Node>& node);

// `ns3_stream` numbers the random stream of a control that draws. ns-3 would number streams by their creation in the
// process, and a simulation would depend on those before it.
ns3::Ptr<ns3::TcpCongestionOps> MakeTcpCongestionControl(const TcpSpec& spec, uint32_t ns3_stream);

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_FLOWS_TCP_HOST_H_
