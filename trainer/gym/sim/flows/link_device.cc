#include "flows/link_device.h"

#include <ns3/ipv4-l3-protocol.h>

#include <utility>

#include "core/event.h"

namespace weir::sim {

ns3::TypeId LinkDevice::GetTypeId() {
  static const ns3::TypeId type_id = ns3::TypeId("weir::sim::LinkDevice").SetParent<ns3::NetDevice>();
  return type_id;
}

void LinkDevice::Connect(Link* link, LinkDevice* peer, int64_t extra_delay_ns, FlowObserver* observer) {
  link_ = link;
  peer_ = peer;
  extra_delay_ns_ = extra_delay_ns;
  observer_ = observer;
}

bool LinkDevice::Send(ns3::Ptr<ns3::Packet> ip_packet, const ns3::Address&, uint16_t protocol) {
  if (silent_ || protocol != ns3::Ipv4L3Protocol::PROT_NUMBER) return false;
  Packet packet;
  packet.size_bytes = ip_packet->GetSize();
  packet.sink = peer_;
  packet.sent_time_ns = NowNs();
  packet.extra_delay_ns = extra_delay_ns_;
  packet.ip_packet = ip_packet;
  if (observer_) observer_->OnSent(packet);
  link_->Send(std::move(packet));
  return true;
}

bool LinkDevice::SendFrom(ns3::Ptr<ns3::Packet> packet, const ns3::Address&, const ns3::Address& destination,
                          uint16_t protocol) {
  return Send(packet, destination, protocol);
}

void LinkDevice::OnPacket(Packet&& packet, int64_t arrival_time_ns) {
  if (peer_->observer_) peer_->observer_->OnReceived(packet, arrival_time_ns);
  receive_(this, packet.ip_packet, ns3::Ipv4L3Protocol::PROT_NUMBER, peer_->address_);
}

void LinkDevice::OnDropped(const Packet& packet) {
  if (peer_->observer_) peer_->observer_->OnDropped(packet);
}

void LinkDevice::DoDispose() {
  node_ = nullptr;
  receive_ = ReceiveCallback();
  ns3::NetDevice::DoDispose();
}

}  // namespace weir::sim
