// The ten-line rule: the receiver-side baseline that a learned policy has to beat.
#ifndef WEIR_ESTIMATOR_SRC_CONTROLLERS_RULE_CONTROLLER_H_
#define WEIR_ESTIMATOR_SRC_CONTROLLERS_RULE_CONTROLLER_H_

#include "controllers/recent_intervals.h"
#include "weir/interval_controller.h"

namespace weir {

struct RuleOptions {
  // The plain rule decreases the rate in every interval without a packet, even at a target at which packets are further
  // apart (below 96 kbps, at 1200 bytes), and then never leaves the minimum. With this option, an interval in which no
  // packet was due changes nothing. The estimator's fallback and the rule in a pool use it; the baseline does not.
  bool tolerate_sparse_packets = false;
};

// Every 100 ms, with r = receive rate over the last 300 ms and q = smallest queueing delay of the last 100 ms:
//   nothing arrived: target x 0.6;
//   q < 15 ms:       target + 10 %, at most 2 r + 50 kbps;
//   else:            r (1 - (q - 7.5 ms) / 300 ms), at least 0.3 r;
// and always within the constraints. Before the first packet the start rate is held.
class RuleController final : public IntervalController {
 public:
  // Policies around the rule use the same numbers, from weir._core.RULE.
  static constexpr TimeDelta kInterval = TimeDelta::Millis(100);
  static constexpr TimeDelta kRateWindow = kInterval * 3;
  static constexpr double kNoArrivalFactor = 0.6;
  static constexpr double kIncreaseFactor = 1.1;
  static constexpr double kHeadroomFactor = 2;
  static constexpr DataRate kHeadroom = DataRate::KilobitsPerSecond(50);
  static constexpr TimeDelta kQueueThreshold = TimeDelta::Millis(15);
  static constexpr TimeDelta kQueueTarget = TimeDelta::Micros(7500);
  static constexpr TimeDelta kQueueScale = TimeDelta::Millis(300);
  static constexpr double kMinimumBackoff = 0.3;

  explicit RuleController(const RuleOptions& options = {}) : IntervalController(kInterval), options_(options) {}

  std::string_view name() const override { return "rule"; }
  void OnArrival(const Arrival& arrival) override { intervals_.OnArrival(arrival); }

 private:
  DataRate Decide(Timestamp now, TimeDelta elapsed) override;
  bool PacketWasDue(Timestamp now) const;

  RuleOptions options_;
  // The end of the last interval with a packet; MinusInfinity before the first packet.
  Timestamp last_packets_ = Timestamp::MinusInfinity();
  RecentIntervals<kRateWindow.us() / kInterval.us()> intervals_;
};

}  // namespace weir

#endif  // WEIR_ESTIMATOR_SRC_CONTROLLERS_RULE_CONTROLLER_H_
