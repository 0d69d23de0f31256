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
  queueing_delays_ms_.push_back(delay_ns == kNeverNs ? std::nullopt
                                                     : std::optional(static_cast<double>(delay_ns) * 1e-6));
}

void LinkRecorder::Finish() {
  if (queueing_delays_ms_.size() < SeriesLength(duration_ns_)) Sample();
}

namespace {

using Json = nlohmann::ordered_json;

Json RoundedMs(const std::optional<double>& value) {
  return value ? Json(std::round(*value * 1e3) / 1e3) : Json(nullptr);
}
int64_t RateBps(int64_t bytes, int64_t interval_ns) {
  return std::llround(static_cast<double>(bytes) * 8e9 / static_cast<double>(interval_ns));
}
int64_t StepNs(size_t index, int64_t duration_ns) {
  return std::min(kSeriesIntervalNs, duration_ns - static_cast<int64_t>(index) * kSeriesIntervalNs);
}

}  // namespace

Json FlowSeries(const FlowRecorder& recorder, int64_t duration_ns, bool is_rtp) {
  Json series;
  Json target = Json::array(), sent = Json::array(), received = Json::array();
  Json delay_mean = Json::array(), delay_p95 = Json::array(), lost = Json::array();
  Json feedback = Json::array(), goodput = Json::array(), remb = Json::array();
  Json retransmitted = Json::array(), probes = Json::array(), lost_at_queue = Json::array(),
       feedback_delay = Json::array();
  bool has_remb = false;
  for (size_t i = 0; i < recorder.steps.size(); ++i) {
    const FlowRecorder::Step& step = recorder.steps[i];
    const int64_t step_ns = StepNs(i, duration_ns);
    target.push_back(std::llround(step.target_bps));
    sent.push_back(RateBps(step.bytes_sent, step_ns));
    received.push_back(RateBps(step.bytes_received, step_ns));
    goodput.push_back(RateBps(step.bytes_delivered, step_ns));
    delay_mean.push_back(RoundedMs(step.delay_mean_ms));
    delay_p95.push_back(RoundedMs(step.delay_p95_ms));
    lost.push_back(step.packets_lost);
    feedback.push_back(step.feedback_sent);
    if (!is_rtp) continue;
    has_remb |= step.remb_bps > 0;
    remb.push_back(step.remb_bps > 0 ? Json(std::llround(step.remb_bps)) : Json(nullptr));
    retransmitted.push_back(RateBps(step.retransmitted_bytes_sent, step_ns));
    probes.push_back(RateBps(step.probe_bytes_sent, step_ns));
    lost_at_queue.push_back(step.packets_lost_at_queue);
    feedback_delay.push_back(RoundedMs(step.feedback_delay_ms));
  }
  if (is_rtp) series["target_bps"] = std::move(target);
  series["send_rate_bps"] = std::move(sent);
  series["receive_rate_bps"] = std::move(received);
  series["one_way_delay_mean_ms"] = std::move(delay_mean);
  series["one_way_delay_p95_ms"] = std::move(delay_p95);
  series["packets_lost"] = std::move(lost);
  if (is_rtp) {
    series["rate_feedback_sent"] = std::move(feedback);
    series["feedback_delay_ms"] = std::move(feedback_delay);
    if (has_remb) series["remb_bps"] = std::move(remb);
    series["retransmission_rate_bps"] = std::move(retransmitted);
    series["probe_rate_bps"] = std::move(probes);
    series["packets_lost_at_queue"] = std::move(lost_at_queue);
  }
  if (!recorder.most_bytes_in_flight.empty()) {
    series["goodput_bps"] = std::move(goodput);
    series["most_bytes_in_flight"] = recorder.most_bytes_in_flight;
  }
  return series;
}

Json FrameSeries(const FrameRecorder& recorder, int64_t duration_ns) {
  const std::vector<FrameRecorder::Frame> frames = recorder.Frames(duration_ns);
  Json::array_t capture, complete, bytes, sent, key_frame;
  for (Json::array_t* column : {&capture, &complete, &bytes, &sent, &key_frame}) column->reserve(frames.size());
  for (const FrameRecorder::Frame& frame : frames) {
    capture.emplace_back(frame.capture_ns / 1000);
    complete.emplace_back(frame.complete_ns == kNeverNs ? Json(nullptr) : Json(frame.complete_ns / 1000));
    bytes.emplace_back(frame.bytes);
    sent.emplace_back(frame.sent_ns / 1000);
    key_frame.emplace_back(frame.key_frame ? 1 : 0);
  }
  return {{"capture_time_us", std::move(capture)},
          {"complete_time_us", std::move(complete)},
          {"bytes", std::move(bytes)},
          {"sent_time_us", std::move(sent)},
          {"key_frame", std::move(key_frame)}};
}

Json PathSeries(const Scenario& scenario, const LinkRecorder& recorder) {
  Json capacity = Json::array(), queueing_delay = Json::array();
  const int64_t duration_ns = scenario.duration_ns();
  for (size_t i = 0; i < recorder.queueing_delays_ms().size(); ++i) {
    const int64_t from_ns = static_cast<int64_t>(i) * kSeriesIntervalNs;
    const int64_t step_ns = StepNs(i, duration_ns);
    const auto& trace = scenario.forward.capacity;
    const double capacity_bps = scenario.forward.PolicedBps(
        trace ? static_cast<double>(trace->BitsBetween(from_ns, from_ns + step_ns)) * 1e9 / static_cast<double>(step_ns)
              : std::numeric_limits<double>::infinity());
    capacity.push_back(std::isfinite(capacity_bps) ? Json(std::llround(capacity_bps)) : Json(nullptr));
    queueing_delay.push_back(RoundedMs(recorder.queueing_delays_ms()[i]));
  }
  return {{"interval_s", static_cast<double>(kSeriesIntervalNs) / 1e9},
          {"capacity_bps", std::move(capacity)},
          {"queueing_delay_ms", std::move(queueing_delay)}};
}

}  // namespace weir::sim
