// After a feedback timeout of L = max(500 ms, 3 x 1200 bytes / S, E) without packets, the rate is at most S, halved for
// each further second. S is the rate in force when the timeout began, and E the pause that the sender's earlier gaps
// predict, at most 5 s. At the receiver the rule applies from the first packet on. At a sender without any feedback for
// 2 s, the start rate is halved for each further second in which it sends.
//
// 1. The second term of L covers the gaps between packets of a slow sender.
// 2. The third term covers screens of few frames, and sparse audio (Opus with DTX) while video pauses. While video runs
//    it is zero (SenderGaps), so the 500 ms apply.
#include <algorithm>
#include <cmath>

#include "guard/guard_rule.h"

namespace weir {
namespace {

constexpr DataSize kThreeFullPackets = kFullPacket * 3;
constexpr TimeDelta kHalfLife = TimeDelta::Seconds(1);
// Longer than the first feedback takes over a satellite link.
constexpr TimeDelta kFirstFeedback = TimeDelta::Seconds(2);

class StaleRule final : public GuardRule {
  DataRate Apply(DataRate rate, GuardFacts& facts) override {
    if (!facts.arrivals.any_packets()) {
      unanswered_ += facts.reported ? facts.elapsed : TimeDelta::Zero();
      is_stale_ = unanswered_ > kFirstFeedback;
      return is_stale_ ? Limited(rate, facts.rate * std::exp2(-(facts.elapsed / kHalfLife)), facts) : rate;
    }
    const TimeDelta beyond = facts.arrivals.Silence(facts.now) - SilenceLimit(facts);
    is_stale_ = beyond >= TimeDelta::Zero();
    return is_stale_ ? Limited(rate, facts.rate_at_packets * std::exp2(-(beyond / kHalfLife)), facts) : rate;
  }
  Timestamp NextTimeout(const GuardFacts& facts, bool) const override {
    const Timestamp repeat = facts.now + kGuardRepeatInterval;
    if (is_stale_) return repeat;
    if (!facts.arrivals.any_packets()) return Timestamp::PlusInfinity();
    // The rate in force may have changed, and with it the timeout.
    return std::max(facts.arrivals.latest_noticed() + SilenceLimit(facts), repeat);
  }

  static TimeDelta SilenceLimit(const GuardFacts& facts) {
    return std::max({kMinSilence, kThreeFullPackets / facts.rate_at_packets, facts.arrivals.ExpectedSilence()});
  }

  bool is_stale_ = false;
  // Time of a sender without any feedback.
  TimeDelta unanswered_ = TimeDelta::Zero();
};

}  // namespace

std::unique_ptr<GuardRule> MakeStaleRule() { return std::make_unique<StaleRule>(); }

}  // namespace weir
