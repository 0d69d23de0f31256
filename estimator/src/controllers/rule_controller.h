// The ten-line rule: the receiver-side baseline that a learned policy has to beat.
#ifndef WEIR_ESTIMATOR_SRC_CONTROLLERS_RULE_CONTROLLER_H_
#define WEIR_ESTIMATOR_SRC_CONTROLLERS_RULE_CONTROLLER_H_

#include <algorithm>
#include <type_traits>

#include "arrival/sender_gaps.h"
#include "controllers/recent_intervals.h"
#include "weir/interval_controller.h"

namespace weir {

// The ten-line rule, for the controller and for policies around it. With r = receive rate over the last 300 ms and
// q = smallest queueing delay of the last interval:
//   nothing arrived: target x 0.6;
//   q < 15 ms:       target + 10 %, at most 2 r + 50 kbps;
//   else:            r (1 - (q - 7.5 ms) / 300 ms), at least 0.3 r.
struct Rule {
  static constexpr TimeDelta kRateWindow = TimeDelta::Millis(300);
  static constexpr double kNoArrivalFactor = 0.6;
  static constexpr double kIncreaseFactor = 1.1;
  static constexpr double kHeadroomFactor = 2;
  static constexpr DataRate kHeadroom = DataRate::KilobitsPerSecond(50);
  static constexpr TimeDelta kQueueThreshold = TimeDelta::Millis(15);
  static constexpr TimeDelta kQueueTarget = TimeDelta::Micros(7500);
  static constexpr TimeDelta kQueueScale = TimeDelta::Millis(300);
  static constexpr double kMinimumBackoff = 0.3;

  // Returns the target after an interval with packets. DataRate and TimeDelta, or float in bps and seconds.
  template <class Rate, class Delay>
  static Rate AfterArrivals(Rate receive_rate, Delay queueing_delay, Rate target) {
    using Factor = decltype(queueing_delay / queueing_delay);
    if (queueing_delay < In<Delay>(kQueueThreshold)) {
      return std::min(target * static_cast<Factor>(kIncreaseFactor),
                      receive_rate * static_cast<Factor>(kHeadroomFactor) + In<Rate>(kHeadroom));
    }
    const Factor share = Factor{1} - (queueing_delay - In<Delay>(kQueueTarget)) / In<Delay>(kQueueScale);
    return receive_rate * std::max(share, static_cast<Factor>(kMinimumBackoff));
  }

  // Returns the rate that an action around the rule multiplies, in bps. Unlike the controller's target, it never falls
  // while the path is idle: encoders produce less than they may, and stall, and a target tied to the receive rate would
  // follow them down. float32 as in observations and in the exported graph.
  static float BaseRateBps(float receive_rate_bps, float queueing_delay_s, float packets_received, float target_bps) {
    if (!(packets_received > 0)) return target_bps * static_cast<float>(kNoArrivalFactor);
    const float rate_bps = AfterArrivals(receive_rate_bps, queueing_delay_s, target_bps);
    return queueing_delay_s < In<float>(kQueueThreshold) ? std::max(target_bps, rate_bps) : rate_bps;
  }

 private:
  template <class T>
  static constexpr T In(TimeDelta delay) {
    if constexpr (std::is_same_v<T, TimeDelta>)
      return delay;
    else
      return static_cast<T>(delay.seconds());
  }
  template <class T>
  static constexpr T In(DataRate rate) {
    if constexpr (std::is_same_v<T, DataRate>)
      return rate;
    else
      return static_cast<T>(rate.bps());
  }
};

struct RuleOptions {
  // The plain rule decreases the rate in every interval without a packet, even at a target at which packets are further
  // apart (below 96 kbps, at 1200 bytes), and then never leaves the minimum. With this option, an interval in which no
  // packet was due, at the target or after the sender's earlier gaps, changes nothing. The estimator's fallback and the
  // rule in a pool use it; the baseline does not.
  bool tolerate_sparse_packets = false;
};

// `Rule` every 100 ms, within the constraints. Before the first packet the start rate is held.
class RuleController final : public IntervalController {
 public:
  static constexpr TimeDelta kInterval = TimeDelta::Millis(100);

  explicit RuleController(const RuleOptions& options = {}) : IntervalController(kInterval), options_(options) {}

  std::string_view name() const override { return "rule"; }
  void OnArrival(const Arrival& arrival) override {
    intervals_.OnArrival(arrival);
    gaps_.OnArrival(arrival);
  }

 private:
  DataRate Decide(Timestamp now, TimeDelta elapsed) override;
  bool PacketWasDue(Timestamp now) const;
  // True if the present interval, which has no packets yet, is within a gap of the sender.
  bool SenderIsIdle(Timestamp now) const;

  RuleOptions options_;
  // The end of the last interval with a packet; MinusInfinity before the first packet.
  Timestamp last_packets_ = Timestamp::MinusInfinity();
  SenderGaps gaps_;
  RecentIntervals<Rule::kRateWindow.us() / kInterval.us()> intervals_;
};

}  // namespace weir

#endif  // WEIR_ESTIMATOR_SRC_CONTROLLERS_RULE_CONTROLLER_H_
