// A path as the guard's rules see it: a packet every 10 ms.
#ifndef WEIR_TESTS_ESTIMATOR_GUARD_WATCHED_PATH_H_
#define WEIR_TESTS_ESTIMATOR_GUARD_WATCHED_PATH_H_

#include <cmath>
#include <memory>
#include <stdexcept>
#include <string_view>

#include "arrival/arrival_history.h"
#include "guard/guard_rule.h"
#include "test_stream.h"
#include "weir/units.h"

namespace weir {

inline std::unique_ptr<GuardRule> MakeRule(std::string_view name) {
  for (const GuardRuleRow& row : GuardRuleTable()) {
    if (row.info.name() == name) return row.make();
  }
  throw std::invalid_argument("no such rule");
}

class WatchedPath {
 public:
  WatchedPath() { arrivals.Start(now); }

  // Sends 100 ms of `rate`, of which `loss_ratio` is lost. Each packet has a queueing delay of `delay`.
  void Pass(DataRate rate, double loss_ratio = 0, TimeDelta delay = TimeDelta::Zero(), bool delay_stands = false) {
    for (int i = 0; i < 10; ++i) {
      now += TimeDelta::Millis(10);
      lost_ += loss_ratio / (1 - loss_ratio);
      const auto bytes = static_cast<uint32_t>((rate * (1 - loss_ratio) * TimeDelta::Millis(10)).bytes());
      Arrival arrival = ArrivalOf(now, bytes, delay, static_cast<int32_t>(lost_));
      arrival.delay_stands = delay_stands;
      lost_ -= std::floor(lost_);
      arrivals.OnArrival(arrival);
    }
    arrivals.OnDecision(now);
  }

  // Does the same without loss, with CE on a share `marked` of the packets.
  void PassMarked(DataRate rate, double marked, TimeDelta delay) {
    for (int i = 0; i < 10; ++i) {
      now += TimeDelta::Millis(10);
      Arrival arrival = ArrivalOf(now, static_cast<uint32_t>((rate * TimeDelta::Millis(10)).bytes()), delay);
      marked_ += marked;
      arrival.packet.ecn = marked_ >= 1 ? EcnMarking::kCe : EcnMarking::kEct1;
      marked_ -= std::floor(marked_);
      arrivals.OnArrival(arrival);
    }
    arrivals.OnDecision(now);
  }

  // The limit that the rule sets on any rate; PlusInfinity if none, except for the rule of bounds.
  DataRate Limit(GuardRule& rule) const { return Apply(rule, DataRate::PlusInfinity()); }

  // The rule's result for the rate that a controller decides.
  DataRate Apply(GuardRule& rule, DataRate decided) const {
    GuardFacts facts = Facts();
    return rule.Apply(decided, facts);
  }

  GuardFacts Facts() const {
    return {.arrivals = arrivals,
            .constraints = constraints,
            .reported = reported,
            .now = now,
            .elapsed = TimeDelta::Millis(100),
            .rate = rate,
            .rate_at_packets = DataRate::KilobitsPerSecond(300)};
  }

  Timestamp now = Timestamp::Seconds(7);
  TargetRateConstraints constraints;
  // True at the sender.
  bool reported = false;
  // The rate in force.
  DataRate rate = DataRate::Zero();
  ArrivalHistory arrivals;

 private:
  double lost_ = 0;
  double marked_ = 0;
};

}  // namespace weir

#endif  // WEIR_TESTS_ESTIMATOR_GUARD_WATCHED_PATH_H_
