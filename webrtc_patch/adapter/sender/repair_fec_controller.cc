#include "sender/repair_fec_controller.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "api/environment/environment.h"
#include "modules/include/module_fec_types.h"
#include "modules/video_coding/fec_controller_default.h"
#include "weir/repair_policy.h"

namespace weir {
namespace {

class RepairFecController final : public webrtc::FecController, private webrtc::VCMProtectionCallback {
 public:
  RepairFecController(const webrtc::Environment& environment, std::shared_ptr<const ReturnPath> return_path)
      : environment_(environment), return_path_(std::move(return_path)), table_(environment) {
    table_.SetProtectionCallback(this);
  }

  void SetProtectionCallback(webrtc::VCMProtectionCallback* callback) override { callback_ = callback; }
  void SetProtectionMethod(bool enable_fec, bool enable_nack) override {
    has_nack_ = enable_nack;
    table_.SetProtectionMethod(enable_fec, enable_nack);
  }
  void SetEncodingData(size_t width, size_t height, size_t temporal_layers, size_t max_payload_size) override {
    table_.SetEncodingData(width, height, temporal_layers, max_payload_size);
  }
  void UpdateWithEncodedData(size_t length, webrtc::VideoFrameType type) override {
    table_.UpdateWithEncodedData(length, type);
  }
  bool UseLossVectorMask() override { return table_.UseLossVectorMask(); }

  uint32_t UpdateFecRates(uint32_t estimated_bitrate_bps, int actual_framerate, uint8_t fraction_lost,
                          std::vector<bool> loss_mask, int64_t round_trip_time_ms) override {
    RepairObservation observation;
    observation.at_time = Timestamp::Micros(environment_.clock().TimeInMicroseconds());
    Follow(fraction_lost, round_trip_time_ms, observation.at_time);
    observation.repair_time = RepairPolicy::RepairTimeAtSender(round_trip_time_);
    observation.rate = DataRate::BitsPerSecond(estimated_bitrate_bps);
    observation.loss_ratio = loss_ratio_;
    if (return_path_ != nullptr) observation.nack_loss_ratio = return_path_->loss_ratio();
    policy_.Update(observation);
    return table_.UpdateFecRates(estimated_bitrate_bps, actual_framerate, fraction_lost, std::move(loss_mask),
                                 round_trip_time_ms);
  }

 private:
  // Smooths the loss, which controllers report of about a second, and follows the round trip without its queues: it
  // falls at once and rises slowly.
  void Follow(uint8_t fraction_lost, int64_t round_trip_time_ms, Timestamp now) {
    constexpr double kWholeFraction = 256;
    constexpr TimeDelta kMemory = TimeDelta::Seconds(5);
    const double weight = time_.IsFinite() && now > time_ ? 1 - std::exp((time_ - now) / kMemory) : 0;
    time_ = now;
    loss_ratio_ += weight * (fraction_lost / kWholeFraction - loss_ratio_);
    if (round_trip_time_ms <= 0) return;
    const TimeDelta latest = TimeDelta::Millis(round_trip_time_ms);
    const bool falls = round_trip_time_.IsZero() || latest < round_trip_time_;
    round_trip_time_ = falls ? latest : round_trip_time_ + (latest - round_trip_time_) * weight;
  }

  // The table's request.
  int ProtectionRequest(const webrtc::FecProtectionParams* delta, const webrtc::FecProtectionParams* key,
                        uint32_t* video_bps, uint32_t* nack_bps, uint32_t* fec_bps) override {
    webrtc::FecProtectionParams given_delta = *delta, given_key = *key;
    if (has_nack_ && policy_.repair() != Repair::kFec) given_delta.fec_rate = given_key.fec_rate = 0;
    return callback_->ProtectionRequest(&given_delta, &given_key, video_bps, nack_bps, fec_bps);
  }
  void SetRetransmissionMode(int mode) override { callback_->SetRetransmissionMode(mode); }

  const webrtc::Environment environment_;
  const std::shared_ptr<const ReturnPath> return_path_;
  webrtc::FecControllerDefault table_;
  webrtc::VCMProtectionCallback* callback_ = nullptr;
  bool has_nack_ = false;
  double loss_ratio_ = 0;
  TimeDelta round_trip_time_ = TimeDelta::Zero();
  Timestamp time_ = Timestamp::MinusInfinity();
  RepairPolicy policy_;
};

class RepairFecControllerFactory final : public webrtc::FecControllerFactoryInterface {
 public:
  explicit RepairFecControllerFactory(std::shared_ptr<const ReturnPath> return_path)
      : return_path_(std::move(return_path)) {}
  std::unique_ptr<webrtc::FecController> CreateFecController(const webrtc::Environment& environment) override {
    return std::make_unique<RepairFecController>(environment, return_path_);
  }

 private:
  const std::shared_ptr<const ReturnPath> return_path_;
};

}  // namespace

std::unique_ptr<webrtc::FecControllerFactoryInterface> MakeRepairFecControllerFactory(
    std::shared_ptr<const ReturnPath> return_path) {
  return std::make_unique<RepairFecControllerFactory>(std::move(return_path));
}

}  // namespace weir
