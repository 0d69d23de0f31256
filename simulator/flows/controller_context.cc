#include "flows/controller_context.h"

#include <algorithm>
#include <optional>

#include "endpoints/rtp_format.h"

namespace weir::sim {
namespace {

// libwebrtc allocates this multiple of a video's maximum bitrate.
constexpr double kVideoProtectionFactor = 2;

TargetRateConstraints ConstraintsOf(const RtpSpec& rtp, uint32_t overhead_bytes) {
  const DataRate media_rate = std::max(MaxMediaRate(rtp.media, overhead_bytes), rtp.min_rate);
  return {.min_rate = rtp.min_rate,
          .start_rate = std::clamp(rtp.start_rate, rtp.min_rate, media_rate),
          .max_rate = rtp.media.is_repaired() ? media_rate * kVideoProtectionFactor : media_rate,
          .max_media_rate = media_rate};
}

OracleConfig OracleConfigOf(const Scenario& scenario, const FlowSpec& flow, const Link* link) {
  OracleConfig config{.link = link, .sharing_flows = 0, .cross_traffic = {}};
  for (const FlowSpec& other : scenario.flows) {
    if (other.direction != flow.direction) continue;
    if (const std::optional<DataRate> rate = other.constant_rate()) {
      config.cross_traffic.push_back({other.start, other.stop, rate->bps()});
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
  return DataRate::BitsPerSecondF(link.PolicedBps(link.capacity->MeanRateBps(scenario.duration)) / 2);
}

}  // namespace

ControllerContext MakeControllerContext(const Flow& flow) {
  const SimulationJob& job = flow.job;
  const FlowSpec& spec = flow.spec();
  const RtpSpec& rtp = flow.rtp();
  const bool transport_cc = rtp.transport_cc && TakesTransportCc(flow.controller);
  return {.job = job,
          .under_test = flow.is_under_test(),
          .receiver_constraints = ConstraintsOf(rtp, OverheadBytes(transport_cc)),
          .sender_constraints = ConstraintsOf(rtp, kSendSideOverheadBytes),
          .objective = flow.objective,
          .transport_cc = transport_cc,
          .fixed_rate = FixedRateOf(job.scenario, spec, rtp),
          .oracle = OracleConfigOf(job.scenario, spec, flow.data_link),
          .decision_delay = job.decision_delay.Draws(flow.Random(Flow::kDecisionStream))};
}

}  // namespace weir::sim
