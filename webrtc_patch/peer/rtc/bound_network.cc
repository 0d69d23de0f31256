#include "rtc/bound_network.h"

#include <utility>
#include <vector>

#include "rtc_base/thread.h"

namespace weir::peer {
namespace {

class BoundNetwork final : public rtc::NetworkManagerBase {
 public:
  explicit BoundNetwork(const rtc::IPAddress& address) : address_(address) {}

  void StartUpdating() override {
    // As libwebrtc's own: the first signal comes from the message loop, not from within this call.
    rtc::Thread::Current()->PostTask([this] {
      bool changed = false;
      std::vector<std::unique_ptr<rtc::Network>> networks;
      networks.push_back(
          std::make_unique<rtc::Network>("bound", "bound", address_, kPrefixLength, rtc::ADAPTER_TYPE_ETHERNET));
      networks.back()->set_default_local_address_provider(this);
      networks.back()->AddIP(address_);
      MergeNetworkList(std::move(networks), &changed);
      SignalNetworksChanged();
    });
  }
  void StopUpdating() override {}

 private:
  static constexpr int kPrefixLength = 32;

  const rtc::IPAddress address_;
};

}  // namespace

std::unique_ptr<rtc::NetworkManager> MakeBoundNetwork(const rtc::IPAddress& address) {
  return std::make_unique<BoundNetwork>(address);
}

}  // namespace weir::peer
