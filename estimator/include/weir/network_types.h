// Messages between a rate controller and its host. Names and meanings follow libwebrtc's api/transport/network_types.h.
#ifndef WEIR_NETWORK_TYPES_H_
#define WEIR_NETWORK_TYPES_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "weir/result.h"
#include "weir/units.h"

namespace weir {

// Bounds that a host sets for every target: 0 < min_rate <= max_rate, both finite.
struct TargetRateConstraints {
  DataRate min_rate = DataRate::KilobitsPerSecond(30);
  DataRate start_rate = DataRate::KilobitsPerSecond(300);
  DataRate max_rate = DataRate::KilobitsPerSecond(50'000);
  Timestamp at_time = Timestamp::MinusInfinity();
  // The highest rate that the media use, above 0, or infinite if unknown. The target exceeds it only under loss, for
  // retransmissions and FEC, and while frames are few, for a pacer; by at most a factor of two.
  DataRate max_media_rate = DataRate::PlusInfinity();

  friend bool operator==(const TargetRateConstraints&, const TargetRateConstraints&) = default;
};

// Returns the constraints with the start rate clamped to the bounds, or the error.
Result<TargetRateConstraints> Validated(const TargetRateConstraints& constraints);

struct TargetTransferRate {
  Timestamp at_time = Timestamp::PlusInfinity();
  DataRate target_rate = DataRate::Zero();  // for all RTP, including headers and retransmissions
  // Loss ratio of the path that does not depend on the rate, if a back-off of the guard has measured it, else 0. Used
  // only by controllers.
  double loss_ratio_at_any_rate = 0;
  // True while a queue that flows in competition may share drops packets, or a path with random loss has a queue that
  // they do share. Used only by controllers.
  bool has_queue_to_yield = false;
};

struct PacerConfig {
  Timestamp at_time = Timestamp::PlusInfinity();
  DataRate pacing_rate = DataRate::Zero();           // the highest rate of the pacer
  DataRate padding_rate = DataRate::Zero();          // padding raises a lower media rate to this
  TimeDelta burst_interval = TimeDelta::Millis(40);  // packets due within this time leave as one burst
};

// A probe: a burst of at least `target_probe_count` packets of similar size, sent evenly within `target_duration` at
// `target_data_rate`. Media packets count; padding and retransmissions make up the rest.
struct ProbeClusterConfig {
  Timestamp at_time = Timestamp::PlusInfinity();
  int32_t id = 0;  // from 1, set on the cluster's packets; 0 means no cluster
  DataRate target_data_rate = DataRate::Zero();
  TimeDelta target_duration = TimeDelta::Zero();
  int32_t target_probe_count = 0;
};

enum class CongestionState : uint8_t {
  kNormal,
  kEarlyWarning,  // a queue has begun to form: do not increase the rate
  kCongested,     // the path carries less than is sent: decrease the rate
};

// Returns "normal", "early_warning" or "congested", zero-terminated.
std::string_view ToString(CongestionState state);

struct NetworkState {
  CongestionState state = CongestionState::kNormal;
  Timestamp at_time = Timestamp::MinusInfinity();  // when the state began
  // The target when the state began. While the path is congested by a queue or by losses, the lowest receive rate under
  // these, which estimates the capacity.
  DataRate link_capacity = DataRate::Zero();
};

// Source of a target.
enum class TargetSource : uint8_t {
  kNone,        // no controller was due
  kUndecided,   // no controller has returned a target yet; its decision is pending, which is no fault
  kStart,       // the start rate, before the first target
  kController,  // the active controller's target
  kCandidate,   // the target of another controller, preferred by fusion
  kFallback,    // the fallback's target, while the active controller is suspended
  kHeld,        // the rate in force, after a fault of the active controller
  kProbe,       // the rate that a probe showed the path to carry
};

// The target of a controller at the receiver, in force from the time of its OnTimeout. Only controllers that combine
// others set the source.
struct ReceiverControlUpdate {
  std::optional<DataRate> target_rate;
  TargetSource source = TargetSource::kNone;
};

// The round-trip time that is assumed until the first report.
inline constexpr TimeDelta kAssumedRoundTripTime = TimeDelta::Millis(100);
inline constexpr TimeDelta kMaxRoundTripTime = TimeDelta::Seconds(60);
constexpr bool IsRoundTripTime(TimeDelta time) { return time > TimeDelta::Zero() && time <= kMaxRoundTripTime; }

struct RoundTripTimeUpdate {
  Timestamp receive_time = Timestamp::PlusInfinity();
  TimeDelta round_trip_time = TimeDelta::PlusInfinity();  // ignored unless IsRoundTripTime() holds
};

}  // namespace weir

#endif  // WEIR_NETWORK_TYPES_H_
