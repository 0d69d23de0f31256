#include "endpoints/mocc_controller.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

#include "weir/interval_controller.h"

namespace weir::sim {
namespace {

// Latencies above the base in one interval.
class Latencies {
 public:
  void Add(Timestamp time, TimeDelta delay) {
    if (count_ == 0) origin_ = time;
    ++count_;
    min_ = std::min(min_, delay);
    max_ = std::max(max_, delay);
    const double t = (time - origin_).seconds(), d = delay.seconds();
    sum_t_ += t;
    sum_d_ += d;
    sum_tt_ += t * t;
    sum_td_ += t * d;
  }

  bool any() const { return count_ > 0; }
  TimeDelta mean() const { return TimeDelta::SecondsF(sum_d_ / count_); }
  TimeDelta min() const { return min_; }
  TimeDelta max() const { return max_; }
  // Slope over time, by least squares.
  double Gradient() const {
    const double variance = sum_tt_ - sum_t_ * sum_t_ / count_;
    return variance > 1e-9 ? (sum_td_ - sum_t_ * sum_d_ / count_) / variance : 0;
  }

 private:
  double count_ = 0;
  Timestamp origin_ = Timestamp::MinusInfinity();
  TimeDelta min_ = TimeDelta::PlusInfinity();
  TimeDelta max_ = TimeDelta::Zero();
  double sum_t_ = 0, sum_d_ = 0, sum_tt_ = 0, sum_td_ = 0;
};

class MoccController final : public IntervalController {
 public:
  explicit MoccController(MoccSender sender) : IntervalController(sender.interval()), sender_(std::move(sender)) {}

  std::string_view name() const override { return "mocc"; }

  void OnObjective(const Objective& objective) override { sender_.Register(objective); }
  void OnRoundTripTimeUpdate(const RoundTripTimeUpdate& update) override {
    if (IsRoundTripTime(update.round_trip_time)) round_trip_time_ = std::min(round_trip_time_, update.round_trip_time);
  }
  void OnArrival(const Arrival& arrival) override {
    ++packets_;
    size_ += arrival.packet.size();
    lost_ += arrival.lost_change;
    if (arrival.has_delay) latencies_.Add(arrival.packet.arrival_time, arrival.queueing_delay);
  }

 private:
  DataRate Decide(Timestamp, TimeDelta elapsed) override {
    const TimeDelta base = (round_trip_time_.IsFinite() ? round_trip_time_ : kAssumedRoundTripTime) * 0.5;
    const int64_t lost = std::max<int64_t>(lost_, 0);
    MoccStatus status{.interval = std::min(elapsed, MoccStatus::kMaxInterval),
                      .packets_acknowledged = static_cast<double>(packets_),
                      .packets_lost = static_cast<double>(lost),
                      .base_latency = base};
    status.throughput = size_ / status.interval;
    if (packets_ > 0) {
      status.sending_ratio = static_cast<double>(packets_ + lost) / static_cast<double>(packets_);
    } else if (lost > 0) {
      status.sending_ratio = 100;
    }
    if (latencies_.any()) {
      latency_ = latencies_.mean();
      status.latency_gradient = latencies_.Gradient();
      status.min_latency = base + latencies_.min();
      status.max_latency = base + latencies_.max();
    }
    status.latency_ratio = (base + latency_) / base;
    static_cast<void>(sender_.ReportStatus(status));
    packets_ = 0;
    size_ = DataSize::Zero();
    // Packets that arrived late after they had counted as lost.
    lost_ -= lost;
    latencies_ = {};
    return sender_.sending_rate();
  }

  MoccSender sender_;
  // The smallest so far.
  TimeDelta round_trip_time_ = TimeDelta::PlusInfinity();
  // The mean of the latest interval with packets, above the base.
  TimeDelta latency_ = TimeDelta::Zero();

  // The present interval.
  int64_t packets_ = 0;
  DataSize size_ = DataSize::Zero();
  int64_t lost_ = 0;
  Latencies latencies_;
};

}  // namespace

std::unique_ptr<ReceiverController> MakeMoccController(MoccSender sender) {
  return std::make_unique<MoccController>(std::move(sender));
}

}  // namespace weir::sim
