// The messages between a rate controller and its host. Names and meaning follow libwebrtc's
// api/transport/network_types.h.
#ifndef WEIR_NETWORK_TYPES_H_
#define WEIR_NETWORK_TYPES_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "weir/result.h"
#include "weir/units.h"

namespace weir {

// Bounds that a host sets for every target: 0 < min_rate <= max_rate, both finite.
struct TargetRateConstraints {
  DataRate min_rate = DataRate::KilobitsPerSecond(30);
  DataRate start_rate = DataRate::KilobitsPerSecond(300);
  DataRate max_rate = DataRate::KilobitsPerSecond(50'000);
  Timestamp at_time = Timestamp::MinusInfinity();
};

// The constraints with the start rate moved into the bounds, or the error.
Result<TargetRateConstraints> Validated(const TargetRateConstraints& constraints);

struct TargetTransferRate {
  Timestamp at_time = Timestamp::PlusInfinity();
  DataRate target_rate = DataRate::Zero();  // for all RTP together, headers and retransmissions included
  double frame_drop_ratio = 0;  // what the host saves of it by dropping frames; only from controllers at the sender
};

struct PacerConfig {
  Timestamp at_time = Timestamp::PlusInfinity();
  DataRate pacing_rate = DataRate::Zero();           // the highest rate of the pacer
  DataRate padding_rate = DataRate::Zero();          // padding raises a lower rate of media to this
  TimeDelta burst_interval = TimeDelta::Millis(40);  // what may leave within this time leaves at once
};

// A requested burst at `target_rate`, of at least `target_duration` and `target_probe_count` packets.
struct ProbeClusterConfig {
  Timestamp at_time = Timestamp::PlusInfinity();
  int32_t id = 0;  // not negative; the PacedPacketInfo of its packets has it
  DataRate target_rate = DataRate::Zero();
  TimeDelta target_duration = TimeDelta::Zero();
  int32_t target_probe_count = 0;
};

// Source of a target.
enum class TargetSource : uint8_t {
  kNone,        // no controller was due
  kUndecided,   // no controller has given a target yet; from a member: its decision is pending, which is no fault
  kStart,       // before the first target: the start rate
  kController,  // the active controller's target
  kCandidate,   // the target of another controller, which fusion preferred
  kFallback,    // the active controller is suspended; the fallback's target
  kHeld,        // the active controller failed just now; the rate in force stays
};

// Only what changed is present.
struct NetworkControlUpdate {
  std::optional<TargetTransferRate> target_rate;
  TargetSource source = TargetSource::kNone;
  // Only from controllers at the sender, as are the probes, which the host sends one after another.
  std::optional<PacerConfig> pacer_config;
  std::vector<ProbeClusterConfig> probe_cluster_configs;
  std::optional<DataSize> congestion_window;  // with this much in flight the host sends no media
};

// Assumed until the first report.
inline constexpr TimeDelta kAssumedRoundTripTime = TimeDelta::Millis(100);
inline constexpr TimeDelta kMaxRoundTripTime = TimeDelta::Seconds(60);
constexpr bool IsRoundTripTime(TimeDelta time) { return time > TimeDelta::Zero() && time <= kMaxRoundTripTime; }

struct RoundTripTimeUpdate {
  Timestamp receive_time = Timestamp::PlusInfinity();
  TimeDelta round_trip_time = TimeDelta::PlusInfinity();  // ignored unless IsRoundTripTime() holds
};

}  // namespace weir

#endif  // WEIR_NETWORK_TYPES_H_
