#include <utility>

#include "endpoints/controllers.h"
#include "flows/controller_context.h"
#include "programs/input.h"
#include "virtual_call/downlink_estimator.h"

namespace weir::sim {
namespace {

class WeirDownlinkEstimator final : public DownlinkEstimator {
 public:
  explicit WeirDownlinkEstimator(SendSideEstimator estimator) : estimator_(std::move(estimator)) {}

  void OnSentPacket(const PacketDeparture& packet) override { estimator_.OnSentPacket(packet); }
  void OnTransportFeedback(std::span<const PacketFeedback> feedback, Timestamp now) override {
    estimator_.OnTransportFeedback(feedback, now);
  }
  void OnRoundTripTime(TimeDelta round_trip_time, Timestamp) override { estimator_.OnRoundTripTime(round_trip_time); }
  void OnTimeout(Timestamp now) override {
    if (estimator_.next_timeout() <= now) estimator_.OnTimeout(now);
  }
  void SetDesiredRate(const DesiredRate& desired, Timestamp) override {
    if (const auto error = estimator_.SetDesiredRate(desired)) throw ProgramError(error->message, kFailed);
  }
  std::optional<ProbeClusterConfig> TakeProbeCluster() override { return estimator_.TakeProbeCluster(); }
  DataRate target_rate() const override { return estimator_.target_rate().target_rate; }

 private:
  SendSideEstimator estimator_;
};

}  // namespace

std::unique_ptr<DownlinkEstimator> MakeWeirDownlinkEstimator(const Flow& flow) {
  const ControllerContext context = MakeControllerContext(flow);
  const SendSideEstimatorConfig config{.estimator = {.constraints = {.start_rate = kDownlinkStartRate},
                                                     .objective = flow.objective,
                                                     .guard_rules = flow.job.guard_rules}};
  return std::make_unique<WeirDownlinkEstimator>(
      OrThrow(SendSideEstimator::Create(config, MakeArrivalController("weir-send", context))));
}

}  // namespace weir::sim
