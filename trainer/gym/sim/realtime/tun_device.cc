#include "realtime/tun_device.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "program/input.h"
#include "scenario/scenario.h"

namespace weir::sim {
namespace {

constexpr const char* kNamespaceFolder = "/run/netns/";
constexpr const char* kTunPath = "/dev/net/tun";

std::string LastError() { return std::strerror(errno); }

[[noreturn]] void RefuseFor(const std::string& what) {
  if (errno == EPERM || errno == EACCES) throw MissingComponent(what + ": " + LastError() + "; run it as root");
  throw MissingComponent(what + ": " + LastError());
}

// The calling thread is in another network namespace while this lives.
class NamespaceVisit {
 public:
  explicit NamespaceVisit(const std::string& name) : home_(open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC)) {
    if (name.empty() || name.find('/') != std::string::npos || name == "." || name == "..") {
      throw InputError("network namespace \"" + name + "\": must be a name as `ip netns` lists it");
    }
    const FileDescriptor there(open((kNamespaceFolder + name).c_str(), O_RDONLY | O_CLOEXEC));
    if (!there) throw InputError("network namespace " + name + ": " + LastError() + "; `ip netns add` makes one");
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
      throw InputError("network namespace " + network_namespace + " has a device " + name + " already: another link's");
    }
    RefuseFor("cannot make the TUN device " + name + " in the network namespace " + network_namespace);
  }
  Configure(name, address, netmask);
  return device;
}

}  // namespace weir::sim
