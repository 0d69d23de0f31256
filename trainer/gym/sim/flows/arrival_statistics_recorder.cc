#include "flows/arrival_statistics_recorder.h"

#include <algorithm>

#include "core/sim_time.h"

namespace weir::sim {
namespace {

constexpr double kMsPerNs = 1e-6;
constexpr double kMsPerS = 1e3;

}  // namespace

ArrivalStatisticsRecorder::ArrivalStatisticsRecorder(const LinkSpec& link, int64_t duration_ns)
    : capacity_(link.capacity), duration_ns_(duration_ns), quickest_transmission_ns_(capacity_ ? kNeverNs : 0) {
  accumulator_.Start(ToTimestamp(0));
}

void ArrivalStatisticsRecorder::OnReceived(const Packet& packet, int64_t arrival_time_ns) {
  FinishIntervalsBefore(arrival_time_ns);
  bottleneck_delay_ns_ = packet.bottleneck_delay_ns;
  measured_delay_ns_ = arrival_time_ns - packet.sent_time_ns;
  path_delay_ns_ = packet.path_delay_ns;
  if (!capacity_) return;
  const int64_t rate_bps = capacity_->RateAt(packet.sent_time_ns + packet.bottleneck_delay_ns);
  if (rate_bps == 0) return;
  quickest_transmission_ns_ =
      std::min({quickest_transmission_ns_, TransmissionNs(packet.size_bytes, rate_bps), packet.bottleneck_delay_ns});
}

void ArrivalStatisticsRecorder::OnArrival(const Arrival& arrival) {
  accumulator_.OnArrival(arrival);
  if (!arrival.has_delay) return;
  if (packets_++ == 0) bottleneck_delay_min_ns_ = bottleneck_delay_ns_;
  bottleneck_delay_min_ns_ = std::min(bottleneck_delay_min_ns_, bottleneck_delay_ns_);
  bottleneck_delay_sum_ns_ += static_cast<double>(bottleneck_delay_ns_);
  const int64_t taken_for_base_ns = measured_delay_ns_ - arrival.queueing_delay.us() * 1000;
  base_delay_error_sum_ns_ += static_cast<double>(taken_for_base_ns - path_delay_ns_);
}

void ArrivalStatisticsRecorder::FinishIntervalsBefore(int64_t time_ns) {
  // What arrives at the very end belongs to the last interval.
  const int64_t current = std::min(time_ns, duration_ns_ - 1) / kIntervalNs;
  while (static_cast<int64_t>(intervals_.size()) < current) FinishInterval();
}

void ArrivalStatisticsRecorder::FinishInterval() {
  const int64_t end_ns = (static_cast<int64_t>(intervals_.size()) + 1) * kIntervalNs;
  const IntervalStatistics estimated = accumulator_.Take(ToTimestamp(end_ns), DataRate::Zero());
  std::optional<Interval>& interval = intervals_.emplace_back();
  if (packets_ == 0) return;
  const auto packets = static_cast<double>(packets_);
  interval = Interval{.queueing_delay_mean_ms = estimated.queueing_delay_mean_s * kMsPerS,
                      .queueing_delay_min_ms = estimated.queueing_delay_min_s * kMsPerS,
                      .true_queueing_delay_mean_ms = bottleneck_delay_sum_ns_ / packets * kMsPerNs,
                      .true_queueing_delay_min_ms = static_cast<double>(bottleneck_delay_min_ns_) * kMsPerNs,
                      .base_delay_error_mean_ms = base_delay_error_sum_ns_ / packets * kMsPerNs};
  packets_ = 0;
  bottleneck_delay_sum_ns_ = base_delay_error_sum_ns_ = 0;
}

void ArrivalStatisticsRecorder::Finish() {
  FinishIntervalsBefore(duration_ns_);
  FinishInterval();
  if (quickest_transmission_ns_ == kNeverNs) return;
  const double transmission_ms = static_cast<double>(quickest_transmission_ns_) * kMsPerNs;
  for (std::optional<Interval>& interval : intervals_) {
    if (!interval) continue;
    interval->true_queueing_delay_mean_ms -= transmission_ms;
    interval->true_queueing_delay_min_ms -= transmission_ms;
    interval->base_delay_error_mean_ms -= transmission_ms;
  }
}

}  // namespace weir::sim
