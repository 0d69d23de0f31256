#include "flows/flow_recorder.h"

#include <algorithm>

#include "core/event.h"

namespace weir::sim {
namespace {

constexpr int64_t kHighDelayNs = 400'000'000;

}  // namespace

FlowRecorder::FlowRecorder(int64_t duration_ns, int64_t stop_ns, bool series, bool queueing_delays)
    : steps(series ? SeriesLength(duration_ns) : 0),
      duration_ns_(duration_ns),
      stop_ns_(stop_ns),
      series_(series),
      keeps_queueing_delays_(queueing_delays) {}

size_t FlowRecorder::StepIndex(int64_t time_ns) const {
  return std::min(static_cast<size_t>(time_ns / kSeriesIntervalNs), steps.size() - 1);
}

FlowRecorder::Step* FlowRecorder::StepAt(int64_t time_ns) {
  if (!series_) return nullptr;
  return &steps[StepIndex(time_ns)];
}

void FlowRecorder::OnSent(const Packet& packet) {
  ++packets_sent;
  bytes_sent += packet.size_bytes;
  if (Step* step = StepAt(packet.sent_time_ns)) {
    step->bytes_sent += packet.size_bytes;
    if (packet.rtp.kind == PacketKind::kRetransmission) step->retransmitted_bytes_sent += packet.size_bytes;
    if (packet.rtp.kind == PacketKind::kProbe) step->probe_bytes_sent += packet.size_bytes;
  }
  if (frames) frames->OnSent(packet);
}

void FlowRecorder::OnReceived(const Packet& packet, int64_t arrival_time_ns) {
  if (arrival_time_ns > duration_ns_) return;
  const int64_t delay_ns = arrival_time_ns - packet.sent_time_ns;
  ++packets_received;
  bytes_received += packet.size_bytes;
  delays.Add(delay_ns);
  if (keeps_queueing_delays_) queueing_delays.Add(delay_ns - packet.path_delay_ns);
  if (last_above_400_ms_) above_400_ms_ns += std::max<int64_t>(0, arrival_time_ns - last_arrival_ns_);
  last_above_400_ms_ = delay_ns > kHighDelayNs;
  last_arrival_ns_ = arrival_time_ns;
  if (frames) frames->OnReceived(packet, arrival_time_ns);
  if (!series_) return;
  const size_t index = StepIndex(arrival_time_ns);
  if (index > arrival_step_) {
    FinishDelays(arrival_step_);
    arrival_step_ = index;
  }
  steps[arrival_step_].bytes_received += packet.size_bytes;
  step_delays_ns_.push_back(delay_ns);
}

void FlowRecorder::OnDropped(const Packet& packet) {
  ++packets_lost;
  packets_lost_by_chance += packet.drop_cause == DropCause::kChance ? 1 : 0;
  packets_lost_at_policer += packet.drop_cause == DropCause::kPolicer ? 1 : 0;
  packets_lost_at_queue += packet.drop_cause == DropCause::kQueue ? 1 : 0;
  if (Step* step = StepAt(NowNs())) {
    ++step->packets_lost;
    step->packets_lost_at_queue += packet.drop_cause == DropCause::kQueue ? 1 : 0;
  }
  if (frames) frames->OnDropped(packet);
}

void FlowRecorder::OnRecovered(const Packet& packet, int64_t time_ns) {
  if (frames) frames->OnReceived(packet, time_ns);
}

void FlowRecorder::OnTargetRate(DataRate target_rate, int64_t time_ns) { SetRate(target_, target_rate, time_ns); }

void FlowRecorder::OnRembSent(DataRate rate, int64_t time_ns) { SetRate(remb_, rate, time_ns); }

void FlowRecorder::SetRate(HeldRate& held, DataRate rate, int64_t time_ns) {
  if (series_) FillRate(held, StepIndex(time_ns));
  held.bps = static_cast<double>(rate.bps());
}

void FlowRecorder::FillRate(HeldRate& held, size_t end_step) {
  for (; held.step < end_step; ++held.step) steps[held.step].*held.column = held.bps;
}

void FlowRecorder::OnFeedbackSent(int64_t time_ns) {
  if (Step* step = StepAt(time_ns)) ++step->feedback_sent;
}

void FlowRecorder::OnFeedbackReceived(int64_t sent_time_ns, int64_t time_ns) {
  Step* step = StepAt(time_ns);
  if (!step) return;
  step->feedback_delay_ms =
      std::max(step->feedback_delay_ms.value_or(0), static_cast<double>(time_ns - sent_time_ns) * 1e-6);
}

void FlowRecorder::OnBytesInFlight(int64_t bytes, int64_t time_ns) {
  if (!series_) return;
  const size_t index = StepIndex(time_ns);
  // A step starts with the bytes in flight before it.
  most_bytes_in_flight.resize(index + 1, bytes_in_flight_);
  bytes_in_flight_ = bytes;
  most_bytes_in_flight[index] = std::max(most_bytes_in_flight[index], bytes);
}

void FlowRecorder::OnDelivered(int64_t bytes, int64_t time_ns) {
  if (Step* step = StepAt(time_ns)) step->bytes_delivered += bytes;
}

void FlowRecorder::FinishDelays(size_t step_index) {
  if (step_delays_ns_.empty()) return;
  const MeanAndP95 delays = MeanAndP95Of(step_delays_ns_);
  steps[step_index].delay_mean_ms = delays.mean_ms;
  steps[step_index].delay_p95_ms = delays.p95_ms;
  step_delays_ns_.clear();
}

void FlowRecorder::Finish() {
  if (last_above_400_ms_) above_400_ms_ns += std::max<int64_t>(0, stop_ns_ - last_arrival_ns_);
  if (!series_) return;
  FinishDelays(arrival_step_);
  for (HeldRate* held : {&target_, &remb_}) FillRate(*held, steps.size());
  if (!most_bytes_in_flight.empty()) most_bytes_in_flight.resize(steps.size(), bytes_in_flight_);
}

}  // namespace weir::sim
