#include "link_direction.h"

#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <utility>
#include <vector>

#include "core/event.h"
#include "core/random.h"
#include "link/delay_distribution.h"

namespace weir::sim {
namespace {

uint64_t StreamOf(Direction direction) {
  return direction == Direction::kForward ? random_streams::kForwardLink : random_streams::kReverseLink;
}

// Rounds to whole microseconds.
double Rounded(double ms) { return std::round(ms * 1e3) / 1e3; }
double Milliseconds(int64_t ns) { return Rounded(static_cast<double>(ns) * 1e-6); }

// Counts absolute errors in bins of at most 1/16, 1/8, ..., 64 ms, and more.
std::array<int64_t, 12> DelayErrorCounts(const std::vector<int64_t>& errors_ns) {
  constexpr int64_t kSmallestBoundNs = 62'500;
  std::array<int64_t, 12> counts{};
  for (const int64_t error_ns : errors_ns) {
    size_t bin = 0;
    while (bin + 1 < counts.size() && std::abs(error_ns) > kSmallestBoundNs << bin) ++bin;
    ++counts[bin];
  }
  return counts;
}

// The mean capacity over the given time.
nlohmann::ordered_json CapacityBps(const Link& link, int64_t from_ns, int64_t to_ns) {
  const auto& capacity = link.spec().capacity;
  if (!capacity) return nullptr;
  if (to_ns <= from_ns) return std::llround(link.spec().PolicedBps(static_cast<double>(capacity->RateAt(to_ns))));
  return std::llround(link.spec().PolicedBps(static_cast<double>(capacity->BitsBetween(from_ns, to_ns)) /
                                             (static_cast<double>(to_ns - from_ns) * 1e-9)));
}

}  // namespace

LinkDirection::LinkDirection(Direction direction, const SimulationJob& job, size_t real_flow_index, int output_fd,
                             int64_t (*clock)())
    : direction_(direction),
      scenario_capacity_(job.scenario.link(direction).capacity),
      link_(job.scenario.link(direction), job.scenario.duration_ns(), job.random_seed(), StreamOf(direction)),
      flow_(&link_, output_fd, job.scenario.flows[real_flow_index].extra_one_way_delay_ns, clock) {
  // Changes over time begin at Start.
  link_.SetStart(std::numeric_limits<int64_t>::max());
  if (!scenario_capacity_) return;
  // Packets queued at Start depart at this rate. The scenario's first rate would not do: it may be close to zero.
  const double rate_bps = scenario_capacity_->MeanRateBps(job.scenario.duration_ns());
  link_.SetCapacity(CapacityTrace({0}, {std::llround(rate_bps)}));
}

void LinkDirection::Start() {
  link_.SetStart(NowNs());
  if (scenario_capacity_) link_.SetCapacity(scenario_capacity_->Delayed(NowNs()));
}

nlohmann::ordered_json LinkDirection::TakeLog(int64_t clock_ns, int64_t lag_ns, std::optional<int64_t> start_ns) {
  const int64_t now_ns = NowNs();
  const int64_t carried_bytes = link_.carried_bytes();
  const int64_t idle_ns = link_.IdleNs();
  const int64_t queueing_delay_ns = link_.QueueingDelayNs();
  TunFlowStatistics statistics = flow_.TakeStatistics();
  nlohmann::ordered_json line{
      {"time_us", clock_ns / 1000},
      {"scenario_time_s", nullptr},
      {"direction", direction_ == Direction::kForward ? "forward" : "reverse"},
      {"capacity_bps", CapacityBps(link_, last_log_ns_, now_ns)},
      {"carried_bytes", carried_bytes - last_carried_bytes_},
      {"cross_traffic_bytes", std::exchange(cross_traffic_.bytes, 0)},
      {"idle_ms", Milliseconds(idle_ns - last_idle_ns_)},
      {"queue_bytes", link_.queued_bytes()},
      {"queueing_delay_ms", nullptr},
      {"packets", statistics.packets},
      {"bytes", statistics.bytes},
      {"ce_packets", statistics.ce_packets},
      {"dropped_packets", statistics.dropped_packets},
      {"dropped_while_down_packets", statistics.dropped_while_down_packets},
      {"refused_packets", statistics.refused_packets},
      {"late_packets", statistics.late_packets},
      {"lag_ms", Milliseconds(lag_ns)},
      {"one_way_delay_ms_mean", nullptr},
      {"one_way_delay_ms_p95", nullptr},
      {"delay_error_ms_counts", DelayErrorCounts(statistics.delay_errors_ns)},
      {"delay_error_ms_p95", nullptr},
  };
  if (start_ns) line["scenario_time_s"] = static_cast<double>(now_ns - *start_ns) * 1e-9;
  if (queueing_delay_ns != kNeverNs) line["queueing_delay_ms"] = Milliseconds(queueing_delay_ns);
  if (!statistics.delays_ns.empty()) {
    const MeanAndP95 delays = MeanAndP95Of(statistics.delays_ns);
    line["one_way_delay_ms_mean"] = Rounded(delays.mean_ms);
    line["one_way_delay_ms_p95"] = Rounded(delays.p95_ms);
    line["delay_error_ms_p95"] = Rounded(MeanAndP95Of(statistics.delay_errors_ns).p95_ms);
  }
  last_log_ns_ = now_ns;
  last_idle_ns_ = idle_ns;
  last_carried_bytes_ = carried_bytes;
  return line;
}

}  // namespace weir::sim
