// The send-side bandwidth estimator: turns departures and transport feedback into a target rate and a pacing rate. For
// servers and native senders whose peers send transport-wide feedback
// (draft-holmer-rmcat-transport-wide-cc-extensions-01).
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
  int64_t sequence_number = 0;                       // transport-wide; does not wrap; 0 to 2^60
  PacketKind kind = PacketKind::kVideo;
  DataSize size = DataSize::Zero();  // as the rates count it: includes IP and UDP if the host's pacer does
  int32_t probe_cluster_id = 0;      // ProbeClusterConfig::id, or 0 outside clusters
};

enum class PacketFate : uint8_t {
  kReceived,
  kLost,
  kUnknown,  // the feedback was lost; also the fate of packets that no feedback mentions
};

// One packet's entry in transport feedback. Untrusted.
struct PacketFeedback {
  int64_t sequence_number = 0;  // transport-wide; does not wrap
  PacketFate fate = PacketFate::kUnknown;
  Timestamp receive_time = Timestamp::MinusInfinity();  // if kReceived; on the receiver's clock, whose origin is any
  EcnMarking ecn = EcnMarking::kNotEct;                 // if kReceived; carried by RFC 8888 feedback
};

struct SendSideEstimatorConfig {
  BandwidthEstimatorConfig estimator = {};
  double pacing_factor = 1.1;  // pacing rate / target rate, as in libwebrtc with feedback; finite, at least 1
  // Probes find the first rate, as in libwebrtc. The host then also polls TakeProbeCluster() after departures.
  bool probes_start = false;
};

// The targets that media in layers requests.
struct DesiredRate {
  DataRate total = DataRate::Zero();  // for all layers; above 0, finite
  DataRate next = DataRate::Zero();   // for one more layer; zero if any increase is useful
};

struct ProbeCounters {
  uint64_t clusters = 0;             // requested clusters
  uint64_t carried = 0;              // clusters that showed that the path carries their rate
  uint64_t limited = 0;              // clusters that showed that it does not; the others showed neither
  DataSize size = DataSize::Zero();  // sent as padding and retransmissions
};

struct SendSideCounters {
  // Numbers of packets by their first report. A late packet that was reported lost before counts as both.
  uint64_t received = 0;
  uint64_t lost = 0;
  uint64_t fate_unknown = 0;    // packets that later feedback skipped
  uint64_t duplicates = 0;      // reports on packets already reported as received, or as lost long ago
  uint64_t not_in_history = 0;  // reports on packets that were never sent, or too long ago
  uint64_t invalid = 0;         // impossible times or sizes, departures out of order
  uint64_t late = 0;            // arrivals reported too late to count
  uint64_t clock_restarts = 0;  // leaps of the receiver's clock
};

// Feeds a BandwidthEstimator with the arrivals that feedback reports, in their order. The estimator's time is that of
// the arrivals: each feedback message triggers the decisions that a receiver would have made before it sent the
// message. After 300 ms without feedback the estimator continues on the sender's clock, so that it reacts to an outage.
// Its time stops while the sender pauses: from 300 ms after all packets were acknowledged, or 2 s after the last packet
// that was not, until another packet is sent.
//
// A packet of unknown fate counts as one that arrived between its neighbors, without a delay: lost feedback is neither
// loss nor a lower receive rate. A packet whose receive time is impossible by the sender's clock is an arrival without
// a delay.
//
// Feedback is untrusted: it may be lost, late, reordered or repeated, with any numbers and times. Each packet counts
// once. A packet reported as lost may be reported as received until 1 s after it would have arrived. Other reports on
// packets that were never sent, or whose fate is known, change nothing. Time never runs backwards, and the work of a
// call is bounded. A receiver may acknowledge packets that it never received. Once the path has shown a queue, a rate
// above the highest received or probed one therefore grows by at most 5 % a second, and a probe counts up to twice that
// highest rate. Allocates only at construction and with the first desired rate. Calls must not be concurrent.
class SendSideEstimator {
 public:
  // Number of departures in the history: 0.4 s at 150 Mbps.
  static constexpr size_t kHistory = 6144;

  // As BandwidthEstimator::Create().
  static Result<SendSideEstimator> Create(const SendSideEstimatorConfig& config,
                                          std::unique_ptr<ReceiverController> controller);
  SendSideEstimator(SendSideEstimator&&) noexcept;
  SendSideEstimator& operator=(SendSideEstimator&&) noexcept;
  ~SendSideEstimator();

  // Called in the order of sequence numbers; packets out of order are ignored. The estimator begins with the first
  // packet. Hosts whose numbers have 16 bits unwrap them with a SequenceNumberUnwrapper.
  void OnSentPacket(const PacketDeparture& packet);
  // `reports` are those of one feedback message, in the order of sequence numbers. `now` is the time at which the
  // message arrived.
  void OnTransportFeedback(std::span<const PacketFeedback> feedback, Timestamp now);
  // Called when `next_timeout()` has come. It is PlusInfinity before the first packet and during a pause.
  void OnTimeout(Timestamp now);
  Timestamp next_timeout() const;

  // For media in layers, which sends less than the target until another layer fits. From the first call on, the host
  // sends the clusters below, and target_rate() is at most what the path has been shown to carry: by a probe, by
  // earlier traffic, or 1.25 times the present rate.
  [[nodiscard]] std::optional<Error> SetDesiredRate(const DesiredRate& desired);
  // Returns each cluster once, when it has become due. Polled after feedback and timeouts, and after departures with
  // SendSideEstimatorConfig::probes_start: the first is at three times the start rate, and each that the path carries
  // is followed by one at twice its rate, until one shows no more or there is a queue. The host sends the cluster
  // at once and sets its id on the packets. The cluster is abandoned after a second without feedback on it.
  std::optional<ProbeClusterConfig> TakeProbeCluster();

  // The rates in force. Any non-const call may change them. The padding rate is zero. The burst interval is 5 ms, or
  // 1 ms once a packet arrived as ECT(1), since an L4S queue marks packets that wait for a millisecond.
  TargetTransferRate target_rate() const;
  PacerConfig pacer_config() const;
  // The congestion window, for hosts that pace: target x (D + max(D / 3, 50 ms, S)), at least 1500 bytes. D is the
  // shortest recent forward delay plus the latest delay of the return path, including its recurring stops, and S is
  // BandwidthEstimator::RecurringStop(), at most 500 ms. While the window is full, the host should not encode a frame,
  // which would only wait. PlusInfinity before the first feedback, and while a delay of 100 ms persists for a second
  // although the window limits the sender: other flows then fill the queue, and frames would wait forever. A host may
  // ignore the window: the rates do not depend on it.
  DataSize congestion_window() const;

  // See BandwidthEstimator.
  [[nodiscard]] std::optional<Error> SetObjective(const Objective& objective);
  [[nodiscard]] std::optional<Error> SetConstraints(const TargetRateConstraints& constraints);
  void OnRoundTripTime(TimeDelta round_trip_time);

  const SendSideCounters& counters() const;
  const ProbeCounters& probe_counters() const;
  // The times of its results are those of arrivals.
  const BandwidthEstimator& estimator() const;

 private:
  struct State;
  explicit SendSideEstimator(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace weir

#endif  // WEIR_SEND_SIDE_ESTIMATOR_H_
