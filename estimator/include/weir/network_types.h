// The messages between a rate controller and its host. Names and meaning follow libwebrtc's
// api/transport/network_types.h.
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
  // The most that the media use, above 0; infinite: unknown. Only under loss is the target higher, up to twice that:
  // for retransmissions and FEC.
  DataRate max_media_rate = DataRate::PlusInfinity();

  friend bool operator==(const TargetRateConstraints&, const TargetRateConstraints&) = default;
};

// The constraints with the start rate moved into the bounds, or the error.
Result<TargetRateConstraints> Validated(const TargetRateConstraints& constraints);

struct TargetTransferRate {
  Timestamp at_time = Timestamp::PlusInfinity();
  DataRate target_rate = DataRate::Zero();  // for all RTP together, headers and retransmissions included
  // The loss ratio of the path at any rate, as far as a back-off of the guard has measured it. For controllers alone.
  double loss_ratio_at_any_rate = 0;
};

struct PacerConfig {
  Timestamp at_time = Timestamp::PlusInfinity();
  DataRate pacing_rate = DataRate::Zero();           // the highest rate of the pacer
  DataRate padding_rate = DataRate::Zero();          // padding raises a lower rate of media to this
  TimeDelta burst_interval = TimeDelta::Millis(40);  // what may leave within this time leaves at once
};

// A burst that shows what the path carries: at least `target_probe_count` packets of about the same size, sent evenly
// within `target_duration` at `target_data_rate`. Media counts; padding and retransmissions fill up.
struct ProbeClusterConfig {
  Timestamp at_time = Timestamp::PlusInfinity();
  int32_t id = 0;  // from 1; its packets carry it, 0: of no cluster
  DataRate target_data_rate = DataRate::Zero();
  TimeDelta target_duration = TimeDelta::Zero();
  int32_t target_probe_count = 0;
};

enum class CongestionState : uint8_t {
  kNormal,
  kEarlyWarning,  // a queue has begun: do not send more
  kCongested,     // the path carries less than is sent: send less
};

// "normal", "early_warning" or "congested"; zero-terminated.
std::string_view ToString(CongestionState state);

struct NetworkState {
  CongestionState state = CongestionState::kNormal;
  Timestamp at_time = Timestamp::MinusInfinity();  // in this state since
  // The target when the state began. While congested by a queue or by losses: the lowest rate at which packets arrived
  // with these, which is what the path carries.
  DataRate link_capacity = DataRate::Zero();
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
  kProbe,       // a probe showed that the path carries it
};

// The target of a controller at the receiver, in force from the time of its OnTimeout. Controllers made of others set
// the source.
struct ReceiverControlUpdate {
  std::optional<DataRate> target_rate;
  TargetSource source = TargetSource::kNone;
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
