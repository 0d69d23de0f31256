#include "flows/arrival_statistics_recorder.h"

#include <algorithm>

namespace weir::sim {
namespace {

constexpr double kMsPerNs = 1e-6;
constexpr double kMsPerS = 1e3;

}  // namespace

ArrivalStatisticsRecorder::ArrivalStatisticsRecorder(const LinkSpec& link, int64_t duration_ns)
    : capacity_(link.capacity), duration_ns_(duration_ns) {
  accumulator_.Start(ToTimestamp(0));
}

void ArrivalStatisticsRecorder::OnReceived(const Packet& packet, int64_t arrival_time_ns) {
  FinishIntervalsBefore(arrival_time_ns);
  ++fates().packets;
  const int64_t departure_ns = packet.sent_time_ns + packet.bottleneck_delay_ns;
  if (const int64_t rate_bps = capacity_ ? capacity_->RateAt(departure_ns) : 0; rate_bps > 0) {
    quickest_transmission_ns_ = std::min(quickest_transmission_ns_, TransmissionNs(packet.size_bytes, rate_bps));
  }
  const int64_t transmission_ns = std::min(quickest_transmission_ns_, packet.bottleneck_delay_ns);
  queueing_delay_ns_ = packet.bottleneck_delay_ns - transmission_ns;
  beyond_empty_path_ns_ = arrival_time_ns - packet.sent_time_ns - packet.path_delay_ns - transmission_ns;
}

void ArrivalStatisticsRecorder::OnDropped(const Packet& packet) {
  ++fates().packets;
  fates().lost_by_chance += packet.drop_cause == DropCause::kChance ? 1 : 0;
}

double ArrivalStatisticsRecorder::RandomLoss() const {
  Fates sum;
  for (const Fates& one : fates_) {
    sum.packets += one.packets;
    sum.lost_by_chance += one.lost_by_chance;
  }
  return sum.packets > 0 ? static_cast<double>(sum.lost_by_chance) / static_cast<double>(sum.packets) : 0;
}

void ArrivalStatisticsRecorder::OnArrival(const Arrival& arrival) {
  accumulator_.OnArrival(arrival);
  if (!arrival.has_delay) return;
  if (packets_++ == 0) queueing_delay_min_ns_ = queueing_delay_ns_;
  queueing_delay_min_ns_ = std::min(queueing_delay_min_ns_, queueing_delay_ns_);
  queueing_delay_sum_ns_ += static_cast<double>(queueing_delay_ns_);
  base_delay_error_sum_ns_ += static_cast<double>(beyond_empty_path_ns_ - arrival.queueing_delay.us() * 1000);
}

void ArrivalStatisticsRecorder::FinishIntervalsBefore(int64_t time_ns) {
  // A packet that arrives at the very end belongs to the last interval.
  const int64_t current = std::min(time_ns, duration_ns_ - 1) / kIntervalNs;
  while (static_cast<int64_t>(intervals_.size()) < current) FinishInterval();
}

void ArrivalStatisticsRecorder::FinishInterval() {
  const int64_t end_ns = (static_cast<int64_t>(intervals_.size()) + 1) * kIntervalNs;
  const IntervalStatistics estimated = accumulator_.Take(ToTimestamp(end_ns), DataRate::Zero());
  const double random_loss = RandomLoss();
  std::optional<Interval>& interval = intervals_.emplace_back();
  fates() = {};
  if (packets_ == 0) return;
  const auto packets = static_cast<double>(packets_);
  interval = Interval{.queueing_delay_mean_ms = estimated.queueing_delay_mean_s * kMsPerS,
                      .queueing_delay_min_ms = estimated.queueing_delay_min_s * kMsPerS,
                      .true_queueing_delay_mean_ms = queueing_delay_sum_ns_ / packets * kMsPerNs,
                      .true_queueing_delay_min_ms = static_cast<double>(queueing_delay_min_ns_) * kMsPerNs,
                      .base_delay_error_mean_ms = base_delay_error_sum_ns_ / packets * kMsPerNs,
                      .loss_at_short_queue_10s = estimated.loss_at_short_queue_10s,
                      .true_random_loss_10s = random_loss};
  packets_ = 0;
  queueing_delay_sum_ns_ = base_delay_error_sum_ns_ = 0;
}

void ArrivalStatisticsRecorder::Finish() {
  FinishIntervalsBefore(duration_ns_);
  FinishInterval();
}

}  // namespace weir::sim
