#include "real_time_link.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "core/event.h"
#include "programs/input.h"

namespace weir::sim {
namespace {

// A lag this large for this long is not a mere pause of the machine.
constexpr int64_t kSlowNs = 1'000'000'000;
constexpr int64_t kSlowForNs = 5'000'000'000;

void Delay(FlowSpec& flow, SimDuration delay) {
  flow.start += delay;
  flow.stop += delay;
  if (auto* rtp = std::get_if<RtpSpec>(&flow.kind)) {
    for (auto* pauses : {&rtp->pauses, &rtp->media.video_pauses}) {
      for (auto& [from, to] : *pauses) {
        from += delay;
        to += delay;
      }
    }
  }
}

}  // namespace

size_t RealTimeLink::RealFlowIndex(const Scenario& scenario) {
  for (size_t i = 0; i < scenario.flows.size(); ++i) {
    if (std::holds_alternative<RtpSpec>(scenario.flows[i].kind)) return i;
  }
  throw ProgramError("flows: the real packets stand for the first flow of kind \"rtp\", and there is none");
}

RealTimeLink::RealTimeLink(SimulationJob job, RealTimeLinkConfig config)
    : job_(std::move(job)),
      config_(std::move(config)),
      real_flow_index_(RealFlowIndex(job_.scenario)),
      forward_(Direction::kForward, job_, real_flow_index_, config_.right_fd, config_.clock),
      reverse_(Direction::kReverse, job_, real_flow_index_, config_.left_fd, config_.clock),
      log_timer_(this),
      up_timer_(this) {
  for (const FlowSpec& flow : job_.scenario.flows) {
    LinkDirection& direction = flow.direction == Direction::kForward ? forward_ : reverse_;
    observers_.push_back(direction.cross_traffic_observer());
  }
  log_timer_.Set(Now() + config_.log_interval);
}

void RealTimeLink::Start() {
  if (start_) throw ProgramError("the scenario has started already");
  WriteLog();
  start_ = Now();
  log_timer_.Set(Now() + config_.log_interval);
  forward_.Start();
  reverse_.Start();
  for (FlowSpec& flow : job_.scenario.flows) Delay(flow, *start_ - kTimeZero);
  flows_.emplace(job_, &forward_.link(), &reverse_.link(), observers_, /*stack=*/nullptr, real_flow_index_);
}

void RealTimeLink::Down(SimDuration duration) {
  up_time_ = std::max(up_time_, Now() + duration);
  forward_.link().SetDown(true);
  reverse_.link().SetDown(true);
  up_timer_.Set(up_time_);
}

void RealTimeLink::OnUp() {
  forward_.link().SetDown(false);
  reverse_.link().SetDown(false);
}

void RealTimeLink::OnLogTimeout() {
  WriteLog();
  log_timer_.Set(Now() + config_.log_interval);
}

void RealTimeLink::WriteLog() {
  const int64_t clock_ns = config_.clock();
  const int64_t offset_ns = clock_ns - Now().ns();
  clock_offset_ns_ = std::min(clock_offset_ns_.value_or(offset_ns), offset_ns);
  const int64_t lag_ns = offset_ns - *clock_offset_ns_;
  config_.on_log(forward_.TakeLog(clock_ns, lag_ns, start_));
  config_.on_log(reverse_.TakeLog(clock_ns, lag_ns, start_));
  CheckLag(clock_ns, lag_ns);
}

void RealTimeLink::CheckLag(int64_t clock_ns, int64_t lag_ns) {
  if (lag_ns < kSlowNs) {
    slow_since_ns_.reset();
  } else if (!slow_since_ns_) {
    slow_since_ns_ = clock_ns;
  } else if (clock_ns - *slow_since_ns_ > kSlowForNs) {
    config_.on_too_slow("this machine does not keep up with the scenario: it has been more than a second late for 5 s");
  }
}

}  // namespace weir::sim
