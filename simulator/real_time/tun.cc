#include "tun.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "core/event.h"
#include "program/input.h"
#include "scenario/scenario.h"

namespace weir::sim {
namespace {

constexpr const char* kNamespaceFolder = "/run/netns/";
constexpr const char* kTunPath = "/dev/net/tun";

std::string LastError() { return std::strerror(errno); }

[[noreturn]] void RefuseFor(const std::string& what) {
  const bool needs_root = errno == EPERM || errno == EACCES;
  throw ProgramError(what + ": " + LastError() + (needs_root ? "; run it as root" : ""), kMissingComponent);
}

// The calling thread is in another network namespace while this lives.
class NamespaceVisit {
 public:
  explicit NamespaceVisit(const std::string& name) : home_(open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC)) {
    if (name.empty() || name.find('/') != std::string::npos || name == "." || name == "..") {
      throw ProgramError("network namespace \"" + name + "\": must be a name as `ip netns` lists it");
    }
    const FileDescriptor there(open((kNamespaceFolder + name).c_str(), O_RDONLY | O_CLOEXEC));
    if (!there) throw ProgramError("network namespace " + name + ": " + LastError() + "; `ip netns add` makes one");
    if (!home_ || setns(there.get(), CLONE_NEWNET) != 0) RefuseFor("cannot enter the network namespace " + name);
  }
  ~NamespaceVisit() { setns(home_.get(), CLONE_NEWNET); }
  NamespaceVisit(const NamespaceVisit&) = delete;
  NamespaceVisit& operator=(const NamespaceVisit&) = delete;

 private:
  FileDescriptor home_;
};

ifreq RequestFor(const std::string& name) {
  ifreq request{};
  std::strncpy(request.ifr_name, name.c_str(), IFNAMSIZ - 1);
  return request;
}

void SetAddress(ifreq& request, const char* address) {
  sockaddr_in socket_address{};
  socket_address.sin_family = AF_INET;
  inet_pton(AF_INET, address, &socket_address.sin_addr);
  std::memcpy(&request.ifr_addr, &socket_address, sizeof(socket_address));
}

void Configure(const std::string& name, const char* address, const char* netmask) {
  const FileDescriptor control(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!control) RefuseFor("cannot open a socket to configure " + name);
  const auto apply = [&](unsigned long operation, ifreq& request, const char* what) {
    if (ioctl(control.get(), operation, &request) != 0) RefuseFor(std::string("cannot set ") + what + " of " + name);
  };
  ifreq request = RequestFor(name);
  SetAddress(request, address);
  apply(SIOCSIFADDR, request, "the address");
  request = RequestFor(name);
  SetAddress(request, netmask);
  apply(SIOCSIFNETMASK, request, "the netmask");
  request = RequestFor(name);
  request.ifr_mtu = static_cast<int>(kMaxPacketBytes);
  apply(SIOCSIFMTU, request, "the MTU");
  request = RequestFor(name);
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  apply(SIOCSIFFLAGS, request, "the state");
}

}  // namespace

FileDescriptor OpenTunDevice(const std::string& network_namespace, const std::string& name, const char* address,
                             const char* netmask) {
  const NamespaceVisit visit(network_namespace);
  FileDescriptor device(open(kTunPath, O_RDWR | O_NONBLOCK | O_CLOEXEC));
  if (!device) RefuseFor(std::string("cannot open ") + kTunPath + " (TUN devices need the kernel module tun)");
  ifreq request = RequestFor(name);
  request.ifr_flags = IFF_TUN | IFF_NO_PI;
  if (ioctl(device.get(), TUNSETIFF, &request) != 0) {
    if (errno == EBUSY) {
      throw ProgramError("network namespace " + network_namespace + " has a device " + name +
                         " already: another link's");
    }
    RefuseFor("cannot make the TUN device " + name + " in the network namespace " + network_namespace);
  }
  Configure(name, address, netmask);
  return device;
}

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

// Sets the field. The checksum is brought up to date, RFC 1624 equation 3: HC' = ~(~HC + ~m + m').
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

TunFlow::TunFlow(Link* link, int output_fd, int64_t extra_delay_ns, int64_t (*clock)())
    : link_(link),
      output_fd_(output_fd),
      extra_delay_ns_(extra_delay_ns),
      clock_(clock),
      buffer_(kReadTimeBytes + kMaxPacketBytes) {}

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
  packet.sent_time_ns = NowNs();
  packet.extra_delay_ns = extra_delay_ns_;
  packet.rtp.ecn = EcnOf(ip_packet);
  packet.ip_packet = ns3::Create<ns3::Packet>(buffer_.data(), static_cast<uint32_t>(kReadTimeBytes + ip_packet.size()));
  bytes_on_the_way_ += size_bytes;
  link_->Send(std::move(packet));
}

void TunFlow::OnPacket(Packet&& packet, int64_t arrival_time_ns) {
  bytes_on_the_way_ -= packet.size_bytes;
  if (link_->down()) {
    ++statistics_.dropped_while_down_packets;
    return;
  }
  packet.ip_packet->CopyData(buffer_.data(), static_cast<uint32_t>(buffer_.size()));
  SetEcn(std::span(buffer_).subspan(kReadTimeBytes), packet.rtp.ecn);
  if (write(output_fd_, buffer_.data() + kReadTimeBytes, packet.size_bytes) < 0) {
    ++statistics_.refused_packets;
    return;
  }
  int64_t read_ns = 0;
  std::memcpy(&read_ns, buffer_.data(), kReadTimeBytes);
  const int64_t delay_ns = clock_() - read_ns;
  const int64_t error_ns = delay_ns - (arrival_time_ns - packet.sent_time_ns);
  ++statistics_.packets;
  if (packet.rtp.ecn == EcnMarking::kCe) ++statistics_.ce_packets;
  statistics_.bytes += packet.size_bytes;
  if (std::abs(error_ns) > kLateNs) ++statistics_.late_packets;
  if (statistics_.delays_ns.size() < kMaxSamples) {
    statistics_.delays_ns.push_back(delay_ns);
    statistics_.delay_errors_ns.push_back(error_ns);
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
