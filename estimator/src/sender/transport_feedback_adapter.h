// Joins transport feedback with the departures that it reports on.
#ifndef WEIR_ESTIMATOR_SRC_SENDER_TRANSPORT_FEEDBACK_ADAPTER_H_
#define WEIR_ESTIMATOR_SRC_SENDER_TRANSPORT_FEEDBACK_ADAPTER_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>

#include "probe/probe_controller.h"
#include "sender/arrival_queue.h"
#include "sender/departure_history.h"
#include "sender/feedback_delay.h"
#include "sender/receiver_clock.h"
#include "weir/arrival.h"
#include "weir/send_side_estimator.h"
#include "weir/units.h"

namespace weir {

// Keeps the departures and turns feedback on them into arrivals, after libwebrtc's class of the same name. Counts each
// packet once, moves receive times to the sender's clock, and gives skipped packets an arrival without a delay. See
// SendSideEstimator for what untrusted feedback may do. Times are on the sender's clock and exclude its pauses.
//
// A feedback message is passed to AlignClock(), then to OnReports().
class TransportFeedbackAdapter {
 public:
  // `on_arrival` receives the arrivals of a message in the order of their times, during OnReports().
  explicit TransportFeedbackAdapter(std::function<void(const ReportedArrival&)> on_arrival)
      : on_arrival_(std::move(on_arrival)) {}

  // Called when the estimator begins, with the time of the first departure.
  void Start(Timestamp now) { queue_.Start(now); }
  // False, which is counted, for a departure out of order or with impossible values. OnSentPacket() follows if true.
  bool Accepts(const PacketDeparture& packet);
  void OnSentPacket(const PacketDeparture& packet, Timestamp send_time) {
    departures_.Add(packet.sequence_number, send_time, packet.kind, packet.size);
  }
  // Called when a pause of the sender ends. Packets in flight before it get no fate.
  void OnPause(TimeDelta pause);

  struct ClockReading {
    bool restarted = false;  // the receiver's clock was set
    // Delay of the latest packet that the message is the first to report; nothing if its receive time is implausible.
    std::optional<TimeDelta> one_way_delay = std::nullopt;
  };
  // Aligns the receiver's clock with the latest packet that the message is the first to report.
  ClockReading AlignClock(std::span<const PacketFeedback> feedback, Timestamp now);
  // Takes the fates of the packets that are new. Drops arrivals before `oldest`. `probes` may be null.
  OldestPackets OnReports(std::span<const PacketFeedback> feedback, Timestamp now, Timestamp oldest,
                          ProbeController* probes);
  // Counts a message that arrives before the first departure or at an impossible time.
  void OnUnexpectedFeedback(std::span<const PacketFeedback> feedback) { counters_.not_in_history += feedback.size(); }

  bool all_settled() const { return departures_.all_settled(); }
  // See ArrivalQueue.
  Timestamp latest_arrival() const { return queue_.latest(); }
  Timestamp latest_reported_at() const { return queue_.reported_at(); }
  // True once a packet has arrived as ECT(1).
  bool any_ect1() const { return any_ect1_; }
  const SendSideCounters& counters() const { return counters_; }

 private:
  using State = DepartureHistory::State;

  // The time and the limit of the present message.
  struct Message {
    Timestamp now;
    Timestamp oldest;
  };

  // True if another report on the packet changes nothing: it was received, or lost too long ago to arrive.
  bool IsSettled(int64_t number, Timestamp now) const;
  // Returns false if the times are impossible.
  bool OnReceived(const PacketFeedback& report, TimeDelta since_sent, const Message& message);
  // Time since the oldest packet in flight before `until` was sent, or MinusInfinity.
  TimeDelta SinceOldestSent(int64_t until, Timestamp now) const;
  void OnLost(int64_t number);
  // Adds the packets before an arrival that feedback skipped, evenly since the arrival before it.
  void AddUnknown(int64_t until, Timestamp arrival_time, const Message& message);
  void Add(const ArrivalQueue::Entry& arrival, const Message& message);
  // Passes the arrivals of the queue on.
  void Flush();

  const std::function<void(const ReportedArrival&)> on_arrival_;
  DepartureHistory departures_{SendSideEstimator::kHistory};
  ReceiverClock receiver_clock_;
  ArrivalQueue queue_;
  bool any_ect1_ = false;
  SendSideCounters counters_;
};

}  // namespace weir

#endif  // WEIR_ESTIMATOR_SRC_SENDER_TRANSPORT_FEEDBACK_ADAPTER_H_
