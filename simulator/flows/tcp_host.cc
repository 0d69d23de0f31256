#include "flows/tcp_host.h"

#include <ns3/internet-stack-helper.h>
#include <ns3/ipv4-l3-protocol.h>
#include <ns3/ipv4-static-routing-helper.h>
#include <ns3/ipv4.h>
#include <ns3/mac48-address.h>
#include <ns3/tcp-bbr.h>
#include <ns3/tcp-cubic.h>
#include <ns3/tcp-linux-reno.h>
#include <ns3/tcp-socket-factory.h>
#include <ns3/tcp-vegas.h>
#include <ns3/uinteger.h>

#include <utility>
#include <vector>

#include "core/event.h"
#include "flows/poly_tcp.h"
#include "flows/tcp_controls.h"

namespace weir::sim {

ns3::TypeId LinkDevice::GetTypeId() {
  static const ns3::TypeId type_id = ns3::TypeId("weir::sim::LinkDevice").SetParent<ns3::VirtualNetDevice>();
  return type_id;
}

LinkDevice::LinkDevice() {
  SetMtu(kMaxPacketBytes);
  SetAddress(ns3::Mac48Address("00:00:00:00:00:01"));
}

void LinkDevice::Connect(Link* link, LinkDevice* peer, SimDuration extra_delay, FlowObserver* observer) {
  link_ = link;
  peer_ = peer;
  extra_delay_ = extra_delay;
  observer_ = observer;
}

bool LinkDevice::Send(ns3::Ptr<ns3::Packet> ip_packet, const ns3::Address&, uint16_t protocol) {
  if (silent_ || protocol != ns3::Ipv4L3Protocol::PROT_NUMBER) return false;
  Packet packet;
  packet.size_bytes = ip_packet->GetSize();
  packet.sink = peer_;
  packet.sent_time = Now();
  packet.extra_delay = extra_delay_;
  packet.ip_packet = ip_packet;
  if (observer_) observer_->OnSent(packet);
  link_->Send(std::move(packet));
  return true;
}

void LinkDevice::OnPacket(Packet&& packet, SimTime arrival_time) {
  if (peer_->observer_) peer_->observer_->OnReceived(packet, arrival_time);
  Receive(packet.ip_packet, ns3::Ipv4L3Protocol::PROT_NUMBER, peer_->GetAddress(), GetAddress(), PACKET_HOST);
}

void LinkDevice::OnDropped(const Packet& packet) {
  if (peer_->observer_) peer_->observer_->OnDropped(packet);
}

namespace {

// Far above the bandwidth-delay product of every path of interest, so that the window never limits.
constexpr uint32_t kBufferBytes = 8 << 20;

ns3::Ptr<ns3::TcpCongestionOps> MakeControl(TcpCongestionControl kind, uint32_t ns3_stream) {
  switch (kind) {
    case TcpCongestionControl::kCubic:
      return ns3::CreateObject<ns3::TcpCubic>();
    case TcpCongestionControl::kBbr: {
      const auto bbr = ns3::CreateObject<TcpBbr>();
      bbr->SetStream(ns3_stream);
      return bbr;
    }
    case TcpCongestionControl::kNewReno:
      return ns3::CreateObject<ns3::TcpNewReno>();
    case TcpCongestionControl::kLinuxReno:
      return ns3::CreateObject<ns3::TcpLinuxReno>();
    case TcpCongestionControl::kVegas:
      return ns3::CreateObject<ns3::TcpVegas>();
    case TcpCongestionControl::kCopa:
      return ns3::CreateObject<TcpCopa>();
  }
  return nullptr;
}

}  // namespace

ns3::Ptr<ns3::TcpCongestionOps> MakeTcpCongestionControl(const TcpSpec& spec, uint32_t ns3_stream) {
  // At most one control draws random numbers.
  const auto pilot = MakeControl(spec.congestion_control, ns3_stream);
  if (spec.copilots.empty()) return pilot;
  std::vector<ns3::Ptr<ns3::TcpCongestionOps>> controls{pilot};
  for (const TcpCongestionControl copilot : spec.copilots) controls.push_back(MakeControl(copilot, ns3_stream));
  return ns3::CreateObject<PolyTcp>(controls, spec.fusion, spec.hands_back);
}

std::pair<ns3::Ptr<ns3::Node>, ns3::Ptr<LinkDevice>> MakeTcpHost(const char* address) {
  const auto node = ns3::CreateObject<ns3::Node>();
  ns3::InternetStackHelper stack;
  stack.SetIpv6StackInstall(false);
  stack.SetRoutingHelper(ns3::Ipv4StaticRoutingHelper());
  stack.Install(node);
  const auto device = ns3::CreateObject<LinkDevice>();
  node->AddDevice(device);
  const auto ipv4 = node->GetObject<ns3::Ipv4>();
  const uint32_t interface = ipv4->AddInterface(device);
  ipv4->AddAddress(interface, ns3::Ipv4InterfaceAddress(ns3::Ipv4Address(address), ns3::Ipv4Mask("255.255.255.0")));
  ipv4->SetUp(interface);
  return {node, device};
}

ns3::Ptr<ns3::TcpSocketBase> MakeTcpSocket(const ns3::Ptr<ns3::Node>& node) {
  const auto socket =
      ns3::DynamicCast<ns3::TcpSocketBase>(ns3::Socket::CreateSocket(node, ns3::TcpSocketFactory::GetTypeId()));
  socket->SetAttribute("SegmentSize", ns3::UintegerValue(kTcpSegmentBytes));
  socket->SetAttribute("SndBufSize", ns3::UintegerValue(kBufferBytes));
  socket->SetAttribute("RcvBufSize", ns3::UintegerValue(kBufferBytes));
  // RTO = smoothed RTT + max(200 ms, 4 * variation), which ns-3 writes with its clock granularity. Without that margin,
  // a delayed acknowledgement on a quiet path makes every packet time out, forever: ns-3 takes no RTT sample of
  // retransmissions.
  socket->SetAttribute("ClockGranularity", ns3::TimeValue(ns3::MilliSeconds(200)));
  socket->SetAttribute("MinRto", ns3::TimeValue(ns3::MilliSeconds(200)));
  socket->SetAttribute("DelAckTimeout", ns3::TimeValue(ns3::MilliSeconds(40)));
  socket->SetAttribute("ConnTimeout", ns3::TimeValue(ns3::Seconds(1)));
  socket->SetAttribute("ConnCount", ns3::UintegerValue(15));
  socket->SetAttribute("DataRetries", ns3::UintegerValue(15));
  return socket;
}

}  // namespace weir::sim
