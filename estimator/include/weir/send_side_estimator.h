// Weir at the sender: departures and transport feedback in, a target rate and a pacing rate out. For servers and native
// senders whose peers answer with transport-wide feedback (draft-holmer-rmcat-transport-wide-cc-extensions-01) and know
// nothing of Weir. Only the way there; the estimator is the receiver's.
//
//   OnSentPacket --> ring of departures --+
//   OnTransportFeedback ------------------+--> arrivals, as a receiver sees them --> BandwidthEstimator --> rates
#ifndef WEIR_SEND_SIDE_ESTIMATOR_H_
#define WEIR_SEND_SIDE_ESTIMATOR_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "weir/arrival.h"
#include "weir/bandwidth_estimator.h"
#include "weir/network_control.h"
#include "weir/objective.h"
#include "weir/units.h"

namespace weir {

// A packet as it leaves.
struct PacketDeparture {
  // By the sender's monotonic clock, which is that of all calls.
  Timestamp send_time = Timestamp::MinusInfinity();
  // Transport-wide; wraps.
  uint16_t sequence_number = 0;
  PacketKind kind = PacketKind::kVideo;
  // The rates count these bytes: with IP and UDP, say, if the host's pacer does.
  DataSize size = DataSize::Zero();
};

enum class PacketFate : uint8_t {
  kReceived,
  kLost,
  kUnknown,  // as are all packets that no feedback mentions: the feedback itself was lost
};

// What feedback says of one packet. It comes from the network: everything may be hostile.
struct PacketFeedback {
  // Transport-wide.
  uint16_t sequence_number = 0;
  PacketFate fate = PacketFate::kUnknown;
  // Of kReceived; by the receiver's clock, whose origin does not matter.
  Timestamp receive_time = Timestamp::MinusInfinity();
};

struct SendSideEstimatorConfig {
  BandwidthEstimatorConfig estimator;
  // The pacing rate by the target rate; at least 1.
  double pacing_factor = 2.5;
};

struct SendSideCounters {
  uint64_t received = 0;        // packets reported as received, at their first report
  uint64_t lost = 0;            // as lost, at their first report; those that came after all are in `received` too
  uint64_t fate_unknown = 0;    // that later feedback passed over
  uint64_t duplicates = 0;      // reports on what was known to be received
  uint64_t not_in_history = 0;  // reports on packets that were never sent, or too long ago
  uint64_t invalid = 0;         // impossible times or sizes, departures out of order
  uint64_t late = 0;            // arrivals that became known too late: not counted
  uint64_t clock_restarts = 0;  // the receiver's clock had leapt
};

// The estimator's time is that of the arrivals, as the receiver's clock tells them, moved so that it roughly agrees
// with the sender's. Feedback drives it: each message brings the decisions that a receiver would have made until it
// sent it; the last of them, where it fell due within kFresh, is made with all that has arrived since.
//
// Where nothing comes for longer than kSilence it goes on with the sender's clock, that much behind it, so that an
// outage does not go unnoticed; what arrived more than kFresh before the time that was reached so is not counted any
// more.
//
// A packet whose fate is unknown is taken for one that arrived between its neighbours, without a known delay: lost
// feedback is neither loss nor a lower receive rate.
//
// Feedback may be lost, late, out of order or come twice, its numbers and times may be anything: each packet counts
// once, time never runs back, and the work for a call is bounded by its span and the history. All memory is taken at
// construction. Never call concurrently.
class SendSideEstimator {
 public:
  // Departures that are remembered: 1.6 s of 50 Mbps.
  static constexpr size_t kHistory = 8192;
  // Between two feedbacks of most receivers; policies decide as often.
  static constexpr TimeDelta kFresh = TimeDelta::Millis(100);
  // Longer than receivers wait between two feedbacks while packets come (libwebrtc: 50 to 250 ms).
  static constexpr TimeDelta kSilence = TimeDelta::Millis(300);

  SendSideEstimator(const SendSideEstimatorConfig& config, ControllerPool pool);
  // A pool of one. `pilot` is of the receiver's side and not null.
  SendSideEstimator(const SendSideEstimatorConfig& config, std::unique_ptr<RateController> pilot)
      : SendSideEstimator(config, ControllerPool(std::move(pilot))) {}

  // In the order of sequence numbers. Life begins with the first.
  void OnSentPacket(const PacketDeparture& packet);
  // The reports of one feedback message, in the order of sequence numbers; `now` is when it reached the sender.
  void OnTransportFeedback(std::span<const PacketFeedback> feedback, Timestamp now);
  // To be called when `next_timeout()` has come.
  void OnTimeout(Timestamp now);
  // PlusInfinity before life begins.
  Timestamp next_timeout() const;

  // The rates in force; may have changed after each of the calls above.
  TargetTransferRate target_rate() const { return {.at_time = decided_at_, .target_rate = rate()}; }
  // Without padding.
  PacerConfig pacer_config() const {
    return {.at_time = decided_at_, .pacing_rate = rate() * pacing_factor_, .padding_rate = DataRate::Zero()};
  }

  // As of BandwidthEstimator.
  void SetObjective(const Objective& objective) { estimator_.SetObjective(objective); }
  bool SetConstraints(const TargetRateConstraints& constraints);
  void OnRoundTripTime(TimeDelta round_trip_time) { estimator_.OnRoundTripTime(round_trip_time, estimator_time_); }

  const SendSideCounters& counters() const { return counters_; }
  // What it has computed. Its times are those of the arrivals; the feedbacks that it counts go nowhere.
  const BandwidthEstimator& estimator() const { return estimator_; }

 private:
  enum class State : uint8_t { kNotSent, kInFlight, kLost, kDone };
  // 8 bytes, of which there are many; zeros: not sent.
  struct Departure {
    // As in the header extension: 6.18 fixed-point seconds.
    uint32_t abs_send_time : 24;
    PacketKind kind : 4;
    State state : 4;
    uint16_t size;
    // Under which the estimator knows it, once its fate is known: these have no gaps where fates are unknown.
    uint16_t number;
  };
  // An arrival that waits to be put in order.
  struct Pending {
    Timestamp arrival_time = Timestamp::MinusInfinity();
    int64_t sequence_number = 0;
    bool has_delay = true;
  };
  static constexpr size_t kMaxPending = 1024;

  bool started() const { return decided_at_.IsFinite(); }
  DataRate rate() const { return estimator_.latest().target_rate; }
  int64_t oldest() const { return last_sent_ + 1 - static_cast<int64_t>(kHistory); }
  Departure& At(int64_t sequence_number) { return history_[static_cast<size_t>(sequence_number) % kHistory]; }
  bool IsInHistory(int64_t sequence_number);
  // Unwrapped: the latest that was sent with this number.
  int64_t Unwrap(uint16_t sequence_number) const;

  void Begin(Timestamp now);
  void AlignClocks(std::span<const PacketFeedback> feedback);
  Timestamp TimeOfFeedback();
  void OnReceived(int64_t sequence_number, Timestamp receive_time);
  // Takes for received what was passed over before an arrival.
  void AddUnknown(int64_t until, Timestamp arrival_time);
  void Add(const Pending& arrival);
  void FeedPending();
  void Feed(const Pending& arrival);
  // Lets the estimator decide what is due before `time`.
  void DecideBefore(Timestamp time);
  void Decide(Timestamp time);

  BandwidthEstimator estimator_;
  double pacing_factor_;
  std::vector<Departure> history_;
  std::vector<Pending> pending_;
  SendSideCounters counters_;

  // Both unwrapped.
  int64_t last_sent_ = -1;
  // Everything before it has been received or lost, or was passed over.
  int64_t next_to_settle_ = 0;
  uint16_t next_number_ = 0;

  // The latest call, by the sender's clock.
  Timestamp now_ = Timestamp::MinusInfinity();
  Timestamp decided_at_ = Timestamp::MinusInfinity();
  // The smallest time between the latest arrival of a feedback, by the estimator's clock, and the sender's knowledge.
  TimeDelta return_delay_ = TimeDelta::PlusInfinity();
  // Of the estimator; the latest arrival, and the sender's time at which it became known.
  Timestamp estimator_time_ = Timestamp::MinusInfinity();
  Timestamp latest_arrival_ = Timestamp::MinusInfinity();
  Timestamp latest_arrival_known_ = Timestamp::MinusInfinity();
  // From the receiver's clock to the estimator's; and the latest arrival by the former.
  TimeDelta clock_offset_ = TimeDelta::Zero();
  Timestamp latest_receive_time_ = Timestamp::MinusInfinity();
};

}  // namespace weir

#endif  // WEIR_SEND_SIDE_ESTIMATOR_H_
