#include "weir/send_side_estimator.h"

#include <algorithm>

namespace weir {
namespace {

constexpr int64_t kHalfOfNumbers = 0x8000;
constexpr DataSize kMaxSize = DataSize::Bytes(65'535);
// A receiver's clock that is further ahead of what it told before than the time that has passed since, or further
// behind, has leapt.
constexpr TimeDelta kMaxClockStep = TimeDelta::Seconds(3);
// With each feedback, so that a way back that has become slower is learnt within seconds.
constexpr TimeDelta kReturnDelayGrowth = TimeDelta::Millis(1);
// Between packets of media.
constexpr TimeDelta kMaxArrivalGap = TimeDelta::Millis(50);
// Decisions about a longer silence are not made up for.
constexpr TimeDelta kMaxSilence = TimeDelta::Seconds(10);

// 6.18 fixed-point seconds, rounded down.
uint32_t AbsSendTime(Timestamp time) {
  constexpr int64_t kPeriodUs = 64'000'000;
  const int64_t within_us = (time.us() % kPeriodUs + kPeriodUs) % kPeriodUs;
  return static_cast<uint32_t>((within_us << 18) / 1'000'000);
}

}  // namespace

SendSideEstimator::SendSideEstimator(const SendSideEstimatorConfig& config,
                                     std::unique_ptr<ReceiverController> controller)
    : estimator_(config.estimator, std::move(controller)),
      pacing_factor_(std::max(config.pacing_factor, 1.0)),
      history_(kHistory) {
  pending_.reserve(kMaxPending);
}

void SendSideEstimator::OnSentPacket(const PacketDeparture& packet) {
  const int64_t step = static_cast<uint16_t>(packet.sequence_number - static_cast<uint16_t>(last_sent_));
  const bool in_order = !started() || (step > 0 && step < kHalfOfNumbers);
  if (!in_order || !IsTime(packet.send_time) || packet.size < DataSize::Zero() || packet.size > kMaxSize) {
    ++counters_.invalid;
    return;
  }
  now_ = std::max(now_, packet.send_time);
  if (!started()) {
    Begin(now_);
    last_sent_ = next_to_settle_ = packet.sequence_number;
  } else {
    for (int64_t skipped = 1; skipped < std::min<int64_t>(step, kHistory); ++skipped) At(last_sent_ + skipped) = {};
    last_sent_ += step;
  }
  Departure& departure = At(last_sent_);
  departure.abs_send_time = AbsSendTime(packet.send_time) & 0xFFFFFF;
  departure.kind = packet.kind;
  departure.state = State::kInFlight;
  departure.size = static_cast<uint16_t>(packet.size.bytes());
}

void SendSideEstimator::Begin(Timestamp now) {
  decided_at_ = latest_arrival_ = latest_arrival_known_ = now;
  Decide(now);
}

bool SendSideEstimator::IsInHistory(int64_t sequence_number) {
  return sequence_number >= std::max<int64_t>(oldest(), 0) && At(sequence_number).state != State::kNotSent;
}

int64_t SendSideEstimator::Unwrap(uint16_t sequence_number) const {
  return last_sent_ - static_cast<uint16_t>(static_cast<uint16_t>(last_sent_) - sequence_number);
}

void SendSideEstimator::OnTransportFeedback(std::span<const PacketFeedback> feedback, Timestamp now) {
  if (!started() || !IsTime(now)) {
    counters_.not_in_history += feedback.size();
    return;
  }
  now_ = std::max(now_, now);
  AlignClocks(feedback);
  for (const PacketFeedback& report : feedback) {
    const int64_t sequence_number = Unwrap(report.sequence_number);
    if (!IsInHistory(sequence_number)) {
      ++counters_.not_in_history;
      continue;
    }
    Departure& departure = At(sequence_number);
    if (departure.state == State::kDone) {
      ++counters_.duplicates;
    } else if (report.fate == PacketFate::kReceived) {
      OnReceived(sequence_number, report.receive_time);
    } else if (report.fate == PacketFate::kLost && departure.state == State::kInFlight) {
      ++counters_.lost;
      departure.state = State::kLost;
      departure.number = next_number_++;
    }
  }
  FeedPending();
  const Timestamp sent = TimeOfFeedback();
  if (estimator_.next_timeout() <= sent) Decide(sent);
}

// The receiver's clock has an origin of its own, and hosts unwrap it from 24 bits; only how it goes on counts.
void SendSideEstimator::AlignClocks(std::span<const PacketFeedback> feedback) {
  Timestamp latest = Timestamp::MinusInfinity();
  for (const PacketFeedback& report : feedback) {
    if (report.fate != PacketFate::kReceived || !IsTime(report.receive_time)) continue;
    const int64_t sequence_number = Unwrap(report.sequence_number);
    if (!IsInHistory(sequence_number) || At(sequence_number).state == State::kDone) continue;
    latest = std::max(latest, report.receive_time);
  }
  if (!latest.IsFinite()) return;
  const bool first = !latest_receive_time_.IsFinite();
  const bool leapt = !first && (latest < latest_receive_time_ - kMaxClockStep ||
                                latest + clock_offset_ > std::max(now_, latest_arrival_) + kMaxClockStep);
  if (leapt) ++counters_.clock_restarts;
  if (leapt) return_delay_ = TimeDelta::PlusInfinity();
  if (first || leapt) clock_offset_ = std::max(now_, latest_arrival_) - latest;
  latest_receive_time_ = leapt ? latest : std::max(latest_receive_time_, latest);
}

// When the receiver sent the feedback that has just come: by the way back at its quickest, and a little after the
// latest arrival. Decisions at arrivals themselves would have intervals that are as irregular as these.
Timestamp SendSideEstimator::TimeOfFeedback() {
  return_delay_ = std::min(return_delay_ + kReturnDelayGrowth, now_ - latest_arrival_);
  return std::min(now_ - return_delay_, latest_arrival_ + kMaxArrivalGap);
}

void SendSideEstimator::OnReceived(int64_t sequence_number, Timestamp receive_time) {
  if (!IsTime(receive_time)) {
    ++counters_.invalid;
    return;
  }
  ++counters_.received;
  const Timestamp arrival_time = receive_time + clock_offset_;
  if (sequence_number >= next_to_settle_) {
    AddUnknown(sequence_number, arrival_time);
    next_to_settle_ = sequence_number + 1;
  }
  Add({arrival_time, sequence_number, true});
}

void SendSideEstimator::AddUnknown(int64_t until, Timestamp arrival_time) {
  const int64_t from = std::max(next_to_settle_, oldest());
  const auto is_unknown = [this](int64_t sequence_number) { return At(sequence_number).state == State::kInFlight; };
  int64_t unknown = 0;
  for (int64_t i = from; i < until; ++i) unknown += is_unknown(i) ? 1 : 0;
  if (unknown == 0) return;
  counters_.fate_unknown += static_cast<uint64_t>(unknown);
  const TimeDelta gap = std::max(arrival_time - latest_arrival_, TimeDelta::Zero());
  const TimeDelta step = TimeDelta::Micros(gap.us() / (unknown + 1));
  Timestamp time = arrival_time - TimeDelta::Micros(step.us() * unknown);
  for (int64_t i = from; i < until; ++i) {
    if (!is_unknown(i)) continue;
    Add({time, i, false});
    time += step;
  }
}

void SendSideEstimator::Add(const Pending& arrival) {
  if (arrival.arrival_time > latest_arrival_) {
    latest_arrival_ = arrival.arrival_time;
    latest_arrival_known_ = now_;
  }
  Departure& departure = At(arrival.sequence_number);
  const bool was_lost = departure.state == State::kLost;
  departure.state = State::kDone;
  if (!was_lost) {
    if (arrival.arrival_time < estimator_time_ - kFresh) {
      ++counters_.late;
      return;
    }
    departure.number = next_number_++;
  }
  if (pending_.size() == kMaxPending) FeedPending();
  pending_.push_back(arrival);
}

void SendSideEstimator::FeedPending() {
  std::ranges::sort(pending_, [](const Pending& a, const Pending& b) {
    return std::pair(a.arrival_time, a.sequence_number) < std::pair(b.arrival_time, b.sequence_number);
  });
  for (const Pending& arrival : pending_) Feed(arrival);
  pending_.clear();
}

void SendSideEstimator::Feed(const Pending& arrival) {
  DecideBefore(std::min(arrival.arrival_time, latest_arrival_ - kFresh));
  const Departure& departure = At(arrival.sequence_number);
  estimator_.OnPacket({.arrival_time = arrival.arrival_time,
                       .sequence_number = departure.number,
                       .kind = departure.kind,
                       .has_abs_send_time = arrival.has_delay,
                       .abs_send_time = departure.abs_send_time,
                       .payload_size = departure.size});
}

void SendSideEstimator::DecideBefore(Timestamp time) {
  if (time - estimator_time_ > kMaxSilence) Decide(time - kMaxSilence);
  while (estimator_.next_timeout() < time) Decide(estimator_.next_timeout());
}

void SendSideEstimator::Decide(Timestamp time) {
  const DataRate before = rate();
  estimator_time_ = time;
  // What it would feed back goes nowhere: the rate in force is taken at once.
  static_cast<void>(estimator_.OnTimeout(time));
  if (rate() != before) decided_at_ = now_;
}

void SendSideEstimator::OnTimeout(Timestamp now) {
  if (!started() || !IsTime(now)) return;
  now_ = std::max(now_, now);
  DecideBefore(latest_arrival_ + (now_ - latest_arrival_known_) - kSilence + TimeDelta::Micros(1));
}

Timestamp SendSideEstimator::next_timeout() const {
  if (!started()) return Timestamp::PlusInfinity();
  return latest_arrival_known_ + (estimator_.next_timeout() - latest_arrival_) + kSilence;
}

std::optional<Error> SendSideEstimator::SetConstraints(const TargetRateConstraints& constraints) {
  const DataRate before = rate();
  TargetRateConstraints at_arrivals = constraints;
  at_arrivals.at_time = estimator_time_;
  if (auto error = estimator_.SetConstraints(at_arrivals)) return error;
  if (started() && rate() != before) decided_at_ = now_;
  return std::nullopt;
}

}  // namespace weir
