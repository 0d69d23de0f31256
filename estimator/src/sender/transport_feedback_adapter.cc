#include "sender/transport_feedback_adapter.h"

#include <algorithm>

namespace weir {
namespace {

constexpr DataSize kMaxSize = DataSize::Bytes(65'535);

}  // namespace

bool TransportFeedbackAdapter::Accepts(const PacketDeparture& packet) {
  const bool is_possible = departures_.MayFollow(packet.sequence_number) && IsTime(packet.send_time) &&
                           packet.size >= DataSize::Zero() && packet.size <= kMaxSize;
  if (!is_possible) ++counters_.invalid;
  return is_possible;
}

void TransportFeedbackAdapter::OnPause(TimeDelta pause) {
  receiver_clock_.OnPause(pause);
  counters_.fate_unknown += static_cast<uint64_t>(departures_.ForgetUnsettled());
}

bool TransportFeedbackAdapter::IsSettled(int64_t number, Timestamp now) const {
  const State state = departures_.At(number).state;
  const TimeDelta delay = receiver_clock_.latest_delay();
  return state == State::kDone || (state == State::kLost && delay.IsFinite() &&
                                   departures_.SinceSent(number, now) > delay + ArrivalQueue::kMaxAge);
}

TransportFeedbackAdapter::ClockReading TransportFeedbackAdapter::AlignClock(std::span<const PacketFeedback> feedback,
                                                                            Timestamp now) {
  const PacketFeedback* latest = nullptr;
  for (const PacketFeedback& report : feedback) {
    if (report.fate != PacketFate::kReceived || !IsTime(report.receive_time)) continue;
    if (!departures_.Has(report.sequence_number) || IsSettled(report.sequence_number, now)) continue;
    if (latest == nullptr || report.receive_time > latest->receive_time) latest = &report;
  }
  if (latest == nullptr) return {};
  const TimeDelta since_sent = departures_.SinceSent(latest->sequence_number, now);
  if (receiver_clock_.OnFeedback(now, queue_.latest(), latest->receive_time, since_sent)) {
    ++counters_.clock_restarts;
    return {.restarted = true};
  }
  if (!receiver_clock_.is_plausible()) return {};
  return {.one_way_delay = receiver_clock_.latest_delay()};
}

OldestPackets TransportFeedbackAdapter::OnReports(std::span<const PacketFeedback> feedback, Timestamp now,
                                                  Timestamp oldest, ProbeController* probes) {
  OldestPackets oldest_sent;
  for (const PacketFeedback& report : feedback) {
    const int64_t number = report.sequence_number;
    if (!departures_.Has(number)) {
      ++counters_.not_in_history;
    } else if (IsSettled(number, now)) {
      ++counters_.duplicates;
    } else if (report.fate == PacketFate::kReceived) {
      const TimeDelta since_sent = departures_.SinceSent(number, now);
      oldest_sent.received = std::max(oldest_sent.received, since_sent);
      oldest_sent.skipped = std::max(oldest_sent.skipped, SinceOldestSent(number, now));
      if (OnReceived(report, since_sent, {now, oldest}) && probes) probes->OnReceived(number, report.receive_time);
    } else if (report.fate == PacketFate::kLost && departures_.At(number).state == State::kInFlight) {
      OnLost(number);
      if (probes) probes->OnLost(number);
    }
  }
  Flush();
  return oldest_sent;
}

TimeDelta TransportFeedbackAdapter::SinceOldestSent(int64_t until, Timestamp now) const {
  for (int64_t i = departures_.first_unsettled(); i < until; ++i) {
    if (departures_.At(i).state == State::kInFlight) return departures_.SinceSent(i, now);
  }
  return TimeDelta::MinusInfinity();
}

bool TransportFeedbackAdapter::OnReceived(const PacketFeedback& report, TimeDelta since_sent, const Message& message) {
  const Timestamp arrival_time = receiver_clock_.ArrivalTime(message.now, report.receive_time, since_sent);
  if (!IsTime(report.receive_time) || !IsTime(arrival_time)) {
    ++counters_.invalid;
    return false;
  }
  ++counters_.received;
  const int64_t number = report.sequence_number;
  if (number >= departures_.next_to_settle()) {
    AddUnknown(number, arrival_time, message);
    departures_.SettleUntil(number + 1);
  }
  any_ect1_ = any_ect1_ || report.ecn == EcnMarking::kEct1;
  Add({arrival_time, number, receiver_clock_.is_plausible(), report.ecn == EcnMarking::kCe}, message);
  return true;
}

void TransportFeedbackAdapter::OnLost(int64_t number) {
  ++counters_.lost;
  DepartureHistory::Departure& departure = departures_.At(number);
  departure.state = State::kLost;
  departures_.TakeKnownNumber(departure);
}

void TransportFeedbackAdapter::AddUnknown(int64_t until, Timestamp arrival_time, const Message& message) {
  const int64_t from = departures_.first_unsettled();
  const auto is_unknown = [this](int64_t number) { return departures_.At(number).state == State::kInFlight; };
  int64_t unknown = 0;
  for (int64_t i = from; i < until; ++i) unknown += is_unknown(i) ? 1 : 0;
  if (unknown == 0) return;
  counters_.fate_unknown += static_cast<uint64_t>(unknown);
  const TimeDelta gap = std::max(arrival_time - queue_.latest(), TimeDelta::Zero());
  const TimeDelta step = TimeDelta::Micros(gap.us() / (unknown + 1));
  Timestamp time = arrival_time - TimeDelta::Micros(step.us() * unknown);
  for (int64_t i = from; i < until; ++i) {
    if (!is_unknown(i)) continue;
    Add({time, i, false}, message);
    time += step;
  }
}

void TransportFeedbackAdapter::Add(const ArrivalQueue::Entry& arrival, const Message& message) {
  queue_.OnArrival(arrival.arrival_time, message.now);
  DepartureHistory::Departure& departure = departures_.At(arrival.number);
  const bool was_lost = departure.state == State::kLost;
  departure.state = State::kDone;
  if (!was_lost) {
    if (arrival.arrival_time < message.oldest) {
      ++counters_.late;
      return;
    }
    departures_.TakeKnownNumber(departure);
  }
  if (queue_.is_full()) Flush();
  queue_.Add(arrival);
}

void TransportFeedbackAdapter::Flush() {
  for (const ArrivalQueue::Entry& arrival : queue_.Sorted()) {
    const DepartureHistory::Departure& departure = departures_.At(arrival.number);
    on_arrival_({.arrival_time = arrival.arrival_time,
                 .send_time = departure.send_time,
                 .has_delay = arrival.has_delay,
                 .number = departure.known_number,
                 .kind = departure.kind,
                 .ecn = arrival.is_marked ? EcnMarking::kCe : EcnMarking::kNotEct,
                 .size = DataSize::Bytes(departure.size)});
  }
  queue_.Clear();
}

}  // namespace weir
