#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "conversions.h"
#include "libwebrtc_globals.h"
#include "libwebrtc_version.h"
#include "rate_controllers.h"
#include "system_wrappers/include/clock.h"

namespace weir {
namespace {

using adapter::SilenceLibwebrtcLog;
using adapter::TimeConverter;

class GccRembController final : public ReceiverController, private webrtc::RemoteBitrateObserver {
 public:
  GccRembController() { SilenceLibwebrtcLog(); }

  std::string_view name() const override { return "gcc-remb"; }

  void OnTargetRateConstraints(const TargetRateConstraints& constraints) override {
    const Timestamp now = constraints.at_time;
    constraints_ = constraints;
    if (!time_) {
      time_.emplace(now);
      clock_.emplace(time_->ToWebrtc(now));
      webrtc::RemoteBitrateObserver* const observer = this;
      estimator_.emplace(observer, &*clock_);
      // The estimator has no start rate: it reports no rate until it has measured one.
      estimate_ = constraints.start_rate;
    }
    Propose(now);
  }

  void OnObjective(const Objective&) override {}

  void OnRoundTripTimeUpdate(const RoundTripTimeUpdate& update) override {
    if (const auto message = time_->ToWebrtc(update)) {
      estimator_->OnRttUpdate(message->round_trip_time.ms());
    }
  }

  void OnArrival(const Arrival& arrival) override {
    if (!arrival.packet.has_abs_send_time || !arrival.packet.arrival_time.IsFinite()) return;
    AdvanceClock(arrival.packet.arrival_time);
    // All packets share one SSRC: the estimator uses SSRCs only to detect that all streams have timed out, and keeps
    // state for each. libwebrtc's receiver counts payload and padding, not the header.
    const size_t payload_size = size_t{arrival.packet.payload_size} + arrival.packet.padding_size;
    estimator_->OnPacket(payload_size, arrival.packet.abs_send_time & 0xFFFFFF);
  }

  void OnTargetApplied(const TargetTransferRate&) override {}

  ReceiverControlUpdate OnTimeout(Timestamp) override {
    ReceiverControlUpdate update;
    if (pending_since_.IsFinite()) {
      update.target_rate = target_rate_;
      pending_since_ = Timestamp::PlusInfinity();
    }
    return update;
  }

  // The estimator has no timer of its own: its estimate changes only on arrivals.
  Timestamp next_timeout() const override { return pending_since_; }

 private:
  void OnReceiveBitrateChanged(const std::vector<uint32_t>&, uint32_t bitrate) override {
    estimate_ = DataRate::BitsPerSecond(bitrate);
    Propose(time_->FromWebrtc(clock_->CurrentTime()));
  }

  void Propose(Timestamp now) {
    const DataRate bounded = std::clamp(estimate_, constraints_.min_rate, constraints_.max_rate);
    if (bounded == target_rate_) return;
    target_rate_ = bounded;
    if (!pending_since_.IsFinite()) pending_since_ = now;
  }

  // The clock never goes back, although arrival times may.
  void AdvanceClock(Timestamp now) {
    const webrtc::TimeDelta step = time_->ToWebrtc(now) - clock_->CurrentTime();
    if (step > webrtc::TimeDelta::Zero()) clock_->AdvanceTime(step);
  }

  TargetRateConstraints constraints_;
  // The first constraints set these three.
  std::optional<TimeConverter> time_;
  std::optional<webrtc::SimulatedClock> clock_;
  std::optional<adapter::AbsSendTimeEstimator> estimator_;

  DataRate estimate_ = DataRate::Zero();
  std::optional<DataRate> target_rate_;
  Timestamp pending_since_ = Timestamp::PlusInfinity();
};

}  // namespace

std::unique_ptr<ReceiverController> MakeGccRembController() { return std::make_unique<GccRembController>(); }

}  // namespace weir
