// The messages between a rate controller and its host. Names and meaning follow libwebrtc's
// api/transport/network_types.h.
#ifndef WEIR_NETWORK_CONTROL_H_
#define WEIR_NETWORK_CONTROL_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "weir/units.h"

namespace weir {

// The bounds a host sets for a controller: 0 < min_rate <= max_rate, both finite. `Validated()` in rate_controller.h
// says which are acceptable, and moves the start rate into the bounds.
struct TargetRateConstraints {
  // Of every target, from the first on.
  DataRate min_rate = DataRate::KilobitsPerSecond(30);
  // The target before anything is known of the path.
  DataRate start_rate = DataRate::KilobitsPerSecond(300);
  DataRate max_rate = DataRate::KilobitsPerSecond(50'000);
};

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

// Only what changed is present.
struct NetworkControlUpdate {
  // Of both sides' controllers.
  std::optional<TargetTransferRate> target_rate;
  // Of the sender's only, as are the probes, which are to be sent one after the other.
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

#endif  // WEIR_NETWORK_CONTROL_H_
