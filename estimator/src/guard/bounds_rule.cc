// The two rules without a switch:
//   finite: a rate that is infinite, zero or negative is replaced by the rate in force.
//   bounds: min_rate <= rate <= max_rate, and rate <= (1 + R) max_media_rate, R = min(1, 20 L) being room for repair. R
//     is 1 while frames are few: a pacer that sends a frame at the rate of the media takes until the next one.
//
// This is where the target of a controller, which is untrusted, is bounded; the rules after it and the hosts keep to
// it. Two rates do not pass here: a rate that probes have shown (BandwidthEstimator::OnProbeResult, SenderTarget), and
// the start rate (Validated).
//
// L is the loss ratio of media alone, measured for five to ten seconds without room for repair. It is not measured with
// room, since the repair itself may cause the loss. It then decays until there is no room and it is measured again, or
// until more is lost. It counts as at most the mean loss ratio of the last ten seconds.
#include <algorithm>
#include <cstddef>

#include "guard/guard_rule.h"

namespace weir {
namespace {

// A loss of 5 % touches most pictures, which have dozens of packets, and FEC repairs what retransmissions cannot.
constexpr double kRepairPerLoss = 20;
constexpr double kMostRepair = 1;
constexpr double kLeastRepair = 0.1;
// Before this second the rate of a call overshoots, and its loss is not that of the path.
constexpr size_t kFirstSecond = 4;
constexpr int kFewestSeconds = 5;
constexpr int kMostSeconds = 10;
constexpr double kAges = 0.98;  // per second
constexpr double kMoreLost = 0.02;
constexpr double kAgesSooner = 0.8;

class FiniteRule final : public GuardRule {
  DataRate Apply(DataRate rate, GuardFacts& facts) override {
    return rate.IsFinite() && rate > DataRate::Zero() ? rate : facts.rate;
  }
};

class BoundsRule final : public GuardRule {
  DataRate Apply(DataRate rate, GuardFacts& facts) override {
    const ArrivalHistory& arrivals = facts.arrivals;
    if (arrivals.whole_seconds() < seconds_) *this = {};
    if (arrivals.whole_seconds() != seconds_) {
      seconds_ = arrivals.whole_seconds();
      if (seconds_ >= kFirstSecond) OnSecond(arrivals);
    }
    const double repair = HasRoom() ? std::min(Repair(), kRepairPerLoss * arrivals.MeanLossRatio()) : 0;
    const double room = arrivals.HasFewFrames() ? kMostRepair : repair;
    const TargetRateConstraints& bounds = facts.constraints;
    return std::max(bounds.min_rate, std::min({rate, bounds.max_rate, bounds.max_media_rate * (1 + room)}));
  }

  void OnSecond(const ArrivalHistory& arrivals) {
    if (HasRoom()) {
      measured_.age *= arrivals.MeanLossRatio() > measured_.loss_ratio + kMoreLost ? kAgesSooner : kAges;
      if (!HasRoom()) measured_ = {};
      return;
    }
    measured_.seconds = std::min(measured_.seconds + 1, kMostSeconds);
    measured_.loss_ratio += (arrivals.latest_second().LossRatio() - measured_.loss_ratio) / measured_.seconds;
  }

  double Repair() const { return std::min(kMostRepair, kRepairPerLoss * measured_.loss_ratio * measured_.age); }
  bool HasRoom() const { return measured_.seconds >= kFewestSeconds && Repair() >= kLeastRepair; }

  // Loss of the media alone.
  struct Measured {
    int seconds = 0;
    double loss_ratio = 0;
    double age = 1;
  };

  size_t seconds_ = 0;
  Measured measured_;
};

}  // namespace

std::unique_ptr<GuardRule> MakeFiniteRule() { return std::make_unique<FiniteRule>(); }
std::unique_ptr<GuardRule> MakeBoundsRule() { return std::make_unique<BoundsRule>(); }

}  // namespace weir
