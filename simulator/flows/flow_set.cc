#include "flows/flow_set.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "core/random.h"
#include "endpoints/controllers.h"
#include "endpoints/rtp_format.h"
#include "media/media_source.h"
#include "media/video_source.h"

namespace weir::sim {
namespace {

template <class... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};

// The flow's own random streams.
constexpr uint64_t kMediaStream = 0;
constexpr uint64_t kDecisionStream = 1;

// libwebrtc allocates to a video that many times its largest bitrate.
constexpr double kVideoProtectionFactor = 2;

std::unique_ptr<MediaSource> MakeMediaSource(const MediaSpec& media, uint32_t overhead_bytes, RandomStream random) {
  const DataRate max_rate = MaxVideoRate(media, overhead_bytes);
  if (media.kind == MediaSpec::Kind::kFiller) return std::make_unique<FillerSource>(overhead_bytes, max_rate);
  return std::make_unique<VideoSource>(media, max_rate, overhead_bytes, random);
}

bool IsRepaired(const MediaSpec& media) { return media.kind == MediaSpec::Kind::kVideo; }

TargetRateConstraints ConstraintsOf(const RtpSpec& rtp, uint32_t overhead_bytes) {
  const DataRate media_rate = std::max(MaxMediaRate(rtp.media, overhead_bytes), rtp.min_rate);
  return {.min_rate = rtp.min_rate,
          .start_rate = std::clamp(rtp.start_rate, rtp.min_rate, media_rate),
          .max_rate = IsRepaired(rtp.media) ? media_rate * kVideoProtectionFactor : media_rate,
          .max_media_rate = media_rate};
}

OracleConfig OracleConfigOf(const Scenario& scenario, const FlowSpec& flow, const Link* link) {
  OracleConfig config{.link = link, .sharing_flows = 0, .cross_traffic = {}};
  for (const FlowSpec& other : scenario.flows) {
    if (other.direction != flow.direction) continue;
    if (const std::optional<DataRate> rate = other.constant_rate()) {
      config.cross_traffic.push_back({other.start_ns, other.stop_ns, rate->bps()});
    } else {
      ++config.sharing_flows;
    }
  }
  return config;
}

DataRate FixedRateOf(const Scenario& scenario, const FlowSpec& flow, const RtpSpec& rtp) {
  if (rtp.fixed_rate) return *rtp.fixed_rate;
  const LinkSpec& link = scenario.link(flow.direction);
  if (!link.capacity) return rtp.start_rate;
  return DataRate::BitsPerSecondF(link.PolicedBps(link.capacity->MeanRateBps(scenario.duration_ns())) / 2);
}

}  // namespace

FlowSet::FlowSet(const SimulationJob& job, Link* forward, Link* reverse, std::span<FlowObserver* const> observers,
                 std::optional<size_t> skipped)
    : job_(job), forward_(forward), reverse_(reverse), flows_(job.scenario.flows.size()) {
  for (size_t i = 0; i < flows_.size(); ++i) {
    if (skipped == i) continue;
    const FlowSpec& spec = job_.scenario.flows[i];
    const bool is_forward = spec.direction == Direction::kForward;
    const FlowContext context{.flow = spec,
                              .data_link = is_forward ? forward_ : reverse_,
                              .return_link = is_forward ? reverse_ : forward_,
                              .observer = observers[i],
                              .seed = job_.random_seed(),
                              .stream = random_streams::Flow(i)};
    const Overloaded start{
        [&](const RtpSpec&) { AddRtpFlow(i, observers[i] ? observers[i] : &null_observer_); },
        [&](const auto& kind) { flows_[i].other = kind.Start(context); },
    };
    std::visit(start, spec.kind);
  }
}

void FlowSet::ProcessArrivals(int64_t until_ns) {
  for (Flow& flow : flows_) {
    if (flow.receiver) flow.receiver->ProcessArrivals(until_ns);
  }
}

std::string FlowSet::ControllerFor(const RtpSpec& rtp, size_t index) const {
  if (rtp.controller != "under_test") return rtp.controller;
  if (!job_.agent) return job_.controller;
  for (size_t i = 0; i < index; ++i) {
    if (flows_[i].controller == kAgentName) return "rule";
  }
  return std::string(kAgentName);
}

void FlowSet::AddRtpFlow(size_t index, FlowObserver* observer) {
  const FlowSpec& spec = job_.scenario.flows[index];
  const auto& rtp = std::get<RtpSpec>(spec.kind);
  const bool is_forward = spec.direction == Direction::kForward;
  Link* const media_link = is_forward ? forward_ : reverse_;
  Link* const rtcp_link = is_forward ? reverse_ : forward_;
  Flow& flow = flows_[index];
  flow.controller = ControllerFor(rtp, index);
  const bool under_test = rtp.controller == "under_test";
  flow.objective = rtp.objective.value_or(under_test ? job_.objective.value_or(kBalanced) : kBalanced);

  const bool repair = IsRepaired(rtp.media);
  const bool transport_cc = rtp.transport_cc && TakesTransportCc(flow.controller);
  const ControllerContext context{.job = job_,
                                  .under_test = under_test,
                                  .receiver_constraints = ConstraintsOf(rtp, OverheadBytes(transport_cc)),
                                  .sender_constraints = ConstraintsOf(rtp, kSendSideOverheadBytes),
                                  .objective = flow.objective,
                                  .transport_cc = transport_cc,
                                  .fixed_rate = FixedRateOf(job_.scenario, spec, rtp),
                                  .oracle = OracleConfigOf(job_.scenario, spec, media_link),
                                  .decision_delay = job_.decision_delay.Draws(
                                      RandomStream(job_.random_seed(), random_streams::Flow(index) + kDecisionStream))};
  FlowController controller = MakeFlowController(flow.controller, context);
  if (controller.agent) agent_ = controller.agent;

  const bool transport_feedback = controller.at_sender && !controller.congestion_control_feedback;
  const uint32_t overhead_bytes = controller.at_sender ? kSendSideOverheadBytes : kRembOverheadBytes;
  const RtpSenderConfig sender_config{
      .flow_index = static_cast<int>(index),
      .start_ns = spec.start_ns,
      .stop_ns = spec.stop_ns,
      .pauses_ns = rtp.pauses_ns,
      .extra_one_way_delay_ns = spec.extra_one_way_delay_ns,
      .clock = rtp.sender_clock,
      // As Chromium with RFC 8888.
      .ecn = controller.congestion_control_feedback ? EcnMarking::kEct1 : EcnMarking::kNotEct,
      .constraints = controller.at_sender ? context.sender_constraints : context.receiver_constraints,
      .repair = repair,
      .fec_frames_per_second = repair && controller.reports_loss ? rtp.media.frames_per_second : 0};
  flow.sender = std::make_unique<RtpSender>(
      sender_config,
      MakeMediaSource(rtp.media, overhead_bytes,
                      RandomStream(job_.random_seed(), random_streams::Flow(index) + kMediaStream)),
      std::move(controller.at_sender), media_link, observer);
  const RtpReceiverConfig receiver_config{.flow_index = static_cast<int>(index),
                                          .start_ns = spec.start_ns,
                                          .stop_ns = spec.stop_ns,
                                          .extra_one_way_delay_ns = spec.extra_one_way_delay_ns,
                                          .wake_on_arrival = controller.wake_on_arrival,
                                          .transport_feedback = transport_feedback,
                                          .congestion_control_feedback = controller.congestion_control_feedback,
                                          .repair = repair};
  flow.receiver = std::make_unique<RtpReceiver>(receiver_config, std::move(controller.at_receiver), rtcp_link,
                                                flow.sender->rtcp_sink(), observer);
  flow.sender->SetReceiver(flow.receiver->rtp_sink());
}

}  // namespace weir::sim
