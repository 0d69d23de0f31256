// The settings of a ReceiveSideSwitch, as the estimators of running calls read them.
#ifndef WEIR_WEBRTC_PATCH_ADAPTER_RECEIVE_SIDE_SETTINGS_H_
#define WEIR_WEBRTC_PATCH_ADAPTER_RECEIVE_SIDE_SETTINGS_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>

#include "pool/pool_specification.h"
#include "receive_side_switch.h"

namespace weir::adapter {

inline constexpr size_t kPayloadTypes = 128;

// A switch's configuration, of which calls may change mode, controller, objective and constraints, and what else they
// may set.
struct ReceiveSideSettings : ReceiveSideSwitchConfig {
  // Counts changes of `controller`, which is not null.
  uint64_t controllers = 0;
  // Other than the one that a pool begins with.
  std::optional<PoolSpecification> pool = std::nullopt;
  std::array<PacketKind, kPayloadTypes> packet_kinds{};
  // Number of calls of RepeatRemb().
  uint64_t repeats = 0;
};

// Written by any thread, read by the estimators. Reading the version costs one atomic load, so they can ask for each
// packet.
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
