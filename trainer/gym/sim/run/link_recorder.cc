#include "run/link_recorder.h"

#include "flows/flow_recorder.h"

namespace weir::sim {

LinkRecorder::LinkRecorder(const Link* link, int64_t duration_ns)
    : link_(link), duration_ns_(duration_ns), timer_(this) {
  queueing_delays_ms_.reserve(SeriesLength(duration_ns));
  timer_.Set(kSeriesIntervalNs);
}

void LinkRecorder::OnTimeout() {
  Sample();
  timer_.Set(NowNs() + kSeriesIntervalNs);
}

void LinkRecorder::Sample() {
  const int64_t delay_ns = link_->QueueingDelayNs();
  queueing_delays_ms_.push_back(delay_ns == kNever ? std::nullopt
                                                   : std::optional(static_cast<double>(delay_ns) * 1e-6));
}

void LinkRecorder::Finish() {
  if (queueing_delays_ms_.size() < SeriesLength(duration_ns_)) Sample();
}

}  // namespace weir::sim
