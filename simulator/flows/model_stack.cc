// The simulator's own endpoints as a stack.
#include <ns3/simulator.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "core/random.h"
#include "endpoints/rtp_format.h"
#include "endpoints/rtp_receiver.h"
#include "endpoints/rtp_sender.h"
#include "flows/controller_context.h"
#include "flows/estimator_record.h"
#include "flows/stack.h"
#include "media/media_source.h"
#include "media/video_source.h"

namespace weir::sim {
namespace {

std::unique_ptr<MediaSource> MakeMediaSource(const MediaSpec& media, uint32_t overhead_bytes, RandomStream random) {
  const DataRate max_rate = MaxVideoRate(media, overhead_bytes);
  if (media.kind == MediaSpec::Kind::kFiller) return std::make_unique<FillerSource>(overhead_bytes, max_rate);
  return std::make_unique<VideoSource>(media, max_rate, overhead_bytes, random);
}

class ModelEnds final : public RtpEnds {
 public:
  explicit ModelEnds(const RtpFlowContext& flow);

  void ProcessArrivals(int64_t until_ns) override { receiver_->ProcessArrivals(until_ns); }
  PolicyController* agent() override { return agent_; }
  void AddTo(nlohmann::ordered_json& record) const override;

 private:
  const bool repair_;
  std::unique_ptr<RtpSender> sender_;
  std::unique_ptr<RtpReceiver> receiver_;
  PolicyController* agent_ = nullptr;
};

ModelEnds::ModelEnds(const RtpFlowContext& flow) : repair_(IsRepaired(RtpOf(flow).media)) {
  const FlowSpec& spec = FlowOf(flow);
  const RtpSpec& rtp = RtpOf(flow);
  const ControllerContext context = MakeControllerContext(flow);
  FlowController controller = MakeFlowController(flow.controller, context);
  agent_ = controller.agent;

  const bool transport_feedback = controller.at_sender && !controller.congestion_control_feedback;
  const uint32_t overhead_bytes = controller.at_sender ? kSendSideOverheadBytes : kRembOverheadBytes;
  const RtpSenderConfig sender_config{
      .flow_index = static_cast<int>(flow.index),
      .start_ns = spec.start_ns,
      .stop_ns = spec.stop_ns,
      .pauses_ns = rtp.pauses_ns,
      .extra_one_way_delay_ns = spec.extra_one_way_delay_ns,
      .clock = rtp.sender_clock,
      // As Chromium does with RFC 8888.
      .ecn = controller.congestion_control_feedback ? EcnMarking::kEct1 : EcnMarking::kNotEct,
      .constraints = controller.at_sender ? context.sender_constraints : context.receiver_constraints,
      .repair = repair_,
      .fec_frames_per_second = repair_ && controller.reports_loss ? rtp.media.frames_per_second : 0};
  sender_ = std::make_unique<RtpSender>(
      sender_config,
      MakeMediaSource(rtp.media, overhead_bytes,
                      RandomStream(flow.job.random_seed(), random_streams::Flow(flow.index) + kMediaStream)),
      std::move(controller.at_sender), flow.media_link, flow.observer);
  const RtpReceiverConfig receiver_config{.flow_index = static_cast<int>(flow.index),
                                          .start_ns = spec.start_ns,
                                          .stop_ns = spec.stop_ns,
                                          .extra_one_way_delay_ns = spec.extra_one_way_delay_ns,
                                          .wake_on_arrival = controller.wake_on_arrival,
                                          .transport_feedback = transport_feedback,
                                          .congestion_control_feedback = controller.congestion_control_feedback,
                                          .repair = repair_};
  receiver_ = std::make_unique<RtpReceiver>(receiver_config, std::move(controller.at_receiver), flow.rtcp_link,
                                            sender_->rtcp_sink(), flow.observer);
  sender_->SetReceiver(receiver_->rtp_sink());
}

void ModelEnds::AddTo(nlohmann::ordered_json& record) const {
  record["feedback_packets_sent"] = receiver_->rtcp_packets_sent();
  record["feedback_packets_lost"] = sender_->rtcp_packets_lost();
  if (repair_) {
    record["retransmitted_packets_sent"] = sender_->retransmitted_packets_sent();
    record["nack_count"] = receiver_->nack_count();
    record["pli_count"] = receiver_->pli_count();
  }
  if (const BandwidthEstimator* const estimator = receiver_->estimator())
    AddEstimator(estimator->counters(), PoolIn(estimator->controller()), record);
}

class ModelStack final : public Stack {
 public:
  std::unique_ptr<RtpEnds> AddRtpFlow(const RtpFlowContext& context) override {
    return std::make_unique<ModelEnds>(context);
  }
  void Run() override { ns3::Simulator::Run(); }
};

}  // namespace

std::unique_ptr<Stack> MakeModelStack(const SimulationJob&) { return std::make_unique<ModelStack>(); }

}  // namespace weir::sim
