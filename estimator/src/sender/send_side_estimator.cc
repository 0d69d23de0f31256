#include "weir/send_side_estimator.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sender/feedback_delay.h"
#include "sender/sender_clock.h"
#include "sender/sender_target.h"
#include "sender/transport_feedback_adapter.h"

namespace weir {
namespace {

// Typical interval of feedback messages, and the decision interval of policies.
constexpr TimeDelta kFresh = TimeDelta::Millis(100);
// Decisions after this much time without feedback are skipped.
constexpr TimeDelta kMaxSilence = TimeDelta::Seconds(10);
// Shorter than libwebrtc's 40 ms, which overflow a queue of ten packets in a fast call.
constexpr TimeDelta kBurstInterval = TimeDelta::Millis(5);
// Burst interval for packets with ECT(1).
constexpr TimeDelta kEctBurstInterval = TimeDelta::Millis(1);

}  // namespace

// Feedback in -> arrivals -> decisions -> target out. Times are those of SenderClock, except "host time". The
// estimator's time is that of the latest decision; it follows the arrivals.
struct SendSideEstimator::State {
  State(BandwidthEstimator made, const SendSideEstimatorConfig& config)
      : estimator(std::move(made)),
        target(estimator.latest().target_rate, config.estimator.constraints, config.probes_start),
        pacing_factor(config.pacing_factor) {}

  void OnSentPacket(const PacketDeparture& packet);
  void OnTransportFeedback(std::span<const PacketFeedback> feedback, Timestamp host_now);
  void OnTimeout(Timestamp host_now);
  Timestamp next_timeout() const;

  void OnArrival(const ReportedArrival& arrival);
  // Makes the decisions that are due before `time`.
  void DecideBefore(Timestamp time);
  void Decide(Timestamp time);
  // Called after all decisions of a feedback message or timeout.
  void Probe(Timestamp host_now);
  // Reads the estimator, because the result of its OnTimeout() does not show a change by SetConstraints() that the
  // decision takes back.
  void UpdateTarget() { target.Update(estimator.latest().target_rate, clock.host_now()); }
  Timestamp pause_begins() const { return clock.PauseBegins(packets.all_settled(), packets.latest_reported_at()); }

  SenderClock clock;
  TransportFeedbackAdapter packets{[this](const ReportedArrival& arrival) { OnArrival(arrival); }};
  FeedbackDelay feedback_delay;
  BandwidthEstimator estimator;
  Timestamp estimator_time = Timestamp::MinusInfinity();
  SenderTarget target;
  const double pacing_factor;
};

void SendSideEstimator::State::OnSentPacket(const PacketDeparture& packet) {
  if (!packets.Accepts(packet)) return;
  const bool is_first = !clock.started();
  const TimeDelta pause = clock.OnSentPacket(packet.send_time, pause_begins());
  if (!pause.IsZero()) packets.OnPause(pause);
  if (is_first) {
    packets.Start(clock.now());
    target.Start(clock.host_now());
    Decide(clock.now());
    Probe(packet.send_time);
  }
  packets.OnSentPacket(packet, clock.WithoutPauses(packet.send_time));
  if (target.probes()) target.probes()->OnSentPacket(packet);
}

void SendSideEstimator::State::OnTransportFeedback(std::span<const PacketFeedback> feedback, Timestamp host_now) {
  if (!clock.started() || !IsTime(host_now)) {
    packets.OnUnexpectedFeedback(feedback);
    return;
  }
  clock.Advance(host_now, packets.all_settled() ? pause_begins() : Timestamp::PlusInfinity());
  const Timestamp now = clock.now();

  // The receiver's clock, and the delays on both ways.
  const TransportFeedbackAdapter::ClockReading reading = packets.AlignClock(feedback, now);
  if (reading.restarted) feedback_delay.OnClockRestart();
  if (reading.one_way_delay) feedback_delay.OnOneWayDelay(now, *reading.one_way_delay, target.rate());

  // The arrivals, and the decisions that were due between them, in OnArrival().
  const OldestPackets oldest = packets.OnReports(feedback, now, estimator_time - kFresh, target.probes());

  // The decision that was due when the receiver sent the message.
  if (oldest.received.IsFinite()) feedback_delay.OnReceived(now, packets.latest_arrival(), oldest);
  const Timestamp sent = feedback_delay.OnFeedback(now, packets.latest_arrival());
  if (IsTime(sent) && estimator.next_timeout() <= sent) Decide(sent);

  Probe(host_now);
}

void SendSideEstimator::State::OnArrival(const ReportedArrival& arrival) {
  DecideBefore(std::min(arrival.arrival_time, packets.latest_arrival() - kFresh));
  estimator.OnReportedArrival(arrival);
}

void SendSideEstimator::State::OnTimeout(Timestamp host_now) {
  if (!clock.started() || !IsTime(host_now)) return;
  clock.Advance(host_now, pause_begins());
  // Without feedback, the time of arrivals goes on with the sender's.
  const TimeDelta silence = clock.now() - packets.latest_reported_at();
  DecideBefore(packets.latest_arrival() + silence - kFeedbackTimeout + TimeDelta::Micros(1));
  Probe(host_now);
}

Timestamp SendSideEstimator::State::next_timeout() const {
  if (!clock.started()) return Timestamp::PlusInfinity();
  const TimeDelta until_decision = estimator.next_timeout() - packets.latest_arrival();
  const Timestamp next = packets.latest_reported_at() + until_decision + kFeedbackTimeout;
  const Timestamp probe = target.probes() ? target.probes()->NextTimeout() : Timestamp::PlusInfinity();
  return next < pause_begins() ? std::min(clock.WithPauses(next), probe) : probe;
}

void SendSideEstimator::State::DecideBefore(Timestamp time) {
  // The estimator ignores later times, so the loop would not end.
  time = std::min(time, kMaxTime);
  if (time - estimator_time > kMaxSilence) Decide(time - kMaxSilence);
  while (estimator.next_timeout() < time) Decide(estimator.next_timeout());
}

void SendSideEstimator::State::Decide(Timestamp time) {
  estimator_time = time;
  estimator.OnTimeout(time);
  UpdateTarget();
}

void SendSideEstimator::State::Probe(Timestamp host_now) {
  if (!target.probes()) return;
  const auto shown =
      target.probes()->OnProgress({.now = host_now,
                                   .target = estimator.latest().target_rate,
                                   .max_rate = std::min(target.max_rate(), estimator.HighestProbe()),
                                   .receive_rate = estimator.Statistics(estimator_time).last_second.receive_rate,
                                   .state = estimator.network_state().state,
                                   .all_settled = packets.all_settled(),
                                   .delay_stands = estimator.DelayStands()});
  if (shown) estimator.OnProbeResult(*shown, target.probes()->resumes());
  UpdateTarget();
}

Result<SendSideEstimator> SendSideEstimator::Create(const SendSideEstimatorConfig& config,
                                                    std::unique_ptr<ReceiverController> controller) {
  if (!(config.pacing_factor >= 1) || !std::isfinite(config.pacing_factor))
    return Error{"the pacing factor must be finite and at least 1"};
  BandwidthEstimatorConfig reported = config.estimator;
  reported.arrivals_are_reported = true;
  auto estimator = BandwidthEstimator::Create(reported, std::move(controller));
  if (!estimator) return Error{estimator.error()};
  return SendSideEstimator(std::make_unique<State>(std::move(estimator.value()), config));
}

SendSideEstimator::SendSideEstimator(std::unique_ptr<State> state) : state_(std::move(state)) {}
SendSideEstimator::SendSideEstimator(SendSideEstimator&&) noexcept = default;
SendSideEstimator& SendSideEstimator::operator=(SendSideEstimator&&) noexcept = default;
SendSideEstimator::~SendSideEstimator() = default;

void SendSideEstimator::OnSentPacket(const PacketDeparture& packet) { state_->OnSentPacket(packet); }
void SendSideEstimator::OnTransportFeedback(std::span<const PacketFeedback> feedback, Timestamp now) {
  state_->OnTransportFeedback(feedback, now);
}
void SendSideEstimator::OnTimeout(Timestamp now) { state_->OnTimeout(now); }
Timestamp SendSideEstimator::next_timeout() const { return state_->next_timeout(); }

TargetTransferRate SendSideEstimator::target_rate() const {
  return {.at_time = state_->target.at_time(), .target_rate = state_->target.rate()};
}
PacerConfig SendSideEstimator::pacer_config() const {
  return {.at_time = state_->target.at_time(),
          .pacing_rate = state_->target.rate() * state_->pacing_factor,
          .padding_rate = DataRate::Zero(),
          .burst_interval = state_->packets.any_ect1() ? kEctBurstInterval : kBurstInterval};
}
DataSize SendSideEstimator::congestion_window() const {
  return state_->feedback_delay.CongestionWindow(state_->clock.now(), state_->target.rate(),
                                                 state_->estimator.RecurringStop());
}

std::optional<Error> SendSideEstimator::SetObjective(const Objective& objective) {
  return state_->estimator.SetObjective(objective);
}
std::optional<Error> SendSideEstimator::SetConstraints(const TargetRateConstraints& constraints) {
  TargetRateConstraints at_arrivals = constraints;
  at_arrivals.at_time = state_->estimator_time;
  if (auto error = state_->estimator.SetConstraints(at_arrivals)) return error;
  state_->target.SetConstraints(constraints);
  state_->UpdateTarget();
  return std::nullopt;
}
void SendSideEstimator::OnRoundTripTime(TimeDelta round_trip_time) {
  state_->estimator.OnRoundTripTime(round_trip_time, state_->estimator_time);
}

std::optional<Error> SendSideEstimator::SetDesiredRate(const DesiredRate& desired) {
  return state_->target.SetDesiredRate(desired);
}
std::optional<ProbeClusterConfig> SendSideEstimator::TakeProbeCluster() {
  return state_->target.probes() ? state_->target.probes()->Take() : std::nullopt;
}

const SendSideCounters& SendSideEstimator::counters() const { return state_->packets.counters(); }
const ProbeCounters& SendSideEstimator::probe_counters() const { return state_->target.probe_counters(); }
const BandwidthEstimator& SendSideEstimator::estimator() const { return state_->estimator; }

}  // namespace weir
