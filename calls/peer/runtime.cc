#include "runtime.h"

#include <utility>
#include <vector>

#include "api/task_queue/default_task_queue_factory.h"
#include "rtc_base/ip_address.h"

namespace weir::peer {
namespace {

class BoundNetwork final : public webrtc::NetworkManagerBase {
 public:
  explicit BoundNetwork(const webrtc::IPAddress& address) : address_(address) {}

  void StartUpdating() override {
    // As in libwebrtc, the first signal comes from the message loop, not from within this call.
    webrtc::Thread::Current()->PostTask([this] {
      bool changed = false;
      std::vector<std::unique_ptr<webrtc::Network>> networks;
      networks.push_back(
          std::make_unique<webrtc::Network>("bound", "bound", address_, kPrefixLength, webrtc::ADAPTER_TYPE_ETHERNET));
      networks.back()->set_default_local_address_provider(this);
      networks.back()->AddIP(address_);
      MergeNetworkList(std::move(networks), &changed);
      NotifyNetworksChanged();
    });
  }
  void StopUpdating() override {}

 private:
  static constexpr int kPrefixLength = 32;

  const webrtc::IPAddress address_;
};

}  // namespace

Runtime MakeMachineRuntime(const std::string& bind_address) {
  static webrtc::TaskQueueFactory* const task_queues = webrtc::CreateDefaultTaskQueueFactory().release();
  webrtc::IPAddress address;
  webrtc::IPFromString(bind_address, &address);
  Runtime runtime;
  runtime.clock = webrtc::Clock::GetRealTimeClock();
  runtime.task_queues = task_queues;
  runtime.network_manager = std::make_unique<BoundNetwork>(address);
  return runtime;
}

}  // namespace weir::peer
