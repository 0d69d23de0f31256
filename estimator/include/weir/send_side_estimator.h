// Weir at the sender: departures and transport feedback in, a target rate and a pacing rate out. For servers and native
// senders whose peers answer with transport-wide feedback (draft-holmer-rmcat-transport-wide-cc-extensions-01).
#ifndef WEIR_SEND_SIDE_ESTIMATOR_H_
#define WEIR_SEND_SIDE_ESTIMATOR_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "weir/arrival.h"
#include "weir/bandwidth_estimator.h"
#include "weir/network_types.h"
#include "weir/objective.h"
#include "weir/units.h"

namespace weir {

struct PacketDeparture {
  Timestamp send_time = Timestamp::MinusInfinity();  // the sender's monotonic clock, as in all calls
  uint16_t sequence_number = 0;                      // transport-wide; wraps
  PacketKind kind = PacketKind::kVideo;
  DataSize size = DataSize::Zero();  // the rates count it: with IP and UDP if the host's pacer does
  int32_t probe_cluster_id = 0;      // ProbeClusterConfig::id; 0: of no cluster
};

enum class PacketFate : uint8_t {
  kReceived,
  kLost,
  kUnknown,  // the feedback was lost; packets that no feedback mentions have this fate too
};

// One packet's entry in transport feedback. Untrusted.
struct PacketFeedback {
  uint16_t sequence_number = 0;  // transport-wide
  PacketFate fate = PacketFate::kUnknown;
  Timestamp receive_time = Timestamp::MinusInfinity();  // for kReceived; by the receiver's clock, of any origin
  EcnMarking ecn = EcnMarking::kNotEct;                 // for kReceived; RFC 8888 feedback has it
};

struct SendSideEstimatorConfig {
  BandwidthEstimatorConfig estimator = {};
  double pacing_factor = 1.1;  // pacing rate over target rate, as libwebrtc with feedback; finite, at least 1
};

// The targets that media in layers asks for.
struct DesiredRate {
  DataRate total = DataRate::Zero();  // for all layers; above 0, finite
  DataRate next = DataRate::Zero();   // for one layer more; zero: any more is welcome
};

struct ProbeCounters {
  uint64_t clusters = 0;             // requested
  uint64_t carried = 0;              // showed that the path carries their rate
  uint64_t limited = 0;              // showed that it does not; the others showed nothing
  DataSize size = DataSize::Zero();  // sent as padding and retransmissions
};

struct SendSideCounters {
  // Packets by their first report; a late packet that was reported lost counts in both.
  uint64_t received = 0;
  uint64_t lost = 0;
  uint64_t fate_unknown = 0;    // later feedback passed over them
  uint64_t duplicates = 0;      // reports about packets that were already received, or lost long ago
  uint64_t not_in_history = 0;  // reports about packets that were never sent, or too long ago
  uint64_t invalid = 0;         // impossible times or sizes, departures out of order
  uint64_t late = 0;            // arrivals reported too late to count
  uint64_t clock_restarts = 0;  // leaps of the receiver's clock
};

// Feeds a BandwidthEstimator with the arrivals that feedback reports, in their order. The estimator's time is that of
// the arrivals; each feedback message brings the decisions that a receiver would have made until it sent the message.
// After 300 ms without feedback the estimator goes on with the sender's clock, so that it reacts to an outage. Its time
// stands still while the sender pauses: from 300 ms after all packets were answered, or 2 s after the last one that was
// not, until another one is sent.
//
// A packet of unknown fate counts as one that arrived between its neighbors, without a delay: lost feedback is neither
// loss nor a lower receive rate. A receive time that is impossible by the sender's clock is an arrival without a delay.
//
// Feedback is untrusted: it may be lost, late, reordered or repeated, with any numbers and times. Each packet counts
// once; one that was reported lost may be reported as received until 1 s after it would have arrived. Other reports on
// packets that were never sent or are known change nothing. Time never runs backwards, and the work of a call is
// bounded. A receiver may acknowledge what it never got, so once the path has shown a queue, the rate beyond the
// highest that was received or probed grows by 5 % a second, and a probe counts up to twice that. Allocates only at
// construction and with the first desired rate. Never call concurrently.
class SendSideEstimator {
 public:
  // Number of departures that are remembered: 0.4 s at 150 Mbps.
  static constexpr size_t kHistory = 6144;

  // As BandwidthEstimator::Create().
  static Result<SendSideEstimator> Create(const SendSideEstimatorConfig& config,
                                          std::unique_ptr<ReceiverController> controller);
  SendSideEstimator(SendSideEstimator&&) noexcept;
  SendSideEstimator& operator=(SendSideEstimator&&) noexcept;
  ~SendSideEstimator();

  // In the order of sequence numbers. Others are ignored, until 50 in a row follow one another: the host has begun
  // anew, or an earlier number was wrong. The estimator begins with the first packet.
  void OnSentPacket(const PacketDeparture& packet);
  // The reports of one feedback message, in the order of sequence numbers; `now` is when it reached the sender.
  void OnTransportFeedback(std::span<const PacketFeedback> feedback, Timestamp now);
  // Called when `next_timeout()` has come, which is PlusInfinity before the first packet and in a pause.
  void OnTimeout(Timestamp now);
  Timestamp next_timeout() const;

  // For media in layers, which sends less than the target until another layer fits. From the first call on the host
  // sends the clusters below, and target_rate() is no more than the path has shown to carry: by a probe, by what it
  // carried before, or 1.25 times what it carries now.
  [[nodiscard]] std::optional<Error> SetDesiredRate(const DesiredRate& desired);
  // A cluster that has become due, once each; asked after feedback and timeouts. The host sends it at once, its packets
  // with the cluster's id. After a second without its feedback it is given up.
  std::optional<ProbeClusterConfig> TakeProbeCluster();

  // The rates in force; any call that is not const may change them. No padding; bursts of 5 ms, or of 1 ms once a
  // packet arrived as ECT(1), since an L4S queue marks what waits for a millisecond.
  TargetTransferRate target_rate() const;
  PacerConfig pacer_config() const;
  // A host that paces keeps at most this much in flight: target x (D + max(D / 3, 50 ms, S)), D being the shortest
  // recent delay forward and the latest of the return path, with what that holds again and again, and S
  // `BandwidthEstimator::RecurringStop`; at least 1500 bytes. While it is full the host should encode no frame, which
  // would wait. PlusInfinity before the first feedback, and while a delay of 100 ms persists for a second although the
  // window holds the sender back: then other flows fill the queue, and frames would wait for ever. A host may ignore
  // it: the rates do not depend on it.
  DataSize congestion_window() const;

  // As in BandwidthEstimator.
  [[nodiscard]] std::optional<Error> SetObjective(const Objective& objective);
  [[nodiscard]] std::optional<Error> SetConstraints(const TargetRateConstraints& constraints);
  void OnRoundTripTime(TimeDelta round_trip_time);

  const SendSideCounters& counters() const;
  const ProbeCounters& probe_counters() const;
  // Its times are those of the arrivals.
  const BandwidthEstimator& estimator() const;

 private:
  class Impl;
  explicit SendSideEstimator(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace weir

#endif  // WEIR_SEND_SIDE_ESTIMATOR_H_
