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
  // The target before the first decision.
  DataRate start_rate = DataRate::KilobitsPerSecond(300);
  DataRate max_rate = DataRate::KilobitsPerSecond(50'000);
  // When they come into force.
  Timestamp at_time = Timestamp::MinusInfinity();
};

// The constraints with the start rate moved into the bounds; an error when a bound is not finite, not above 0, or
// min_rate is above max_rate.
Result<TargetRateConstraints> Validated(const TargetRateConstraints& constraints);

struct TargetTransferRate {
  // When it was decided.
  Timestamp at_time = Timestamp::PlusInfinity();
  // What all RTP of the sender may use together, headers and retransmissions included.
  DataRate target_rate = DataRate::Zero();
};

struct PacerConfig {
  // From when on it holds.
  Timestamp at_time = Timestamp::PlusInfinity();
  // The pacer sends at most at this rate ...
  DataRate pacing_rate = DataRate::Zero();
  // ... and fills up with padding to this one when media does not.
  DataRate padding_rate = DataRate::Zero();
};

// A burst at `target_rate` that the sender is asked to send, for at least `target_duration` and `target_probe_count`
// packets.
struct ProbeClusterConfig {
  // When it was asked for.
  Timestamp at_time = Timestamp::PlusInfinity();
  // Comes back in the PacedPacketInfo of its packets; not negative.
  int32_t id = 0;
  DataRate target_rate = DataRate::Zero();
  TimeDelta target_duration = TimeDelta::Zero();
  int32_t target_probe_count = 0;
};

// The controller that a target comes from, where there are several (FallbackController, PoolController).
enum class TargetSource : uint8_t {
  kNone,       // no controller was due
  kUndecided,  // no controller has given a target yet
  kPilot,      // the active controller's target
  kCopilot,    // a candidate's target, which fusion preferred
  kFallback,   // the active controller is suspended; the fallback's target
  kHeld,       // the active controller failed just now; the rate in force stays
};

// Only what changed is present.
struct NetworkControlUpdate {
  std::optional<TargetTransferRate> target_rate;
  // Set by controllers that are made of several.
  TargetSource source = TargetSource::kNone;
  // The kind of path that a model recognizes, from 1; 0 where it knows none, or does not know yet.
  int path_kind = 0;
  // Only from the sender's controllers, as are the probes, which the host sends one after the other.
  std::optional<PacerConfig> pacer_config;
  std::vector<ProbeClusterConfig> probe_cluster_configs;
};

// Tells which probe cluster, if any, a sent packet belongs to.
struct PacedPacketInfo {
  static constexpr int32_t kNotAProbe = -1;
  // The other fields count only where this is not kNotAProbe.
  int32_t probe_cluster_id = kNotAProbe;
  // What the cluster must have at least, in packets and in all.
  int32_t probe_cluster_min_probes = 0;
  DataSize probe_cluster_min_size = DataSize::Zero();
  // Sent for this cluster before this packet.
  DataSize probe_cluster_bytes_sent = DataSize::Zero();
  // At which the cluster was asked for.
  DataRate send_rate = DataRate::Zero();
};

struct SentPacket {
  // By the sender's own clock.
  Timestamp send_time = Timestamp::PlusInfinity();
  // With IP and UDP.
  DataSize size = DataSize::Zero();
  // Transport-wide, unwrapped, consecutive from 0.
  int64_t sequence_number = 0;
  PacedPacketInfo pacing_info;
  // Sent and not yet reported on, this packet included.
  DataSize data_in_flight = DataSize::Zero();
  bool audio = false;
};

// What transport feedback says of one sent packet; an infinite receive time means lost.
struct PacketResult {
  SentPacket sent_packet;
  Timestamp receive_time = Timestamp::PlusInfinity();
};

struct TransportPacketsFeedback {
  // When the feedback reached the sender.
  Timestamp feedback_time = Timestamp::PlusInfinity();
  // Sent and not yet reported on, after this feedback.
  DataSize data_in_flight = DataSize::Zero();
  // In the order of their sequence numbers.
  std::vector<PacketResult> packet_feedbacks;
};

// From the report blocks of an RTCP receiver report.
struct TransportLossReport {
  // When it reached the sender.
  Timestamp receive_time = Timestamp::PlusInfinity();
  // Of the packets that it counts: since the report before it.
  Timestamp start_time = Timestamp::PlusInfinity();
  Timestamp end_time = Timestamp::PlusInfinity();
  // Neither is negative; both together are what was expected.
  int64_t packets_lost_delta = 0;
  int64_t packets_received_delta = 0;
};

// REMB that the sender received. The target is at most `bandwidth` from then on.
struct RemoteBitrateReport {
  Timestamp receive_time = Timestamp::PlusInfinity();
  DataRate bandwidth = DataRate::PlusInfinity();
};

// Until the first report.
inline constexpr TimeDelta kAssumedRoundTripTime = TimeDelta::Millis(100);
// Longer ones are ignored, as are those that are not above 0.
inline constexpr TimeDelta kMaxRoundTripTime = TimeDelta::Seconds(60);
constexpr bool IsRoundTripTime(TimeDelta time) { return time > TimeDelta::Zero() && time <= kMaxRoundTripTime; }

struct RoundTripTimeUpdate {
  // When it was measured.
  Timestamp receive_time = Timestamp::PlusInfinity();
  // Counts where IsRoundTripTime() holds.
  TimeDelta round_trip_time = TimeDelta::PlusInfinity();
};

}  // namespace weir

#endif  // WEIR_NETWORK_TYPES_H_
