// The settings of a ReceiveSideSwitch, which it shares with the estimators of running calls.
#ifndef WEIR_WEBRTC_PATCH_ADAPTER_RECEIVE_SIDE_SETTINGS_H_
#define WEIR_WEBRTC_PATCH_ADAPTER_RECEIVE_SIDE_SETTINGS_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>

#include "receive_side_switch.h"
#include "weir/pool_specification.h"

namespace weir::adapter {

inline constexpr size_t kPayloadTypes = 128;

// A switch's configuration, of which methods change mode, controller, objective and constraints, and further settings.
struct ReceiveSideSettings : ReceiveSideSwitchConfig {
  // Number of changes of `controller`, which is not null.
  uint64_t controllers = 0;
  // Replaces the specification that a pool starts with.
  std::optional<PoolSpecification> pool = std::nullopt;
  std::array<PacketKind, kPayloadTypes> packet_kinds{};
  // Number of calls to RepeatRemb().
  uint64_t repeats = 0;
};

// Any thread may write, and the estimators read. Reading the version is one atomic load, cheap enough for each packet.
class SharedReceiveSideSettings {
 public:
  explicit SharedReceiveSideSettings(ReceiveSideSettings settings) : settings_(std::move(settings)) {}

  uint64_t version() const { return version_.load(std::memory_order_acquire); }
  ReceiveSideSettings Get() const {
    std::lock_guard lock(mutex_);
    return settings_;
  }
  template <class Change>
  void Update(Change change) {
    std::lock_guard lock(mutex_);
    change(settings_);
    version_.fetch_add(1, std::memory_order_release);
  }

 private:
  mutable std::mutex mutex_;
  ReceiveSideSettings settings_;
  std::atomic<uint64_t> version_{1};
};

}  // namespace weir::adapter

#endif  // WEIR_WEBRTC_PATCH_ADAPTER_RECEIVE_SIDE_SETTINGS_H_
