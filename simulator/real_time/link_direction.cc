#include "link_direction.h"

#include <algorithm>
#include <array>
#include <cmath>
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
std::array<int64_t, 12> DelayErrorCounts(const std::vector<SimDuration>& errors) {
  constexpr SimDuration kSmallestBound = SimDuration::Nanos(62'500);
  std::array<int64_t, 12> counts{};
  for (const SimDuration error : errors) {
    size_t bin = 0;
    while (bin + 1 < counts.size() && error.Abs() > kSmallestBound * (1 << bin)) ++bin;
    ++counts[bin];
  }
  return counts;
}

// The mean capacity over the given time, for `down` of which the link was down and its capacity 0.
nlohmann::ordered_json CapacityBps(const Link& link, SimTime from, SimTime to, SimDuration down) {
  const auto& capacity = link.spec().capacity;
  const double up_share = to > from ? 1 - down.seconds() / (to - from).seconds() : (link.down() ? 0 : 1);
  if (!capacity) return up_share > 0 ? nlohmann::ordered_json() : nlohmann::ordered_json(0);
  const double rate_bps = to > from ? static_cast<double>(capacity->BitsBetween(from, to)) / (to - from).seconds()
                                    : static_cast<double>(capacity->RateAt(to));
  return std::llround(up_share * link.spec().PolicedBps(rate_bps));
}

}  // namespace

LinkDirection::LinkDirection(Direction direction, const SimulationJob& job, size_t real_flow_index, int output_fd,
                             int64_t (*clock)())
    : direction_(direction),
      scenario_capacity_(job.scenario.link(direction).capacity),
      link_(job.scenario.link(direction), job.scenario.duration, job.random_seed(), StreamOf(direction)),
      flow_(&link_, output_fd, job.scenario.flows[real_flow_index].extra_one_way_delay, clock) {
  // Changes over time begin at Start.
  link_.SetStart(kNever);
  if (!scenario_capacity_) return;
  // Packets queued at Start depart at this rate. The scenario's first rate would not do: it may be close to zero.
  const double rate_bps = scenario_capacity_->MeanRateBps(job.scenario.duration);
  link_.SetCapacity(CapacityTrace({kTimeZero}, {std::llround(rate_bps)}));
}

void LinkDirection::Start() {
  link_.SetStart(Now());
  if (scenario_capacity_) link_.SetCapacity(scenario_capacity_->Delayed(Now() - kTimeZero));
}

nlohmann::ordered_json LinkDirection::TakeLog(int64_t clock_ns, int64_t lag_ns, std::optional<SimTime> start) {
  const SimTime now = Now();
  const int64_t carried_bytes = link_.carried_bytes();
  const SimDuration idle = link_.Idle();
  const SimDuration down_time = link_.DownTime();
  const SimDuration queueing_delay = link_.QueueingDelay();
  // The scenario's capacity is 0 before its start.
  const SimTime since = start ? std::max(last_log_, *start) : last_log_;
  TunFlowStatistics statistics = flow_.TakeStatistics();
  nlohmann::ordered_json line{
      {"time_us", clock_ns / 1000},
      {"scenario_time_s", nullptr},
      {"direction", direction_ == Direction::kForward ? "forward" : "reverse"},
      {"capacity_bps", CapacityBps(link_, since, now, down_time - last_down_time_)},
      {"carried_bytes", carried_bytes - last_carried_bytes_},
      {"cross_traffic_bytes", std::exchange(cross_traffic_.bytes, 0)},
      {"idle_ms", Milliseconds((idle - last_idle_).ns())},
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
      {"delay_error_ms_counts", DelayErrorCounts(statistics.delay_errors)},
      {"delay_error_ms_p95", nullptr},
  };
  if (start) line["scenario_time_s"] = (now - *start).seconds();
  if (queueing_delay != kForever) line["queueing_delay_ms"] = Milliseconds(queueing_delay.ns());
  if (!statistics.delays.empty()) {
    const MeanAndP95 delays = MeanAndP95Of(statistics.delays);
    line["one_way_delay_ms_mean"] = Rounded(delays.mean_ms);
    line["one_way_delay_ms_p95"] = Rounded(delays.p95_ms);
    line["delay_error_ms_p95"] = Rounded(MeanAndP95Of(statistics.delay_errors).p95_ms);
  }
  last_log_ = now;
  last_idle_ = idle;
  last_down_time_ = down_time;
  last_carried_bytes_ = carried_bytes;
  return line;
}

}  // namespace weir::sim
