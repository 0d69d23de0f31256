// libwebrtc's own receiver-side estimator, as an unpatched call has it.
#ifndef WEIR_WEBRTC_PATCH_ADAPTER_LIBWEBRTC_REMB_ESTIMATOR_H_
#define WEIR_WEBRTC_PATCH_ADAPTER_LIBWEBRTC_REMB_ESTIMATOR_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "modules/remote_bitrate_estimator/include/remote_bitrate_estimator.h"
#include "system_wrappers/include/clock.h"

namespace weir::adapter {

// By absolute send time as soon as a packet carries it, by transmission time offset again after 30 packets without: the
// rule of ReceiveSideCongestionController, which libwebrtc keeps private.
class LibwebrtcRembEstimator final : public webrtc::RemoteBitrateEstimator {
 public:
  // Both outlive this.
  LibwebrtcRembEstimator(webrtc::RemoteBitrateObserver* observer, webrtc::Clock* clock);

  void IncomingPacket(int64_t arrival_time_ms, size_t payload_size, const webrtc::RTPHeader& header) override;
  void RemoveStream(uint32_t ssrc) override { estimator_->RemoveStream(ssrc); }
  webrtc::DataRate LatestEstimate() const override { return estimator_->LatestEstimate(); }
  webrtc::TimeDelta Process() override { return estimator_->Process(); }
  void OnRttUpdate(int64_t avg_rtt_ms, int64_t max_rtt_ms) override { estimator_->OnRttUpdate(avg_rtt_ms, max_rtt_ms); }

 private:
  void Pick(bool has_absolute_send_time);

  webrtc::RemoteBitrateObserver* const observer_;
  webrtc::Clock* const clock_;
  std::unique_ptr<webrtc::RemoteBitrateEstimator> estimator_;
  bool uses_absolute_send_time_ = false;
  int packets_without_ = 0;
};

}  // namespace weir::adapter

#endif  // WEIR_WEBRTC_PATCH_ADAPTER_LIBWEBRTC_REMB_ESTIMATOR_H_
