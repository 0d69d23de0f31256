// The rate in force, T, rises within dt at most to max(T, R, min(T 32^dt, 3 R + 100 kbps)), dt in seconds and at most
// 1, where R is the highest receive rate of the last second. In the first seconds of a call the limits are 100^dt and 6
// R, and the latter holds once there is an R.
//
// 1. Up to R the rate is free.
// 2. Beyond R it doubles at most once per REMB interval of 200 ms, and stays below 3 R + 100 kbps.
// 3. A sender that is limited by its application keeps T.
// 4. Up to the rate before a dip of the capacity it is free, during the dip if it was expected, and at its end.
//
// From 300 kbps to 5 Mbps takes 0.8 s by the first bound; the second allows it where the sender follows.
//
// At the sender R is what the receiver reports, and a receiver that acknowledges packets that it never got (optimistic
// acknowledgement) looks like a path without a limit. So once queues were there for a second longer than not, which
// jitter alone does not cause, T is also at most 1.25 max(H, min(P, 2 H)). H begins with the highest R, or six times
// the start rate (libwebrtc's second probe), or P, which is what probes showed, and grows with R or P by 5 % a second:
// GCC grows by 8 %, after additive increase near the former limit. Probes can be acknowledged falsely too, and one
// success invites the next, so what they show beyond 2 H does not count.
#include <algorithm>
#include <cmath>

#include "guard/guard_rule.h"

namespace weir {
namespace {

constexpr double kReportedFactor = 1.05;
constexpr double kReportedHeadroom = 1.25;
constexpr double kProbeMultiple = 2;
constexpr double kFirstMultiple = 6;
constexpr TimeDelta kQueues = TimeDelta::Seconds(1);

class SlewRule final : public GuardRule {
  DataRate Apply(DataRate rate, GuardFacts& facts) override {
    const DataRate grown = std::max(GrownRate(facts, facts.starting ? kStartGrowth : kGrowth), facts.rate_before_dip);
    return Limited(rate, facts.reported ? std::min(grown, ReportedLimit(facts)) : grown, facts);
  }
  Timestamp NextTimeout(const GuardFacts& facts, bool was_last) const override {
    return was_last ? facts.now + kGuardRepeatInterval : Timestamp::PlusInfinity();
  }

  DataRate ReportedLimit(GuardFacts& facts) {
    const TimeDelta elapsed = std::min(facts.elapsed, TimeDelta::Seconds(1));
    const DataRate shown = std::max(facts.arrivals.HighestReceiveRate(), facts.probed);
    const bool any_limit = queue_time_ >= kQueues;
    const DataRate grown = highest_ * std::pow(kReportedFactor, elapsed.seconds());
    highest_ =
        std::max({highest_, any_limit ? std::min(shown, grown) : shown, facts.constraints.start_rate * kFirstMultiple});
    if (any_limit) facts.highest_probe = highest_ * kProbeMultiple;
    const QueueSign sign = facts.arrivals.Sign();
    if (sign == QueueSign::kQueue) queue_time_ += elapsed;
    if (sign == QueueSign::kNone && !any_limit) queue_time_ = std::max(queue_time_ - elapsed, TimeDelta::Zero());
    if (!any_limit) return DataRate::PlusInfinity();
    return std::max(highest_, std::min(facts.probed, facts.highest_probe)) * kReportedHeadroom;
  }

  // H, and the time with a queue less that without one.
  DataRate highest_ = DataRate::Zero();
  TimeDelta queue_time_ = TimeDelta::Zero();
};

}  // namespace

std::unique_ptr<GuardRule> MakeSlewRule() { return std::make_unique<SlewRule>(); }

}  // namespace weir
