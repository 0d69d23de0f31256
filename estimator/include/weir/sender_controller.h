// Rate controllers at the sender, and their messages, which follow libwebrtc's api/transport/network_types.h.
#ifndef WEIR_SENDER_CONTROLLER_H_
#define WEIR_SENDER_CONTROLLER_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "weir/arrival.h"
#include "weir/feature_set.h"
#include "weir/network_controller.h"
#include "weir/units.h"

namespace weir {

// The probe cluster of a sent packet.
struct PacedPacketInfo {
  static constexpr int32_t kNotAProbe = -1;  // as in libwebrtc, where SCReAM uses cluster 0
  int32_t probe_cluster_id = kNotAProbe;
  // Lower bounds of the cluster.
  int32_t probe_cluster_min_probes = 0;
  DataSize probe_cluster_min_size = DataSize::Zero();
  // Data of the cluster sent before this packet.
  DataSize probe_cluster_bytes_sent = DataSize::Zero();
  // Target rate of the cluster.
  DataRate send_rate = DataRate::Zero();
};

struct SentPacket {
  Timestamp send_time = Timestamp::PlusInfinity();
  DataSize size = DataSize::Zero();  // includes IP and UDP
  int64_t sequence_number = 0;       // transport-wide, unwrapped, consecutive from 0
  PacedPacketInfo pacing_info;
  // Includes this packet.
  DataSize data_in_flight = DataSize::Zero();
  bool audio = false;
};

// The features of a policy that decides from these packets: as in libwebrtc, none is known to be a retransmission.
inline constexpr FeatureSet kSentPacketFeatures = FeatureSet().Without({"retransmission_share"});

// The feedback on one sent packet. An infinite receive time means that it was lost.
struct PacketResult {
  SentPacket sent_packet;
  Timestamp receive_time = Timestamp::PlusInfinity();
  // The fields below are set only by RFC 8888 feedback. Time from the arrival until the feedback was sent.
  std::optional<TimeDelta> arrival_time_offset = std::nullopt;
  bool reported_lost_for_the_first_time = false;
  bool reported_recovered_for_the_first_time = false;
  EcnMarking ecn = EcnMarking::kNotEct;  // as received
};

struct TransportPacketsFeedback {
  // Time at which the feedback reached the sender.
  Timestamp feedback_time = Timestamp::PlusInfinity();
  // Excludes the packets of this feedback.
  DataSize data_in_flight = DataSize::Zero();
  // In the order of sequence numbers.
  std::vector<PacketResult> packet_feedbacks;
};

// From the report blocks of an RTCP receiver report.
struct TransportLossReport {
  Timestamp receive_time = Timestamp::PlusInfinity();
  // The period since the previous report.
  Timestamp start_time = Timestamp::PlusInfinity();
  Timestamp end_time = Timestamp::PlusInfinity();
  // Not negative. Their sum is the number of expected packets.
  int64_t packets_lost_delta = 0;
  int64_t packets_received_delta = 0;
};

// A REMB that the sender received. It bounds the target until the next one.
struct RemoteBitrateReport {
  Timestamp receive_time = Timestamp::PlusInfinity();
  DataRate bandwidth = DataRate::PlusInfinity();
};

// Contains only what changed since the previous update.
struct SenderControlUpdate {
  // For all RTP, including headers and retransmissions.
  std::optional<TargetTransferRate> target_rate;
  double frame_drop_ratio = 0;  // with a target: the share of it that the host saves by dropping frames, 0 to 1
  std::optional<PacerConfig> pacer_config;
  std::vector<ProbeClusterConfig> probe_cluster_configs;  // the host sends them one after another
  std::optional<DataSize> congestion_window;              // while this much is in flight, the host sends no media
};

// A controller at the sender, which decides from departures and feedback. Its targets have no guard and no fallback. It
// may allocate.
class SenderController : public NetworkController {
 public:
  // Called for every packet with a transport-wide sequence number, in the order of the numbers, when it leaves the
  // host: media, retransmissions, FEC, padding and probes.
  virtual void OnSentPacket(const SentPacket& packet) = 0;
  // Called with each feedback message, transport-wide or RFC 8888, that reports on at least one sent packet. The
  // packets are in the order of their numbers. Messages may be lost, and a packet may be reported as lost and later as
  // received.
  virtual void OnTransportPacketsFeedback(const TransportPacketsFeedback& feedback) = 0;
  // Called with the report blocks of each RTCP receiver report, about once a second.
  virtual void OnTransportLossReport(const TransportLossReport& report) = 0;
  // Called with each REMB of the receiver.
  virtual void OnRemoteBitrateReport(const RemoteBitrateReport& report) = 0;
  // Called at any time. Returns true if the host is to encode no frame while the congestion window is full, as Chromium
  // does with SCReAM since July 2026.
  virtual bool holds_frames() const { return false; }
  // Called at `next_timeout()` or later. Returns what changed; the first update has a target and a pacer. Targets are
  // finite and at least 0.
  [[nodiscard]] virtual SenderControlUpdate OnTimeout(Timestamp now) = 0;
};

}  // namespace weir

#endif  // WEIR_SENDER_CONTROLLER_H_
