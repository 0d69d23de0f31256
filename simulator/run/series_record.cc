#include "run/series_record.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "flows/flow_recorder.h"
#include "media/jitter_buffer.h"

namespace weir::sim {

LinkRecorder::LinkRecorder(const Link* link, SimDuration duration) : link_(link), duration_(duration), timer_(this) {
  queueing_delays_ms_.reserve(SeriesLength(duration));
  timer_.Set(kTimeZero + kSeriesInterval);
}

void LinkRecorder::OnTimeout() {
  Sample();
  timer_.Set(Now() + kSeriesInterval);
}

void LinkRecorder::Sample() {
  const SimDuration delay = link_->QueueingDelay();
  queueing_delays_ms_.push_back(delay == kForever ? std::nullopt : std::optional(ToMilliseconds(delay)));
}

void LinkRecorder::Finish() {
  if (queueing_delays_ms_.size() < SeriesLength(duration_)) Sample();
}

namespace {

using Json = nlohmann::ordered_json;

Json RoundedMs(const std::optional<double>& value) {
  return value ? Json(std::round(*value * 1e3) / 1e3) : Json(nullptr);
}
int64_t RateBps(int64_t bytes, SimDuration interval) {
  return std::llround(static_cast<double>(bytes) * 8e9 / static_cast<double>(interval.ns()));
}
SimDuration StepDuration(size_t index, SimDuration duration) {
  return std::min(kSeriesInterval, duration - index * kSeriesInterval);
}

}  // namespace

Json FlowSeries(const FlowRecorder& recorder, SimDuration duration, bool is_rtp) {
  using Step = FlowRecorder::Step;
  const auto column = [&recorder](auto value_of) {
    Json values = Json::array();
    for (const Step& step : recorder.steps) values.push_back(value_of(step));
    return values;
  };
  const auto rates = [&](int64_t Step::* bytes) {
    Json values = Json::array();
    for (size_t i = 0; i < recorder.steps.size(); ++i)
      values.push_back(RateBps(recorder.steps[i].*bytes, StepDuration(i, duration)));
    return values;
  };
  const auto counts = [&column](int64_t Step::* count) {
    return column([count](const Step& step) { return step.*count; });
  };
  const auto delays = [&column](std::optional<double> Step::* delay) {
    return column([delay](const Step& step) { return RoundedMs(step.*delay); });
  };
  Json series;
  if (is_rtp) series["target_bps"] = column([](const Step& step) { return std::llround(step.target_bps); });
  series["send_rate_bps"] = rates(&Step::bytes_sent);
  series["receive_rate_bps"] = rates(&Step::bytes_received);
  series["one_way_delay_mean_ms"] = delays(&Step::delay_mean_ms);
  series["one_way_delay_p95_ms"] = delays(&Step::delay_p95_ms);
  series["packets_lost"] = counts(&Step::packets_lost);
  if (is_rtp) {
    series["rate_feedback_sent"] = counts(&Step::feedback_sent);
    series["feedback_delay_ms"] = delays(&Step::feedback_delay_ms);
    if (std::ranges::any_of(recorder.steps, [](const Step& step) { return step.remb_bps > 0; })) {
      series["remb_bps"] = column(
          [](const Step& step) { return step.remb_bps > 0 ? Json(std::llround(step.remb_bps)) : Json(nullptr); });
    }
    series["retransmission_rate_bps"] = rates(&Step::retransmitted_bytes_sent);
    series["probe_rate_bps"] = rates(&Step::probe_bytes_sent);
    series["packets_lost_at_queue"] = counts(&Step::packets_lost_at_queue);
  }
  if (!recorder.most_bytes_in_flight.empty()) {
    series["goodput_bps"] = rates(&Step::bytes_delivered);
    series["most_bytes_in_flight"] = recorder.most_bytes_in_flight;
  }
  return series;
}

Json FrameSeries(const FrameRecorder& recorder, const PlayoutLimits& limits, SimTime end) {
  const std::vector<FrameRecorder::Frame> frames = recorder.Frames(end);
  using Frame = FrameRecorder::Frame;
  const auto column = [&frames](auto value_of) {
    Json values = Json::array();
    for (const Frame& frame : frames) values.push_back(value_of(frame));
    return values;
  };
  Json rendered = Json::array(), lip_sync = Json::array();
  for (const RenderedFrame& frame : RenderFrames(frames, recorder.audio(), limits)) {
    rendered.push_back(frame.time > end ? Json(nullptr) : Json(frame.time.us()));
    lip_sync.push_back(frame.lip_sync.us());
  }
  return {{"capture_time_us", column([](const Frame& frame) { return frame.capture_time.us(); })},
          {"complete_time_us", column([](const Frame& frame) {
             return frame.complete_time == kNever ? Json(nullptr) : Json(frame.complete_time.us());
           })},
          {"rendered_time_us", std::move(rendered)},
          {"lip_sync_us", std::move(lip_sync)},
          {"bytes", column([](const Frame& frame) { return frame.bytes; })},
          {"sent_time_us", column([](const Frame& frame) { return frame.sent_time.us(); })},
          {"key_frame", column([](const Frame& frame) { return frame.key_frame ? 1 : 0; })}};
}

Json PathSeries(const Scenario& scenario, const LinkRecorder& recorder) {
  Json capacity = Json::array(), queueing_delay = Json::array();
  const SimDuration duration = scenario.duration;
  for (size_t i = 0; i < recorder.queueing_delays_ms().size(); ++i) {
    const SimTime from = kTimeZero + i * kSeriesInterval;
    const SimDuration step = StepDuration(i, duration);
    const auto& trace = scenario.forward.capacity;
    const double capacity_bps = scenario.forward.PolicedBps(
        trace ? static_cast<double>(trace->BitsBetween(from, from + step)) * 1e9 / static_cast<double>(step.ns())
              : std::numeric_limits<double>::infinity());
    capacity.push_back(std::isfinite(capacity_bps) ? Json(std::llround(capacity_bps)) : Json(nullptr));
    queueing_delay.push_back(RoundedMs(recorder.queueing_delays_ms()[i]));
  }
  return {{"interval_s", static_cast<double>(kSeriesInterval.ns()) / 1e9},
          {"capacity_bps", std::move(capacity)},
          {"queueing_delay_ms", std::move(queueing_delay)}};
}

}  // namespace weir::sim
