#include "endpoints/ndtc_controller.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "weir/interval_controller.h"

namespace weir::sim {
namespace {

// The draft's table of parameters. Durations of reception and sending are fractions of the frame's period.
constexpr double kMinTargetBytes = 2000;
constexpr double kMinLengthBytes = kMinTargetBytes / 2;
constexpr double kReceiveShare = 0.6;
constexpr double kSendShare = 0.5 * kReceiveShare;
constexpr double kLongestReceiveShare = 3;
constexpr int kIterations = 3;
constexpr double kAlphaBytes = 40;
constexpr double kBeta = 0.7;
constexpr double kLambda = 0.04;
constexpr double kMarginFactor = 0.25;

constexpr TimeDelta kInterval = TimeDelta::Millis(50);
constexpr TimeDelta kUsualPeriod = TimeDelta::Micros(33'333);
constexpr TimeDelta kShortestPeriod = TimeDelta::Millis(1);
constexpr TimeDelta kLongestPeriod = TimeDelta::Seconds(1);

// Frame Dithering Available Capacity Estimation: a regression of the seconds per byte received on those per byte sent.
class CapacityEstimate {
 public:
  void Add(double sent, double received) {
    const double weight = std::max(kLambda, 1 / ++count_);
    const double sent_change = sent - mean_sent_, received_change = received - mean_received_;
    mean_sent_ += weight * sent_change;
    mean_received_ += weight * received_change;
    const auto decayed = [weight](double value, double product) { return (1 - weight) * (value + weight * product); };
    variance_sent_ = decayed(variance_sent_, sent_change * sent_change);
    variance_received_ = decayed(variance_received_, received_change * received_change);
    covariance_ = decayed(covariance_, sent_change * received_change);
  }

  double BytesPerSecond() const {
    const bool related = variance_sent_ > 0 && covariance_ > 0;
    const double slope = related ? std::min(covariance_ / variance_sent_, 1.0) : 0;
    const double intercept = std::max(mean_received_ - slope * mean_sent_, 0.0);
    double estimate = mean_received_;
    for (int i = 0; i < kIterations; ++i) estimate = slope * estimate + intercept;
    if (variance_sent_ > 0 && variance_received_ > 0) {
      const double explained = covariance_ * covariance_ / (variance_sent_ * variance_received_);
      estimate += kMarginFactor * std::sqrt(variance_received_) * std::max(1 - explained, 0.0);
    }
    return 1 / estimate;
  }

 private:
  double count_ = 0;
  double mean_sent_ = 0, mean_received_ = 0;
  double variance_sent_ = 0, variance_received_ = 0, covariance_ = 0;
};

class NdtcController final : public IntervalController {
 public:
  NdtcController() : IntervalController(kInterval) {}

  std::string_view name() const override { return "ndtc"; }

  void OnTargetRateConstraints(const TargetRateConstraints& constraints) override {
    const bool first = !started();
    IntervalController::OnTargetRateConstraints(constraints);
    if (!first) return;
    target_bytes_ = Bytes(constraints.start_rate);
    congestion_bytes_ = MaxTargetBytes();
  }

  void OnArrival(const Arrival& arrival) override {
    const PacketArrival& packet = arrival.packet;
    if (packet.kind != PacketKind::kVideo || packet.rtp_clock_rate == 0) return;
    const auto later = static_cast<int32_t>(packet.rtp_timestamp - frame_.rtp_timestamp);
    if (frame_.packets > 0 && later < 0) return;
    if (frame_.packets == 0 || later > 0) {
      if (frame_.packets > 0) {
        period_ = std::clamp(TimeDelta::Micros(int64_t{later} * 1'000'000 / packet.rtp_clock_rate), kShortestPeriod,
                             kLongestPeriod);
        EndFrame(packet.arrival_time);
      }
      frame_ = {.rtp_timestamp = packet.rtp_timestamp,
                .first_sent = packet.abs_send_time,
                .first_arrival = packet.arrival_time,
                .first_bytes = packet.payload_size};
    }
    ++frame_.packets;
    frame_.lost = frame_.lost || arrival.lost_change > 0;
    frame_.bytes += packet.payload_size;
    frame_.last_sent = packet.abs_send_time;
    frame_.last_arrival = packet.arrival_time;
    frame_.last_bytes = packet.payload_size;
    frame_.header_bytes += packet.header_size;
  }

 private:
  struct Frame {
    uint32_t rtp_timestamp = 0;
    uint32_t first_sent = 0, last_sent = 0;  // abs-send-time
    Timestamp first_arrival = Timestamp::MinusInfinity(), last_arrival = Timestamp::MinusInfinity();
    uint32_t first_bytes = 0, last_bytes = 0;
    int packets = 0;
    uint32_t bytes = 0, header_bytes = 0;
    bool lost = false;

    double SendSeconds() const {
      const uint32_t ticks = (last_sent - first_sent) & 0xFFFFFF;
      return ticks < 0x800000 ? ticks / static_cast<double>(1 << 18) : 0;
    }
  };

  DataRate Decide(Timestamp, TimeDelta) override {
    return DataRate::BitsPerSecondF(8 * target_bytes_ * with_headers_ / period_.seconds());
  }
  double Bytes(DataRate rate) const { return static_cast<double>(rate.bps()) / 8 * period_.seconds(); }
  double MaxTargetBytes() const { return Bytes(std::min(constraints().max_media_rate, constraints().max_rate)); }

  void EndFrame(Timestamp now) {
    // Each duration excludes one of the packets at the ends.
    const double length = frame_.bytes - (frame_.first_bytes + frame_.last_bytes) / 2.0;
    const double received_s =
        std::min((frame_.last_arrival - frame_.first_arrival).seconds(), kLongestReceiveShare * period_.seconds());
    if (frame_.packets > 1 && length >= kMinLengthBytes && !frame_.lost && received_s > 0) {
      capacity_.Add(frame_.SendSeconds() / length, received_s / length);
      target_bytes_ = std::min(kReceiveShare * period_.seconds() * capacity_.BytesPerSecond(), MaxTargetBytes());
      with_headers_ = 1 + static_cast<double>(frame_.header_bytes) / frame_.bytes;
    }
    const double most_bytes = target_bytes_ * kReceiveShare / kSendShare;
    const bool suppressed = now - latest_decrease_ < round_trip_time();
    if (!suppressed && frame_.lost) {
      congestion_bytes_ = std::min(congestion_bytes_, most_bytes) * kBeta;
      latest_decrease_ = now;
    } else if (!suppressed && congestion_bytes_ < most_bytes) {
      congestion_bytes_ = std::min(congestion_bytes_ + kAlphaBytes, most_bytes);
    }
    target_bytes_ = std::max(std::min({target_bytes_, congestion_bytes_, most_bytes}), kMinTargetBytes);
  }

  TimeDelta period_ = kUsualPeriod;
  Frame frame_;
  CapacityEstimate capacity_;
  // The draft's TARGET and CSIZE.
  double target_bytes_ = 0;
  double congestion_bytes_ = 0;
  double with_headers_ = 1;
  Timestamp latest_decrease_ = Timestamp::MinusInfinity();
};

}  // namespace

std::unique_ptr<ReceiverController> MakeNdtcController() { return std::make_unique<NdtcController>(); }

}  // namespace weir::sim
