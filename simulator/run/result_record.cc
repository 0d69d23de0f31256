#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "endpoints/achievable.h"
#include "endpoints/rtp_format.h"
#include "flows/flow_recorder.h"
#include "rate_controllers.h"
#include "run/run.h"
#include "run/series_record.h"
#include "weir/controllers.h"

namespace weir::sim {
namespace {

using Json = nlohmann::ordered_json;

// Quotients, which are exact to the nanosecond; products are not.
double Seconds(SimDuration duration) { return static_cast<double>(duration.ns()) / 1e9; }
double Seconds(SimTime time) { return Seconds(time - kTimeZero); }
double Milliseconds(SimDuration duration) { return static_cast<double>(duration.ns()) / 1e6; }
double Rounded(double value, double steps_per_unit) { return std::round(value * steps_per_unit) / steps_per_unit; }

// A name, or pilot, copilots and fusion as in a scenario.
Json CongestionControlRecord(const TcpSpec& tcp) {
  const std::string_view pilot = ToString(tcp.congestion_control);
  if (tcp.copilots.empty()) return pilot;
  Json copilots = Json::array();
  for (const TcpCongestionControl copilot : tcp.copilots) copilots.push_back(ToString(copilot));
  return {{"pilot", pilot}, {"copilots", std::move(copilots)}, {"fusion", ToString(tcp.fusion)}};
}

// The mean over the scenario if the delay changes.
SimDuration OneWayDelay(const LinkSpec& link, const Scenario& scenario) {
  const auto ns = [](SimDuration delay) { return static_cast<double>(delay.ns()); };
  return SimDuration::Nanos(std::llround(link.one_way_delay.Mean(scenario.duration, ns)));
}

Json PathRecord(const Scenario& scenario) {
  const LinkSpec& link = scenario.forward;
  Json record{{"one_way_delay_ms", Milliseconds(OneWayDelay(link, scenario))}};
  const double capacity_bps = link.PolicedBps(link.capacity ? link.capacity->MeanRateBps(scenario.duration)
                                                            : std::numeric_limits<double>::infinity());
  record["mean_capacity_bps"] = std::isfinite(capacity_bps) ? Json(Rounded(capacity_bps, 1e3)) : Json(nullptr);
  record["queue_bytes"] = nullptr;
  if (!link.capacity) return record;
  const int64_t limit = QueueLimit(link, scenario.duration);
  record["queue_bytes"] = link.queue.unit == QueueSpec::Unit::kPackets ? limit * kMaxPacketBytes : limit;
  return record;
}

Json DelayRecord(const DelayDistribution& distribution) {
  if (distribution.empty()) return nullptr;
  const DelaySummary delays = distribution.Summary();
  return {{"mean", Rounded(delays.mean_ms, 1e6)}, {"p5", Rounded(delays.p5_ms, 1e6)},
          {"p50", Rounded(delays.p50_ms, 1e6)},   {"p95", Rounded(delays.p95_ms, 1e6)},
          {"p99", Rounded(delays.p99_ms, 1e6)},   {"max", Rounded(delays.max_ms, 1e6)}};
}

Json PausesRecord(const Pauses& pauses) {
  Json record = Json::array();
  for (const auto& [from, to] : pauses) record.push_back({Seconds(from), Seconds(to)});
  return record;
}

Json FlowRecord(const SimulationJob& job, Simulation& simulation, size_t index, FlowRecorder& recorder) {
  const Scenario& scenario = job.scenario;
  const FlowSpec& flow = scenario.flows[index];
  const bool is_forward = flow.direction == Direction::kForward;
  const LinkSpec& link = scenario.link(flow.direction);
  const FlowSet::Entry& ends = simulation.flows()[index];
  const RtpEnds* const rtp_ends = ends.rtp.get();
  Json record{{"id", flow.id}, {"kind", flow.kind_name()}};
  record["controller"] = rtp_ends ? Json(ends.flow.controller) : Json(nullptr);
  if (const auto* tcp = std::get_if<TcpSpec>(&flow.kind)) {
    record["congestion_control"] = CongestionControlRecord(*tcp);
  }
  record["direction"] = is_forward ? "forward" : "reverse";
  record["start_s"] = Seconds(flow.start);
  record["stop_s"] = Seconds(flow.stop);
  if (const auto* rtp = std::get_if<RtpSpec>(&flow.kind)) {
    if (!rtp->pauses.empty()) record["pauses_s"] = PausesRecord(rtp->pauses);
    if (!rtp->media.video_pauses.empty()) record["video_pauses_s"] = PausesRecord(rtp->media.video_pauses);
  }
  record["base_one_way_delay_ms"] = Milliseconds(OneWayDelay(link, scenario) + flow.extra_one_way_delay);
  record["packets_sent"] = recorder.packets_sent;
  record["bytes_sent"] = recorder.bytes_sent;
  record["packets_received"] = recorder.packets_received;
  record["bytes_received"] = recorder.bytes_received;
  record["packets_lost"] = recorder.packets_lost;
  record["packets_lost_by_cause"] = {{"chance", recorder.packets_lost_by_chance},
                                     {"policer", recorder.packets_lost_at_policer},
                                     {"queue", recorder.packets_lost_at_queue}};
  // On an unlimited link without a policer, only media bounds the throughput.
  record["achievable_bytes"] =
      link.capacity || link.loss.kind == LossSpec::Kind::kPolicer || rtp_ends
          ? Json(std::llround(AchievableThroughput(scenario, flow).BitsUntil(scenario.end()) / 8))
          : Json(nullptr);
  record["one_way_delay_ms"] = DelayRecord(recorder.delays);
  if (!link.one_way_delay.is_constant()) record["queueing_delay_ms"] = DelayRecord(recorder.queueing_delays);
  record["seconds_above_400_ms"] = Seconds(recorder.above_400_ms);
  if (rtp_ends) rtp_ends->AddTo(record);
  if (!recorder.steps.empty()) record["series"] = FlowSeries(recorder, scenario.duration, rtp_ends != nullptr);
  if (recorder.frames && rtp_ends)
    record["series"]["frames"] = FrameSeries(*recorder.frames, rtp_ends->playout_limits(), scenario.end());
  if (rtp_ends && rtp_ends->follows_frames() && !recorder.steps.empty())
    record["series"]["frames"] = rtp_ends->FrameColumns();
  return record;
}

// Makes the recorder of an RTP flow record its frames, unless its stack does.
void FollowFrames(const FlowSet::Entry& ends, FlowRecorder& recorder) {
  if (!ends.rtp || ends.rtp->follows_frames()) return;
  const Flow& flow = ends.flow;
  const SimDuration back = OneWayDelay(flow.return_link->spec(), flow.job.scenario) + flow.spec().extra_one_way_delay;
  const bool repaired = flow.rtp().media.is_repaired();
  recorder.frames = std::make_unique<FrameRecorder>(repaired ? std::nullopt : std::optional(back));
}

}  // namespace

Json RunJob(const SimulationJob& job, bool series, const MakeStack& make_stack) {
  const Scenario& scenario = job.scenario;
  std::vector<std::unique_ptr<FlowRecorder>> recorders;
  std::vector<FlowObserver*> observers;
  for (size_t i = 0; i < scenario.flows.size(); ++i) {
    const FlowSpec& flow = scenario.flows[i];
    const LinkSpec& link = scenario.link(flow.direction);
    recorders.push_back(
        std::make_unique<FlowRecorder>(scenario.duration, flow.stop, series, !link.one_way_delay.is_constant()));
    observers.push_back(recorders.back().get());
  }
  std::optional<LinkRecorder> link_recorder;
  Simulation simulation(job, observers, make_stack);
  for (size_t i = 0; series && i < scenario.flows.size(); ++i) FollowFrames(simulation.flows()[i], *recorders[i]);
  if (series) link_recorder.emplace(&simulation.forward(), scenario.duration);
  simulation.Run();

  const Objective objective = job.objective.value_or(kBalanced);
  Json record{{"schema", "weir.result/1"},
              {"scenario", scenario.name},
              {"controller", job.controller},
              {"objective",
               {Rounded(objective.throughput, 1e6), Rounded(objective.latency, 1e6), Rounded(objective.loss, 1e6)}},
              {"seed", job.seed},
              {"versions", Versions()},
              {"duration_s", Seconds(scenario.duration)},
              {"path", PathRecord(scenario)},
              {"flows", Json::array()}};
  for (size_t i = 0; i < scenario.flows.size(); ++i) {
    recorders[i]->Finish();
    record["flows"].push_back(FlowRecord(job, simulation, i, *recorders[i]));
  }
  if (link_recorder) {
    link_recorder->Finish();
    record["series"] = PathSeries(scenario, *link_recorder);
  }
  return record;
}

nlohmann::ordered_json Versions() {
  return {{"weir", WEIR_VERSION},
          {"ns3", WEIR_NS3_VERSION},
          {"libwebrtc", LibwebrtcVersion()},
          {"onnxruntime", OnnxRuntimeVersion()}};
}

}  // namespace weir::sim
