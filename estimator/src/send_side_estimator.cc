#include "weir/send_side_estimator.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "arrival/clock_drift.h"
#include "arrival/recurring_stops.h"
#include "probe/probe_controller.h"

namespace weir {
namespace {

constexpr int64_t kHalfOfNumbers = 0x8000;
// Fewer departures in a row out of order may be late ones.
constexpr int kOutOfOrderToRestart = 50;
// The usual time between two feedback messages; policies decide as often.
constexpr TimeDelta kFresh = TimeDelta::Millis(100);
// Longer than receivers wait between two feedback messages while packets arrive (libwebrtc: 50 to 250 ms).
constexpr TimeDelta kSilence = TimeDelta::Millis(300);
constexpr DataSize kMaxSize = DataSize::Bytes(65'535);
// With each feedback, so that a slower path is learnt within seconds.
constexpr TimeDelta kDelayGrowth = TimeDelta::Millis(1);
// A first message that was so late makes later ones look as much too early.
constexpr TimeDelta kMaxAdvance = TimeDelta::Millis(150);
// Feedback messages in a row with the same step of the receiver's clock that confirm it.
constexpr int kConfirmations = 5;
// The most by which delays of the latest messages may fall in all, each by no more than kFresh.
constexpr TimeDelta kMaxFall = TimeDelta::Millis(150);
// The longest time between two packets of media.
constexpr TimeDelta kMaxArrivalGap = TimeDelta::Millis(50);
// Decisions about a longer feedback timeout are skipped.
constexpr TimeDelta kMaxSilence = TimeDelta::Seconds(10);
// Packets that were lost at the end of what was sent may never be reported.
constexpr TimeDelta kMaxUnanswered = TimeDelta::Seconds(2);
// In the congestion window, beyond what feedback takes at present: the longest queue that a pacer adds to. On a long
// path a full window stops the pacer for the longer, and what waits meanwhile leaves in a burst: so it is a third of
// that time there. A link that stops holds more meanwhile.
constexpr TimeDelta kMaxQueueTime = TimeDelta::Millis(50);
constexpr double kMaxQueueShare = 1.0 / 3;
constexpr TimeDelta kMaxFeedbackDelay = TimeDelta::Seconds(5);
// Feedback messages that come together were held up together: the first of them waited for the longest, and the next
// ones will come as late.
constexpr TimeDelta kFeedbackBatch = TimeDelta::Millis(10);
// A return path that holds feedback again and again for so long does not fill the one of the media.
constexpr TimeDelta kShortestReturnStop = TimeDelta::Millis(100);
constexpr TimeDelta kLongestReturnStop = TimeDelta::Seconds(2);
// With each feedback, so that a longer path is learnt within seconds.
constexpr TimeDelta kFeedbackDelayGrowth = TimeDelta::Millis(3);
// A full packet, so that a link of 60 kbps has no standing queue.
constexpr DataSize kMinCongestionWindow = DataSize::Bytes(1500);
// libwebrtc's 40 ms of a fast call overflow a queue of ten packets.
constexpr TimeDelta kBurstInterval = TimeDelta::Millis(5);
// For packets with ECT(1).
constexpr TimeDelta kEctBurstInterval = TimeDelta::Millis(1);
// An arrival longer before the latest one counts as that old: the estimator would take it for a step of the clock.
constexpr TimeDelta kMaxAge = TimeDelta::Seconds(1);

constexpr uint32_t kAbsSendTimeMask = 0xFFFFFF;

// 6.18 fixed-point seconds, rounded down.
uint32_t AbsSendTime(Timestamp time) {
  constexpr int64_t kPeriodUs = 64'000'000;
  const int64_t within_us = (time.us() % kPeriodUs + kPeriodUs) % kPeriodUs;
  return static_cast<uint32_t>((within_us << 18) / 1'000'000) & kAbsSendTimeMask;
}

}  // namespace

class SendSideEstimator::Impl {
 public:
  Impl(BandwidthEstimator made, const SendSideEstimatorConfig& config)
      : estimator(std::move(made)),
        pacing_factor(config.pacing_factor),
        constraints_(config.estimator.constraints),
        history_(kHistory) {
    pending_.reserve(kMaxPending);
  }

  void OnSentPacket(const PacketDeparture& packet) {
    const int64_t step = static_cast<uint16_t>(packet.sequence_number - static_cast<uint16_t>(last_sent_));
    const bool in_order = !started() || (step > 0 && step < kHalfOfNumbers) || BeginsAnew(packet.sequence_number);
    if (!in_order || !IsTime(packet.send_time) || packet.size < DataSize::Zero() || packet.size > kMaxSize) {
      ++counters.invalid;
      return;
    }
    out_of_order_ = 0;
    now_ = std::max(now_, EndPause(packet.send_time));
    latest_departure_ = now_;
    if (!started()) {
      Begin(now_);
      last_sent_ = next_to_settle_ = packet.sequence_number;
    } else {
      for (int64_t skipped = 1; skipped < std::min<int64_t>(step, kHistory); ++skipped) At(last_sent_ + skipped) = {};
      last_sent_ += step;
    }
    Departure& departure = At(last_sent_);
    departure.abs_send_time = AbsSendTime(packet.send_time - paused_) & kAbsSendTimeMask;
    departure.kind = packet.kind;
    departure.state = State::kInFlight;
    departure.size = static_cast<uint16_t>(packet.size.bytes());
    if (probes) probes->OnSentPacket(last_sent_, packet);
  }

  void OnTransportFeedback(std::span<const PacketFeedback> feedback, Timestamp now) {
    if (!started() || !IsTime(now)) {
      counters.not_in_history += feedback.size();
      return;
    }
    now_ = std::max(now_, is_answered() ? std::min(now - paused_, pause_begins()) : now - paused_);
    AlignClocks(feedback);
    TimeDelta feedback_delay = TimeDelta::MinusInfinity();
    for (const PacketFeedback& report : feedback) {
      const int64_t sequence_number = Unwrap(report.sequence_number);
      if (!IsInHistory(sequence_number)) {
        ++counters.not_in_history;
        continue;
      }
      Departure& departure = At(sequence_number);
      if (IsSettled(sequence_number)) {
        ++counters.duplicates;
      } else if (report.fate == PacketFate::kReceived) {
        feedback_delay = std::max(feedback_delay, SinceSent(sequence_number));
        OnReceived(sequence_number, report);
      } else if (report.fate == PacketFate::kLost && departure.state == State::kInFlight) {
        ++counters.lost;
        departure.state = State::kLost;
        departure.number = next_number_++;
        if (probes) probes->OnLost(sequence_number);
      }
    }
    FeedPending();
    if (feedback_delay.IsFinite()) {
      const TimeDelta return_delay = now_ - latest_arrival_;
      forward_delay_ = std::min(feedback_delay - return_delay, forward_delay_ + kFeedbackDelayGrowth);
      if (now_ - batch_begins_ >= kFeedbackBatch) {
        batch_begins_ = now_;
        latest_return_delay_ = return_delay;
      }
      latest_return_delay_ = std::max(latest_return_delay_, return_delay);
      const TimeDelta stop = return_delay - return_delay_;
      if (stop >= kShortestReturnStop && stop <= kLongestReturnStop) return_stops_.Add(now_, stop);
    }
    const Timestamp sent = TimeOfFeedback();
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
    if (!forward_delay_.IsFinite()) return DataSize::PlusInfinity();
    const TimeDelta stop = return_stops_.Length(now_);
    const TimeDelta held = stop.IsZero() ? latest_return_delay_ : std::max(latest_return_delay_, return_delay_ + stop);
    const TimeDelta delay = std::clamp(forward_delay_ + held, TimeDelta::Zero(), kMaxFeedbackDelay);
    const TimeDelta queue = std::max({kMaxQueueTime, delay * kMaxQueueShare, estimator.RecurringStop()});
    return std::max(rate() * (delay + queue), kMinCongestionWindow);
  }

  BandwidthEstimator estimator;
  // Null before there is a desired rate.
  std::unique_ptr<ProbeController> probes;
  SendSideCounters counters;
  const double pacing_factor;
  TimeDelta burst_interval = kBurstInterval;
  // The sender's time of the latest change of the rate.
  Timestamp decided_at = Timestamp::MinusInfinity();
  // The estimator's time.
  Timestamp estimator_time = Timestamp::MinusInfinity();

 private:
  enum class State : uint8_t { kNotSent, kInFlight, kLost, kDone };
  // 8 bytes, since there are many; zeros: not sent.
  struct Departure {
    // As in the header extension: 6.18 fixed-point seconds.
    uint32_t abs_send_time : 24;
    PacketKind kind : 4;
    State state : 4;
    uint16_t size;
    // Sequence number for the estimator once the fate is known, without gaps for unknown fates.
    uint16_t number;
  };
  // An arrival that waits to be put in order.
  struct Pending {
    Timestamp arrival_time = Timestamp::MinusInfinity();
    int64_t sequence_number : 62 = 0;
    bool has_delay : 1 = true;
    bool is_marked : 1 = false;
  };
  static constexpr size_t kMaxPending = 1024;

  bool started() const { return decided_at.IsFinite(); }
  int64_t oldest() const { return last_sent_ + 1 - static_cast<int64_t>(kHistory); }
  Departure& At(int64_t sequence_number) { return history_[static_cast<size_t>(sequence_number) % kHistory]; }
  bool IsInHistory(int64_t sequence_number) {
    return sequence_number >= std::max<int64_t>(oldest(), 0) && At(sequence_number).state != State::kNotSent;
  }
  // The latest departure with this number, unwrapped.
  int64_t Unwrap(uint16_t sequence_number) const {
    return last_sent_ - static_cast<uint16_t>(static_cast<uint16_t>(last_sent_) - sequence_number);
  }

  void Begin(Timestamp now) {
    decided_at = latest_arrival_ = latest_arrival_known_ = now;
    Decide(now);
  }

  // The sender pauses from then until it sends again: without packets there is no feedback, and no outage either.
  Timestamp pause_begins() const {
    const Timestamp begins = is_answered() ? std::max(latest_departure_, latest_arrival_known_) + kSilence
                                           : latest_departure_ + kMaxUnanswered;
    return std::max(begins, now_);
  }

  bool is_answered() const { return next_to_settle_ > last_sent_; }

  // A packet out of order is the last of many in a row with numbers in their own order: the host has begun anew, or
  // gave a wrong number before.
  bool BeginsAnew(uint16_t sequence_number) {
    const bool follows = out_of_order_ > 0 && sequence_number == static_cast<uint16_t>(last_out_of_order_ + 1);
    out_of_order_ = follows ? out_of_order_ + 1 : 1;
    last_out_of_order_ = sequence_number;
    return out_of_order_ >= kOutOfOrderToRestart;
  }

  // Takes a pause that ends at `now` out of the time. Returns `now` without it.
  Timestamp EndPause(Timestamp now) {
    now = now - paused_;
    if (!started() || now <= pause_begins()) return now;
    const TimeDelta pause = now - pause_begins();
    paused_ += pause;
    clock_offset_ -= pause;
    for (int64_t i = std::max(next_to_settle_, oldest()); i <= last_sent_; ++i) {
      if (At(i).state != State::kInFlight) continue;
      At(i).state = State::kNotSent;
      ++counters.fate_unknown;
    }
    next_to_settle_ = last_sent_ + 1;
    return now - pause;
  }

  // By the sender's clock alone; less than 64 s.
  TimeDelta SinceSent(int64_t sequence_number) {
    const uint32_t ticks = (AbsSendTime(now_) - At(sequence_number).abs_send_time) & kAbsSendTimeMask;
    return TimeDelta::Micros((int64_t{ticks} * 1'000'000) >> 18);
  }

  // Another report of it has nothing new: it was received, or lost so long ago that it cannot still arrive.
  bool IsSettled(int64_t sequence_number) {
    const State state = At(sequence_number).state;
    return state == State::kDone ||
           (state == State::kLost && latest_delay_.IsFinite() && SinceSent(sequence_number) > latest_delay_ + kMaxAge);
  }

  // The origin of the receiver's clock is arbitrary, and hosts unwrap it from 24 bits; only its differences count. The
  // sender's clock tells which of them are possible: no packet arrives after its report, nor far earlier than the
  // fastest before it, unless its report came earlier too, since a queue drained; nor do delays fall on and on. Other
  // times count only after several messages in a row agreed on a step.
  void AlignClocks(std::span<const PacketFeedback> feedback) {
    std::optional<int64_t> latest;
    Timestamp latest_time = Timestamp::MinusInfinity();
    for (const PacketFeedback& report : feedback) {
      if (report.fate != PacketFate::kReceived || !IsTime(report.receive_time)) continue;
      const int64_t sequence_number = Unwrap(report.sequence_number);
      if (!IsInHistory(sequence_number) || IsSettled(sequence_number)) continue;
      if (latest && report.receive_time <= latest_time) continue;
      latest = sequence_number;
      latest_time = report.receive_time;
    }
    if (!latest) return;
    const bool first = !latest_delay_.IsFinite();
    if (first) clock_offset_ = std::max(now_, latest_arrival_) - latest_time;
    const TimeDelta since_sent = SinceSent(*latest);
    clock_offset_ -= drift_.Update(now_, since_sent, since_sent - (now_ - (latest_time + clock_offset_)));
    const Timestamp arrival = latest_time + clock_offset_;
    const TimeDelta delay = since_sent - (now_ - arrival);
    const TimeDelta faster = first ? TimeDelta::Zero() : std::max(lowest_since_sent_ - since_sent, TimeDelta::Zero());
    const TimeDelta fall = first ? TimeDelta::Zero() : std::max(lowest_delay_ - delay - faster, TimeDelta::Zero());
    plausible_ = arrival <= now_ + kMaxAdvance && fall <= std::min(kFresh, kMaxFall - fallen_);
    if (!plausible_) return OnImplausibleTimes(std::min(latest_delay_, since_sent) - delay);
    implausible_messages_ = 0;
    fallen_ = std::max(fallen_ - kDelayGrowth, TimeDelta::Zero()) + fall;
    latest_delay_ = delay;
    lowest_delay_ = std::min(first ? delay : lowest_delay_ + kDelayGrowth, delay);
    lowest_since_sent_ = std::min(first ? since_sent : lowest_since_sent_ + kDelayGrowth, since_sent);
  }

  // The receiver's clock may have stepped by -`shift`.
  void OnImplausibleTimes(TimeDelta shift) {
    if ((shift - shift_).Abs() > kFresh) implausible_messages_ = 0;
    shift_ = shift;
    if (++implausible_messages_ < kConfirmations) return;
    ++counters.clock_restarts;
    clock_offset_ += shift;
    return_delay_ = TimeDelta::PlusInfinity();
    implausible_messages_ = 0;
    plausible_ = true;
  }

  // Estimates when the receiver sent the latest feedback: the shortest return delay ago, and a little after the latest
  // arrival. Decisions at the arrivals themselves would have irregular intervals.
  Timestamp TimeOfFeedback() {
    return_delay_ = std::min(return_delay_ + kDelayGrowth, now_ - latest_arrival_);
    return std::min(now_ - return_delay_, latest_arrival_ + kMaxArrivalGap);
  }

  void OnReceived(int64_t sequence_number, const PacketFeedback& report) {
    const Timestamp receive_time = report.receive_time;
    const Timestamp arrival_time = plausible_
                                       ? receive_time + clock_offset_
                                       : now_ - std::max(SinceSent(sequence_number) - latest_delay_, TimeDelta::Zero());
    if (!IsTime(receive_time) || !IsTime(arrival_time)) {
      ++counters.invalid;
      return;
    }
    ++counters.received;
    if (probes) probes->OnReceived(sequence_number, receive_time);
    if (sequence_number >= next_to_settle_) {
      AddUnknown(sequence_number, arrival_time);
      next_to_settle_ = sequence_number + 1;
    }
    if (report.ecn == EcnMarking::kEct1) burst_interval = kEctBurstInterval;
    Add({arrival_time, sequence_number, plausible_, report.ecn == EcnMarking::kCe});
  }

  // Counts the packets that feedback passed over before an arrival as received.
  void AddUnknown(int64_t until, Timestamp arrival_time) {
    const int64_t from = std::max(next_to_settle_, oldest());
    const auto is_unknown = [this](int64_t sequence_number) { return At(sequence_number).state == State::kInFlight; };
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
    Departure& departure = At(arrival.sequence_number);
    const bool was_lost = departure.state == State::kLost;
    departure.state = State::kDone;
    if (!was_lost) {
      if (arrival.arrival_time < estimator_time - kFresh) {
        ++counters.late;
        return;
      }
      departure.number = next_number_++;
    }
    if (pending_.size() == kMaxPending) FeedPending();
    const Timestamp oldest = latest_arrival_ - kMaxAge;
    const bool too_old = arrival.arrival_time < oldest;
    pending_.push_back(too_old ? Pending{oldest, arrival.sequence_number, false, arrival.is_marked} : arrival);
  }

  void FeedPending() {
    std::ranges::sort(pending_, [](const Pending& a, const Pending& b) {
      return std::pair(a.arrival_time, +a.sequence_number) < std::pair(b.arrival_time, +b.sequence_number);
    });
    for (const Pending& arrival : pending_) Feed(arrival);
    pending_.clear();
  }

  void Feed(const Pending& arrival) {
    DecideBefore(std::min(arrival.arrival_time, latest_arrival_ - kFresh));
    const Departure& departure = At(arrival.sequence_number);
    estimator.OnPacket({.arrival_time = arrival.arrival_time,
                        .sequence_number = departure.number,
                        .kind = departure.kind,
                        .ecn = arrival.is_marked ? EcnMarking::kCe : EcnMarking::kNotEct,
                        .has_abs_send_time = arrival.has_delay,
                        .abs_send_time = departure.abs_send_time,
                        .payload_size = departure.size});
  }

  // Lets the estimator decide everything that is due before `time`.
  void DecideBefore(Timestamp time) {
    // The estimator ignores later times and would be due for ever.
    time = std::min(time, kMaxTime);
    if (time - estimator_time > kMaxSilence) Decide(time - kMaxSilence);
    while (estimator.next_timeout() < time) Decide(estimator.next_timeout());
  }

  // After every decision that feedback or a timeout brought.
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
    // The rate in force is read from the estimator instead of the result.
    static_cast<void>(estimator.OnTimeout(time));
    if (rate() != before) decided_at = now_ + paused_;
  }

  TargetRateConstraints constraints_;
  std::vector<Departure> history_;
  std::vector<Pending> pending_;

  // Both unwrapped.
  int64_t last_sent_ = -1;
  // Every packet before this one is received, lost or of unknown fate.
  int64_t next_to_settle_ = 0;
  // Departures in a row that were refused for their numbers, and the number of the latest.
  int out_of_order_ = 0;
  uint16_t last_out_of_order_ = 0;
  uint16_t next_number_ = 0;

  // The sender's times that follow are without its pauses; this is their sum.
  TimeDelta paused_ = TimeDelta::Zero();
  // The latest call, by the sender's clock.
  Timestamp now_ = Timestamp::MinusInfinity();
  Timestamp latest_departure_ = Timestamp::MinusInfinity();
  // The shortest time from the latest arrival of a feedback, by the estimator's clock, to the feedback's arrival.
  TimeDelta return_delay_ = TimeDelta::PlusInfinity();
  // The same of the latest feedback, or the longest of those that came with it. It may be late because its path is
  // slow, which does not fill the one of the media.
  TimeDelta latest_return_delay_ = TimeDelta::PlusInfinity();
  Timestamp batch_begins_ = Timestamp::MinusInfinity();
  // Beyond the shortest.
  RecurringStops return_stops_;
  // From sending the oldest packet that a feedback newly reports as received to its latest arrival, by the estimator's
  // clock: the shortest of the last ones. PlusInfinity before the first.
  TimeDelta forward_delay_ = TimeDelta::PlusInfinity();
  // By the estimator's clock; and the sender's time at which it was reported.
  Timestamp latest_arrival_ = Timestamp::MinusInfinity();
  Timestamp latest_arrival_known_ = Timestamp::MinusInfinity();
  // From the receiver's clock to the estimator's.
  TimeDelta clock_offset_ = TimeDelta::Zero();
  ClockDrift drift_;
  // The one-way delay of the latest packet in the latest plausible message, and the lowest of the last ones;
  // PlusInfinity before the first.
  TimeDelta latest_delay_ = TimeDelta::PlusInfinity();
  TimeDelta lowest_delay_ = TimeDelta::PlusInfinity();
  // The shortest time from sending such a packet to its message, of the last ones.
  TimeDelta lowest_since_sent_ = TimeDelta::PlusInfinity();
  // How far the lowest delay fell in the last messages without an earlier report.
  TimeDelta fallen_ = TimeDelta::Zero();
  // The present message's receive times are plausible; else the messages in a row whose times need the same shift.
  bool plausible_ = true;
  int implausible_messages_ = 0;
  TimeDelta shift_ = TimeDelta::Zero();
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
void SendSideEstimator::SetController(std::unique_ptr<ReceiverController> controller) {
  impl_->estimator.SetController(std::move(controller));
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
