#include "weir/send_side_estimator.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "probe/probe_controller.h"
#include "sender/departure_history.h"
#include "sender/feedback_delay.h"
#include "sender/receiver_clock.h"

namespace weir {
namespace {

// Typical interval of feedback messages, and the decision interval of policies.
constexpr TimeDelta kFresh = TimeDelta::Millis(100);
// Longer than receivers wait between two feedback messages while packets arrive (libwebrtc: 50 to 250 ms).
constexpr TimeDelta kSilence = TimeDelta::Millis(300);
constexpr DataSize kMaxSize = DataSize::Bytes(65'535);
// Decisions after this much time without feedback are skipped.
constexpr TimeDelta kMaxSilence = TimeDelta::Seconds(10);
// Packets lost just before the sender pauses may never be reported.
constexpr TimeDelta kMaxUnanswered = TimeDelta::Seconds(2);
// Shorter than libwebrtc's 40 ms, which overflow a queue of ten packets in a fast call.
constexpr TimeDelta kBurstInterval = TimeDelta::Millis(5);
// Burst interval for packets with ECT(1).
constexpr TimeDelta kEctBurstInterval = TimeDelta::Millis(1);
// Limit on how far an arrival may precede the latest one. The estimator would take more for a step of the clock.
constexpr TimeDelta kMaxAge = TimeDelta::Seconds(1);

}  // namespace

class SendSideEstimator::Impl {
 public:
  Impl(BandwidthEstimator made, const SendSideEstimatorConfig& config)
      : estimator(std::move(made)), pacing_factor(config.pacing_factor), constraints_(config.estimator.constraints) {
    pending_.reserve(kMaxPending);
  }

  void OnSentPacket(const PacketDeparture& packet) {
    if (!departures_.MayFollow(packet.sequence_number) || !IsTime(packet.send_time) || packet.size < DataSize::Zero() ||
        packet.size > kMaxSize) {
      ++counters.invalid;
      return;
    }
    now_ = std::max(now_, EndPause(packet.send_time));
    latest_departure_ = now_;
    if (!started()) Begin(now_);
    const int64_t number =
        departures_.Add(packet.sequence_number, packet.send_time - paused_, packet.kind, packet.size);
    if (probes) probes->OnSentPacket(number, packet);
  }

  void OnTransportFeedback(std::span<const PacketFeedback> feedback, Timestamp now) {
    if (!started() || !IsTime(now)) {
      counters.not_in_history += feedback.size();
      return;
    }
    now_ = std::max(now_, departures_.all_settled() ? std::min(now - paused_, pause_begins()) : now - paused_);
    AlignClocks(feedback);
    TimeDelta feedback_delay = TimeDelta::MinusInfinity();
    for (const PacketFeedback& report : feedback) {
      const int64_t number = departures_.Unwrap(report.sequence_number);
      if (!departures_.Has(number)) {
        ++counters.not_in_history;
        continue;
      }
      Departure& departure = departures_.At(number);
      if (IsSettled(number)) {
        ++counters.duplicates;
      } else if (report.fate == PacketFate::kReceived) {
        const TimeDelta since_sent = departures_.SinceSent(number, now_);
        feedback_delay = std::max(feedback_delay, since_sent);
        OnReceived(number, report, since_sent);
      } else if (report.fate == PacketFate::kLost && departure.state == State::kInFlight) {
        ++counters.lost;
        departure.state = State::kLost;
        departures_.TakeKnownNumber(departure);
        if (probes) probes->OnLost(number);
      }
    }
    FeedPending();
    if (feedback_delay.IsFinite()) feedback_delay_.OnReceived(now_, latest_arrival_, feedback_delay);
    const Timestamp sent = feedback_delay_.OnFeedback(now_, latest_arrival_);
    if (IsTime(sent) && estimator.next_timeout() <= sent) Decide(sent);
    Probe();
  }

  void OnTimeout(Timestamp now) {
    if (!started() || !IsTime(now)) return;
    now_ = std::max(now_, std::min(now - paused_, pause_begins()));
    DecideBefore(latest_arrival_ + (now_ - latest_arrival_known_) - kSilence + TimeDelta::Micros(1));
    Probe();
  }

  Timestamp next_timeout() const {
    if (!started()) return Timestamp::PlusInfinity();
    const Timestamp next = latest_arrival_known_ + (estimator.next_timeout() - latest_arrival_) + kSilence;
    return next < pause_begins() ? next + paused_ : Timestamp::PlusInfinity();
  }

  std::optional<Error> SetConstraints(const TargetRateConstraints& constraints) {
    const DataRate before = rate();
    TargetRateConstraints at_arrivals = constraints;
    at_arrivals.at_time = estimator_time;
    if (auto error = estimator.SetConstraints(at_arrivals)) return error;
    constraints_ = constraints;
    if (started() && rate() != before) decided_at = now_ + paused_;
    return std::nullopt;
  }

  DataRate rate() const {
    const DataRate target = estimator.latest().target_rate;
    return probes ? std::clamp(probes->TargetRate(target), constraints_.min_rate, constraints_.max_rate) : target;
  }

  DataSize congestion_window() const {
    return feedback_delay_.CongestionWindow(now_, rate(), estimator.RecurringStop());
  }

  BandwidthEstimator estimator;
  // Null until there is a desired rate.
  std::unique_ptr<ProbeController> probes;
  SendSideCounters counters;
  const double pacing_factor;
  TimeDelta burst_interval = kBurstInterval;
  // Time of the latest change of the rate, on the sender's clock.
  Timestamp decided_at = Timestamp::MinusInfinity();
  // Time of the estimator.
  Timestamp estimator_time = Timestamp::MinusInfinity();

 private:
  using Departure = DepartureHistory::Departure;
  using State = DepartureHistory::State;
  // An arrival that waits to be sorted.
  struct Pending {
    Timestamp arrival_time = Timestamp::MinusInfinity();
    int64_t number : 62 = 0;
    bool has_delay : 1 = true;
    bool is_marked : 1 = false;
  };
  static constexpr size_t kMaxPending = 1024;

  bool started() const { return decided_at.IsFinite(); }

  void Begin(Timestamp now) {
    decided_at = latest_arrival_ = latest_arrival_known_ = now;
    Decide(now);
  }

  // Start of the sender's pause, which lasts until it sends again. Without packets there is no feedback, and no outage.
  Timestamp pause_begins() const {
    const Timestamp begins = departures_.all_settled() ? std::max(latest_departure_, latest_arrival_known_) + kSilence
                                                       : latest_departure_ + kMaxUnanswered;
    return std::max(begins, now_);
  }

  // Excludes a pause that ends at `now` from the estimator's time. Returns `now` without the pauses.
  Timestamp EndPause(Timestamp now) {
    now = now - paused_;
    if (!started() || now <= pause_begins()) return now;
    const TimeDelta pause = now - pause_begins();
    paused_ += pause;
    clock_.OnPause(pause);
    counters.fate_unknown += static_cast<uint64_t>(departures_.ForgetUnsettled());
    return now - pause;
  }

  // True if another report on the packet changes nothing: it was received, or lost too long ago to arrive.
  bool IsSettled(int64_t number) {
    const State state = departures_.At(number).state;
    const TimeDelta delay = clock_.latest_delay();
    return state == State::kDone ||
           (state == State::kLost && delay.IsFinite() && departures_.SinceSent(number, now_) > delay + kMaxAge);
  }

  // Aligns the receiver's clock by the latest packet that the message is the first to report.
  void AlignClocks(std::span<const PacketFeedback> feedback) {
    std::optional<int64_t> latest;
    Timestamp latest_time = Timestamp::MinusInfinity();
    for (const PacketFeedback& report : feedback) {
      if (report.fate != PacketFate::kReceived || !IsTime(report.receive_time)) continue;
      const int64_t number = departures_.Unwrap(report.sequence_number);
      if (!departures_.Has(number) || IsSettled(number)) continue;
      if (latest && report.receive_time <= latest_time) continue;
      latest = number;
      latest_time = report.receive_time;
    }
    if (!latest) return;
    const bool restarted = clock_.OnFeedback(now_, latest_arrival_, latest_time, departures_.SinceSent(*latest, now_));
    if (restarted) {
      ++counters.clock_restarts;
      feedback_delay_.OnClockRestart();
    } else if (clock_.is_plausible()) {
      feedback_delay_.OnOneWayDelay(now_, clock_.latest_delay(), rate());
    }
  }

  void OnReceived(int64_t number, const PacketFeedback& report, TimeDelta since_sent) {
    const Timestamp receive_time = report.receive_time;
    const Timestamp arrival_time = clock_.ArrivalTime(now_, receive_time, since_sent);
    if (!IsTime(receive_time) || !IsTime(arrival_time)) {
      ++counters.invalid;
      return;
    }
    ++counters.received;
    if (probes) probes->OnReceived(number, receive_time);
    if (number >= departures_.next_to_settle()) {
      AddUnknown(number, arrival_time);
      departures_.SettleUntil(number + 1);
    }
    if (report.ecn == EcnMarking::kEct1) burst_interval = kEctBurstInterval;
    Add({arrival_time, number, clock_.is_plausible(), report.ecn == EcnMarking::kCe});
  }

  // Counts the packets before an arrival that feedback skipped as received.
  void AddUnknown(int64_t until, Timestamp arrival_time) {
    const int64_t from = departures_.first_unsettled();
    const auto is_unknown = [this](int64_t number) { return departures_.At(number).state == State::kInFlight; };
    int64_t unknown = 0;
    for (int64_t i = from; i < until; ++i) unknown += is_unknown(i) ? 1 : 0;
    if (unknown == 0) return;
    counters.fate_unknown += static_cast<uint64_t>(unknown);
    const TimeDelta gap = std::max(arrival_time - latest_arrival_, TimeDelta::Zero());
    const TimeDelta step = TimeDelta::Micros(gap.us() / (unknown + 1));
    Timestamp time = arrival_time - TimeDelta::Micros(step.us() * unknown);
    for (int64_t i = from; i < until; ++i) {
      if (!is_unknown(i)) continue;
      Add({time, i, false});
      time += step;
    }
  }

  void Add(const Pending& arrival) {
    if (arrival.arrival_time > latest_arrival_) {
      latest_arrival_ = arrival.arrival_time;
      latest_arrival_known_ = now_;
    }
    Departure& departure = departures_.At(arrival.number);
    const bool was_lost = departure.state == State::kLost;
    departure.state = State::kDone;
    if (!was_lost) {
      if (arrival.arrival_time < estimator_time - kFresh) {
        ++counters.late;
        return;
      }
      departures_.TakeKnownNumber(departure);
    }
    if (pending_.size() == kMaxPending) FeedPending();
    const Timestamp oldest = latest_arrival_ - kMaxAge;
    const bool too_old = arrival.arrival_time < oldest;
    pending_.push_back(too_old ? Pending{oldest, arrival.number, false, arrival.is_marked} : arrival);
  }

  void FeedPending() {
    std::ranges::sort(pending_, [](const Pending& a, const Pending& b) {
      return std::pair(a.arrival_time, +a.number) < std::pair(b.arrival_time, +b.number);
    });
    for (const Pending& arrival : pending_) Feed(arrival);
    pending_.clear();
  }

  void Feed(const Pending& arrival) {
    DecideBefore(std::min(arrival.arrival_time, latest_arrival_ - kFresh));
    const Departure& departure = departures_.At(arrival.number);
    estimator.OnReportedArrival({.arrival_time = arrival.arrival_time,
                                 .send_time = departure.send_time,
                                 .has_delay = arrival.has_delay,
                                 .number = departure.known_number,
                                 .kind = departure.kind,
                                 .ecn = arrival.is_marked ? EcnMarking::kCe : EcnMarking::kNotEct,
                                 .size = DataSize::Bytes(departure.size)});
  }

  // Makes the decisions that are due before `time`.
  void DecideBefore(Timestamp time) {
    // The estimator ignores later times, so the loop would not end.
    time = std::min(time, kMaxTime);
    if (time - estimator_time > kMaxSilence) Decide(time - kMaxSilence);
    while (estimator.next_timeout() < time) Decide(estimator.next_timeout());
  }

  // Called after every decision that feedback or a timeout triggered.
  void Probe() {
    if (!probes) return;
    const DataRate before = rate();
    const auto shown =
        probes->OnProgress({.now = now_ + paused_,
                            .target = estimator.latest().target_rate,
                            .max_rate = std::min(constraints_.max_rate, estimator.HighestProbe()),
                            .receive_rate = estimator.Statistics(estimator_time).last_second.receive_rate,
                            .state = estimator.network_state().state});
    if (shown) estimator.OnProbeResult(*shown);
    if (rate() != before) decided_at = now_ + paused_;
  }

  void Decide(Timestamp time) {
    const DataRate before = rate();
    estimator_time = time;
    // The rate in force is read from the estimator, not from this result.
    static_cast<void>(estimator.OnTimeout(time));
    if (rate() != before) decided_at = now_ + paused_;
  }

  TargetRateConstraints constraints_;
  DepartureHistory departures_{kHistory};
  std::vector<Pending> pending_;

  // Sum of the sender's pauses. The times below exclude them.
  TimeDelta paused_ = TimeDelta::Zero();
  // Time of the latest call, on the sender's clock.
  Timestamp now_ = Timestamp::MinusInfinity();
  Timestamp latest_departure_ = Timestamp::MinusInfinity();
  // The latest arrival on the estimator's clock, and when it was reported, on the sender's clock.
  Timestamp latest_arrival_ = Timestamp::MinusInfinity();
  Timestamp latest_arrival_known_ = Timestamp::MinusInfinity();
  ReceiverClock clock_;
  FeedbackDelay feedback_delay_;
};

Result<SendSideEstimator> SendSideEstimator::Create(const SendSideEstimatorConfig& config,
                                                    std::unique_ptr<ReceiverController> controller) {
  if (!(config.pacing_factor >= 1) || !std::isfinite(config.pacing_factor))
    return Error{"the pacing factor must be finite and at least 1"};
  BandwidthEstimatorConfig reported = config.estimator;
  reported.arrivals_are_reported = true;
  auto estimator = BandwidthEstimator::Create(reported, std::move(controller));
  if (!estimator) return Error{estimator.error()};
  return SendSideEstimator(std::make_unique<Impl>(std::move(estimator.value()), config));
}

SendSideEstimator::SendSideEstimator(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
SendSideEstimator::SendSideEstimator(SendSideEstimator&&) noexcept = default;
SendSideEstimator& SendSideEstimator::operator=(SendSideEstimator&&) noexcept = default;
SendSideEstimator::~SendSideEstimator() = default;

void SendSideEstimator::OnSentPacket(const PacketDeparture& packet) { impl_->OnSentPacket(packet); }
void SendSideEstimator::OnTransportFeedback(std::span<const PacketFeedback> feedback, Timestamp now) {
  impl_->OnTransportFeedback(feedback, now);
}
void SendSideEstimator::OnTimeout(Timestamp now) { impl_->OnTimeout(now); }
Timestamp SendSideEstimator::next_timeout() const { return impl_->next_timeout(); }

TargetTransferRate SendSideEstimator::target_rate() const {
  return {.at_time = impl_->decided_at, .target_rate = impl_->rate()};
}
PacerConfig SendSideEstimator::pacer_config() const {
  return {.at_time = impl_->decided_at,
          .pacing_rate = impl_->rate() * impl_->pacing_factor,
          .padding_rate = DataRate::Zero(),
          .burst_interval = impl_->burst_interval};
}
DataSize SendSideEstimator::congestion_window() const { return impl_->congestion_window(); }

std::optional<Error> SendSideEstimator::SetObjective(const Objective& objective) {
  return impl_->estimator.SetObjective(objective);
}
std::optional<Error> SendSideEstimator::SetConstraints(const TargetRateConstraints& constraints) {
  return impl_->SetConstraints(constraints);
}
void SendSideEstimator::OnRoundTripTime(TimeDelta round_trip_time) {
  impl_->estimator.OnRoundTripTime(round_trip_time, impl_->estimator_time);
}

std::optional<Error> SendSideEstimator::SetDesiredRate(const DesiredRate& desired) {
  const auto is_rate = [](DataRate rate) { return rate.IsFinite() && rate >= DataRate::Zero(); };
  if (!is_rate(desired.total) || desired.total.IsZero() || !is_rate(desired.next))
    return Error{"the desired rates must be finite, that of all layers above 0"};
  if (!impl_->probes) impl_->probes = std::make_unique<ProbeController>(impl_->rate());
  impl_->probes->SetDesiredRate(desired);
  return std::nullopt;
}
std::optional<ProbeClusterConfig> SendSideEstimator::TakeProbeCluster() {
  return impl_->probes ? impl_->probes->Take() : std::nullopt;
}

const SendSideCounters& SendSideEstimator::counters() const { return impl_->counters; }
const ProbeCounters& SendSideEstimator::probe_counters() const {
  static constexpr ProbeCounters kNone;
  return impl_->probes ? impl_->probes->counters() : kNone;
}
const BandwidthEstimator& SendSideEstimator::estimator() const { return impl_->estimator; }

}  // namespace weir
