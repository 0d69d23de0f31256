#include "estimator_cpu_time.h"

#include <utility>

#include "modules/congestion_controller/include/remote_bitrate_estimator_factory.h"
#include "modules/remote_bitrate_estimator/include/remote_bitrate_estimator.h"
#include "program/monotonic_clock.h"

namespace weir::peer {
namespace {

int64_t ThreadNanos() { return ClockNs(CLOCK_THREAD_CPUTIME_ID); }

class MeasuredEstimator final : public webrtc::RemoteBitrateEstimator {
 public:
  MeasuredEstimator(std::unique_ptr<webrtc::RemoteBitrateEstimator> estimator, std::shared_ptr<CpuTime> total)
      : estimator_(std::move(estimator)), total_(std::move(total)) {}

  void IncomingPacket(const webrtc::RtpPacketReceived& packet) override {
    const Measurement measurement(*total_);
    estimator_->IncomingPacket(packet);
  }
  void RemoveStream(uint32_t ssrc) override { estimator_->RemoveStream(ssrc); }
  webrtc::DataRate LatestEstimate() const override { return estimator_->LatestEstimate(); }
  webrtc::TimeDelta Process() override {
    const Measurement measurement(*total_);
    return estimator_->Process();
  }
  void OnRttUpdate(int64_t average_ms, int64_t max_ms) override { estimator_->OnRttUpdate(average_ms, max_ms); }

 private:
  class Measurement {
   public:
    explicit Measurement(CpuTime& total) : total_(total) {}
    ~Measurement() { total_.fetch_add(ThreadNanos() - begin_, std::memory_order_relaxed); }
    Measurement(const Measurement&) = delete;
    Measurement& operator=(const Measurement&) = delete;

   private:
    CpuTime& total_;
    const int64_t begin_ = ThreadNanos();
  };

  const std::unique_ptr<webrtc::RemoteBitrateEstimator> estimator_;
  const std::shared_ptr<CpuTime> total_;
};

class MeasuringFactory final : public webrtc::RemoteBitrateEstimatorFactory {
  using RtcpSender = webrtc::RtpTransportFeedbackGenerator::RtcpSender;

 public:
  MeasuringFactory(std::shared_ptr<webrtc::RemoteBitrateEstimatorFactory> factory, std::shared_ptr<CpuTime> total)
      : factory_(std::move(factory)), total_(std::move(total)) {}

  std::unique_ptr<webrtc::RemoteBitrateEstimator> Create(const webrtc::Environment& environment,
                                                         webrtc::RemoteBitrateObserver* observer,
                                                         RtcpSender rtcp_sender) override {
    auto estimator = factory_->Create(environment, observer, std::move(rtcp_sender));
    if (estimator == nullptr) return nullptr;
    return std::make_unique<MeasuredEstimator>(std::move(estimator), total_);
  }
  bool WantsTransportSequenceNumbers() const override { return factory_->WantsTransportSequenceNumbers(); }

 private:
  const std::shared_ptr<webrtc::RemoteBitrateEstimatorFactory> factory_;
  const std::shared_ptr<CpuTime> total_;
};

}  // namespace

void MeasureEstimators(std::shared_ptr<CpuTime> total) {
  if (auto factory = webrtc::GetRemoteBitrateEstimatorFactory())
    webrtc::SetRemoteBitrateEstimatorFactory(std::make_shared<MeasuringFactory>(std::move(factory), std::move(total)));
}

}  // namespace weir::peer
