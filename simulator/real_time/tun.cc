#include "tun.h"

#include <unistd.h>

#include <cstring>

#include "core/event.h"
#include "scenario/scenario.h"

namespace weir::sim {
namespace {

constexpr size_t kMinIpv4HeaderBytes = 20;
// The ns-3 packet carries the time at which the real packet was read, then the real packet.
constexpr size_t kReadTimeBytes = sizeof(int64_t);

bool IsIpv4(std::span<const uint8_t> packet) { return packet.size() >= kMinIpv4HeaderBytes && packet[0] >> 4 == 4; }

// The ECN field of an IPv4 header (RFC 3168 section 5): the two low bits of its second byte.
constexpr size_t kEcnByte = 1;
constexpr uint8_t kEcnBits = 3;
constexpr size_t kChecksumByte = 10;

EcnMarking EcnOf(std::span<const uint8_t> ip_packet) { return static_cast<EcnMarking>(ip_packet[kEcnByte] & kEcnBits); }

// Sets the field and updates the checksum by RFC 1624 equation 3: HC' = ~(~HC + ~m + m').
void SetEcn(std::span<uint8_t> ip_packet, EcnMarking ecn) {
  const uint8_t before = ip_packet[kEcnByte];
  const auto after = static_cast<uint8_t>((before & ~kEcnBits) | static_cast<uint8_t>(ecn));
  if (after == before) return;
  uint8_t* const checksum = &ip_packet[kChecksumByte];
  uint32_t sum = (~(checksum[0] << 8 | checksum[1]) & 0xffffu) + (~uint32_t{before} & 0xffffu) + after;
  sum = (sum & 0xffffu) + (sum >> 16);
  sum = ~((sum & 0xffffu) + (sum >> 16));
  ip_packet[kEcnByte] = after;
  checksum[0] = static_cast<uint8_t>(sum >> 8);
  checksum[1] = static_cast<uint8_t>(sum);
}

}  // namespace

TunFlow::TunFlow(Link* link, int output_fd, SimDuration extra_delay, int64_t (*clock)())
    : link_(link),
      output_fd_(output_fd),
      extra_delay_(extra_delay),
      clock_(clock),
      buffer_(kReadTimeBytes + kMaxPacketBytes) {
  socklen_t size_bytes = sizeof(peer_);
  const bool is_socket = getsockname(output_fd, reinterpret_cast<sockaddr*>(&peer_), &size_bytes) == 0;
  is_packet_socket_ = is_socket && peer_.sll_family == AF_PACKET;
}

bool TunFlow::Deliver(std::span<const uint8_t> ip_packet) const {
  if (!is_packet_socket_) return write(output_fd_, ip_packet.data(), ip_packet.size()) >= 0;
  return sendto(output_fd_, ip_packet.data(), ip_packet.size(), 0, reinterpret_cast<const sockaddr*>(&peer_),
                sizeof(peer_)) >= 0;
}

void TunFlow::Send(std::span<const uint8_t> ip_packet, int64_t read_ns) {
  const auto size_bytes = static_cast<int64_t>(ip_packet.size());
  if (!IsIpv4(ip_packet) || size_bytes > kMaxPacketBytes || bytes_on_the_way_ + size_bytes > kMaxBytesOnTheWay) {
    ++statistics_.refused_packets;
    return;
  }
  std::memcpy(buffer_.data(), &read_ns, kReadTimeBytes);
  std::memcpy(buffer_.data() + kReadTimeBytes, ip_packet.data(), ip_packet.size());
  Packet packet;
  packet.size_bytes = static_cast<uint32_t>(ip_packet.size());
  packet.sink = this;
  packet.sent_time = Now();
  packet.extra_delay = extra_delay_;
  packet.rtp.ecn = EcnOf(ip_packet);
  packet.ip_packet = ns3::Create<ns3::Packet>(buffer_.data(), static_cast<uint32_t>(kReadTimeBytes + ip_packet.size()));
  bytes_on_the_way_ += size_bytes;
  link_->Send(std::move(packet));
}

void TunFlow::OnPacket(Packet&& packet, SimTime arrival_time) {
  bytes_on_the_way_ -= packet.size_bytes;
  if (link_->down()) {
    ++statistics_.dropped_while_down_packets;
    return;
  }
  packet.ip_packet->CopyData(buffer_.data(), static_cast<uint32_t>(buffer_.size()));
  SetEcn(std::span(buffer_).subspan(kReadTimeBytes), packet.rtp.ecn);
  if (!Deliver(std::span(buffer_).subspan(kReadTimeBytes, packet.size_bytes))) {
    ++statistics_.refused_packets;
    return;
  }
  int64_t read_ns = 0;
  std::memcpy(&read_ns, buffer_.data(), kReadTimeBytes);
  const SimDuration delay = SimDuration::Nanos(clock_() - read_ns);
  const SimDuration error = delay - (arrival_time - packet.sent_time);
  ++statistics_.packets;
  if (packet.rtp.ecn == EcnMarking::kCe) ++statistics_.ce_packets;
  statistics_.bytes += packet.size_bytes;
  if (error.Abs() > kLate) ++statistics_.late_packets;
  if (statistics_.delays.size() < kMaxSamples) {
    statistics_.delays.push_back(delay);
    statistics_.delay_errors.push_back(error);
  }
}

void TunFlow::OnDropped(const Packet& packet) {
  bytes_on_the_way_ -= packet.size_bytes;
  ++(link_->down() ? statistics_.dropped_while_down_packets : statistics_.dropped_packets);
}

TunFlowStatistics TunFlow::TakeStatistics() {
  statistics_.refused_packets += refused_elsewhere_.exchange(0);
  return std::exchange(statistics_, {});
}

}  // namespace weir::sim
