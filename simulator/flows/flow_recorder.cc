#include "flows/flow_recorder.h"

#include <algorithm>

#include "core/event.h"

namespace weir::sim {
namespace {

constexpr SimDuration kHighDelay = SimDuration::Millis(400);

}  // namespace

FlowRecorder::FlowRecorder(SimDuration duration, SimTime stop, bool series, bool queueing_delays)
    : steps(series ? SeriesLength(duration) : 0),
      end_(kTimeZero + duration),
      stop_(stop),
      series_(series),
      keeps_queueing_delays_(queueing_delays) {}

size_t FlowRecorder::StepIndex(SimTime time) const {
  return std::min(static_cast<size_t>(time.ns() / kSeriesInterval.ns()), steps.size() - 1);
}

FlowRecorder::Step* FlowRecorder::StepAt(SimTime time) {
  if (!series_) return nullptr;
  return &steps[StepIndex(time)];
}

void FlowRecorder::OnSent(const Packet& packet) {
  ++packets_sent;
  bytes_sent += packet.size_bytes;
  if (Step* step = StepAt(packet.sent_time)) {
    step->bytes_sent += packet.size_bytes;
    if (packet.rtp.kind == PacketKind::kRetransmission) step->retransmitted_bytes_sent += packet.size_bytes;
    if (packet.rtp.kind == PacketKind::kProbe) step->probe_bytes_sent += packet.size_bytes;
  }
  if (frames) frames->OnSent(packet);
}

void FlowRecorder::OnReceived(const Packet& packet, SimTime arrival_time) {
  if (arrival_time > end_) return;
  const SimDuration delay = arrival_time - packet.sent_time;
  ++packets_received;
  bytes_received += packet.size_bytes;
  delays.Add(delay);
  if (keeps_queueing_delays_) queueing_delays.Add(delay - packet.path_delay);
  if (last_above_400_ms_) above_400_ms += NotNegative(arrival_time - last_arrival_);
  last_above_400_ms_ = delay > kHighDelay;
  last_arrival_ = arrival_time;
  if (frames) frames->OnReceived(packet, arrival_time);
  if (!series_) return;
  const size_t index = StepIndex(arrival_time);
  if (index > arrival_step_) {
    FinishDelays(arrival_step_);
    arrival_step_ = index;
  }
  steps[arrival_step_].bytes_received += packet.size_bytes;
  step_delays_.push_back(delay);
}

void FlowRecorder::OnDropped(const Packet& packet) {
  ++packets_lost;
  packets_lost_by_chance += packet.drop_cause == DropCause::kChance ? 1 : 0;
  packets_lost_at_policer += packet.drop_cause == DropCause::kPolicer ? 1 : 0;
  packets_lost_at_queue += packet.drop_cause == DropCause::kQueue ? 1 : 0;
  if (Step* step = StepAt(Now())) {
    ++step->packets_lost;
    step->packets_lost_at_queue += packet.drop_cause == DropCause::kQueue ? 1 : 0;
  }
  if (frames) frames->OnDropped(packet);
}

void FlowRecorder::OnRecovered(const Packet& packet, SimTime time) {
  if (frames) frames->OnReceived(packet, time);
}

void FlowRecorder::OnTargetRate(DataRate target_rate, SimTime time) { SetRate(target_, target_rate, time); }

void FlowRecorder::OnRembSent(DataRate rate, SimTime time) { SetRate(remb_, rate, time); }

void FlowRecorder::SetRate(HeldRate& held, DataRate rate, SimTime time) {
  if (series_) FillRate(held, StepIndex(time));
  held.bps = static_cast<double>(rate.bps());
}

void FlowRecorder::FillRate(HeldRate& held, size_t end_step) {
  for (; held.step < end_step; ++held.step) steps[held.step].*held.column = held.bps;
}

void FlowRecorder::OnFeedbackSent(SimTime time) {
  if (Step* step = StepAt(time)) ++step->feedback_sent;
}

void FlowRecorder::OnFeedbackReceived(SimTime sent_time, SimTime time) {
  Step* step = StepAt(time);
  if (!step) return;
  step->feedback_delay_ms = std::max(step->feedback_delay_ms.value_or(0), ToMilliseconds(time - sent_time));
}

void FlowRecorder::OnBytesInFlight(int64_t bytes, SimTime time) {
  if (!series_) return;
  const size_t index = StepIndex(time);
  // A step starts with the bytes in flight before it.
  most_bytes_in_flight.resize(index + 1, bytes_in_flight_);
  bytes_in_flight_ = bytes;
  most_bytes_in_flight[index] = std::max(most_bytes_in_flight[index], bytes);
}

void FlowRecorder::OnDelivered(int64_t bytes, SimTime time) {
  if (Step* step = StepAt(time)) step->bytes_delivered += bytes;
}

void FlowRecorder::FinishDelays(size_t step_index) {
  if (step_delays_.empty()) return;
  const MeanAndP95 delays = MeanAndP95Of(step_delays_);
  steps[step_index].delay_mean_ms = delays.mean_ms;
  steps[step_index].delay_p95_ms = delays.p95_ms;
  step_delays_.clear();
}

void FlowRecorder::Finish() {
  if (last_above_400_ms_) above_400_ms += NotNegative(stop_ - last_arrival_);
  if (!series_) return;
  FinishDelays(arrival_step_);
  for (HeldRate* held : {&target_, &remb_}) FillRate(*held, steps.size());
  if (!most_bytes_in_flight.empty()) most_bytes_in_flight.resize(steps.size(), bytes_in_flight_);
}

}  // namespace weir::sim
