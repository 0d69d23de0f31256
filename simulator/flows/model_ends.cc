// The simulator's own endpoints of an RTP flow.
#include <memory>

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
  explicit ModelEnds(const Flow& flow);

  void ProcessArrivals(SimTime until) override { receiver_->ProcessArrivals(until); }
  PolicyController* agent() override { return controller_.agent; }
  void AddTo(nlohmann::ordered_json& record) const override;
  PlayoutLimits playout_limits() const override { return controller_.playout; }

 private:
  const bool repaired_;
  const ControllerContext context_;
  const FlowController controller_;
  std::unique_ptr<RtpSender> sender_;
  std::unique_ptr<RtpReceiver> receiver_;
};

ModelEnds::ModelEnds(const Flow& flow)
    : repaired_(flow.rtp().media.is_repaired()),
      context_(MakeControllerContext(flow)),
      controller_(MakeFlowController(flow.controller, context_)) {
  const uint32_t overhead_bytes = controller_.at_sender ? kSendSideOverheadBytes : kRembOverheadBytes;
  sender_ = std::make_unique<RtpSender>(
      flow, controller_.at_sender ? context_.sender_constraints : context_.receiver_constraints, controller_,
      MakeMediaSource(flow.rtp().media, overhead_bytes, flow.Random(Flow::kMediaStream)));
  receiver_ = std::make_unique<RtpReceiver>(flow, controller_, sender_->rtcp_sink());
  sender_->SetReceiver(receiver_->rtp_sink());
}

void ModelEnds::AddTo(nlohmann::ordered_json& record) const {
  record["feedback_packets_sent"] = receiver_->rtcp_packets_sent();
  record["feedback_packets_lost"] = sender_->rtcp_packets_lost();
  if (repaired_) {
    record["retransmitted_packets_sent"] = sender_->retransmitted_packets_sent();
    record["nack_count"] = receiver_->nack_count();
    record["pli_count"] = receiver_->pli_count();
  }
  if (const BandwidthEstimator* const estimator = controller_.at_receiver.get())
    AddEstimator(estimator->counters(), PoolIn(estimator->controller()), record);
}

}  // namespace

std::unique_ptr<RtpEnds> MakeModelEnds(const Flow& flow) { return std::make_unique<ModelEnds>(flow); }

}  // namespace weir::sim
