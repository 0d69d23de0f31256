// While the path shows no queue, it has capacity for what it recently carried. With T the rate in force and C the
// highest receive rate of the last ten seconds, the rate is at least
//
// 1. at the end of a gap that the sender made, without a queue, the rate before the gap: the sender was idle;
// 2. else, while a call starts, the limit of growth outside a start;
// 3. else, T, while the sender sends few frames that do not wait: the present pause is not longer than its earlier
//    gaps predict (SenderGaps), and no queue was found by the packet that ended the latest gap, during a pause, or
//    else by the latest packet, which also followed no loss;
// 4. else, if the link stops repeatedly, for 80 ms or more, or has had a dip of its capacity in the last 15 s: the rate
//    before the stop or dip, during it, for no more than the usual length, and for 600 ms after it. The packets that it
//    delays and drops are no measure of the link's rate, and encoders need a second to recover. If 5 % is lost in a
//    second, this is at most C, and no dip is expected for a minute, since the queue may be too short for it. It does
//    not apply for 3 s after packets that waited for 120 ms longer than a stop, since they had a queue before them.
//    After the first dip (CapacityDip), for 600 ms: the link has carried the rate before it again;
// 5. else, without a queue, min(T 0.97^(dt / 100 ms), C): this holds up a policy that starves the path, and does not
//    constrain one that searches in small steps. On a calm but noisy path, where policies may be stuck, it is
//    min(T 1.01^(dt / 100 ms), H C / (1 - L)); GCC also grows by 8 % a second there. A path is calm if there was no
//    queue for more than half of the last three seconds, and none explains its losses: growth into a queue of others
//    takes from them, and each C includes what was taken. (A queue of two packets does not count as such. There, others
//    get their share when growth ends in an overload and a back-off.) L, at most 0.3, is the lowest loss ratio of a
//    second among the last ten: packets that are lost at any rate were sent. H is 1.1, or 1 if L > 0 and there was a
//    queue for 5 % of those seconds: the queue may be that of others, who would yield to a rate that grows and does not
//    stop at it.
// 6. In case 5, and also with a queue, at least min(T 1.03^(dt / 100 ms), share of a flow in competition).
//
// A loss-based TCP keeps the queue full whatever other flows do, so backing off because of delay would never end
// (RFC 8836, section 2). While a delay persists that the sender's back-off did not drain, the share is half of the
// highest receive rate of a second, which decays by half each 100 s. It is 0 with 5 % of loss in the latest second.
#include <algorithm>
#include <cmath>

#include "guard/guard_rule.h"

namespace weir {
namespace {

constexpr double kRetainedFactor = 0.97;
constexpr double kCalmFactor = 1.01;
constexpr double kShareFactor = 1.03;
constexpr TimeDelta kFactorTime = TimeDelta::Millis(100);
constexpr double kCalmHeadroom = 1.1;
constexpr double kMostLostAtAnyRate = 0.3;
constexpr double kCalmShare = 0.5;
constexpr double kAloneShare = 0.95;
constexpr TimeDelta kCalmMemory = TimeDelta::Seconds(3);

constexpr TimeDelta kAfterStop = TimeDelta::Millis(600);
constexpr TimeDelta kAfterOverflow = TimeDelta::Seconds(60);

constexpr double kLoses = 0.05;

constexpr TimeDelta kLongestStart = TimeDelta::Seconds(3);
constexpr double kFilled = 1.3;

class CompetingFlows {
 public:
  void Update(const ArrivalHistory& arrivals, TimeDelta elapsed) {
    highest_rate_bps_ = std::max(highest_rate_bps_ * std::exp2(-(elapsed / kHalfLife)),
                                 static_cast<double>(arrivals.LatestSecondRate().bps()));
    loses_ = arrivals.latest_second().LossRatio() >= kLoses;
  }
  DataRate Share(bool delay_stands) const {
    if (!delay_stands || loses_) return DataRate::Zero();
    return DataRate::BitsPerSecond(static_cast<int64_t>(kShare * highest_rate_bps_));
  }

 private:
  static constexpr double kShare = 0.5;
  static constexpr TimeDelta kHalfLife = TimeDelta::Seconds(100);

  bool loses_ = false;
  double highest_rate_bps_ = 0;
};

class FloorRule final : public GuardRule {
  DataRate Apply(DataRate rate, GuardFacts& facts) override {
    const QueueSign sign = facts.arrivals.Sign();
    facts.starting = IsStarting(sign, facts);
    return std::max(rate, Floor(sign, facts));
  }

  // A call starts until there was a queue, for at most 3 s from the first packet, while packets show that there is none
  // and the rate in force is above 1.3 times the receive rate: encoders follow in seconds.
  bool IsStarting(QueueSign sign, const GuardFacts& facts) {
    no_queue_yet_ = no_queue_yet_ && sign != QueueSign::kQueue;
    return no_queue_yet_ && facts.now - facts.arrivals.first_noticed() < kLongestStart && sign == QueueSign::kNone &&
           facts.rate > facts.arrivals.HighestReceiveRate() * kFilled;
  }

  DataRate Floor(QueueSign sign, GuardFacts& facts) {
    const ArrivalHistory& arrivals = facts.arrivals;
    competing_flows_.Update(arrivals, facts.elapsed);
    if (!IsInDip(facts)) rate_before_dip_ = facts.rate;
    share_without_queue_ += (static_cast<double>(sign == QueueSign::kNone) - share_without_queue_) *
                            std::clamp(facts.elapsed / kCalmMemory, 0.0, 1.0);
    if (const DataRate before = RateBeforeIdle(facts); before > facts.rate) return before;
    if (facts.starting) return GrownRate(facts, {kGrowth.factor_per_second, kGrowth.receive_rate_multiple, true});
    const bool is_expected = arrivals.Silence(facts.now) < arrivals.ExpectedSilence();
    const bool waited = arrivals.new_packets() ? arrivals.LatestWaited() : arrivals.LatestFrameWaited();
    if (is_expected && !waited) return facts.rate;
    if (const DataRate before = RateBeforeStop(facts); !before.IsZero()) return before;
    const double steps = facts.elapsed / kFactorTime;
    const DataRate share =
        std::min(competing_flows_.Share(arrivals.delay_stands()), facts.rate * std::pow(kShareFactor, steps));
    if (sign != QueueSign::kNone) return share;
    const bool calm = share_without_queue_ > kCalmShare && arrivals.IsNoisy() && !arrivals.QueueExplainsLosses();
    const DataRate changed = facts.rate * std::pow(calm ? kCalmFactor : kRetainedFactor, steps);
    return std::max(share, std::min(changed, arrivals.HighestSecondRate() * (calm ? CalmHeadroom(arrivals) : 1.0)));
  }

  double CalmHeadroom(const ArrivalHistory& arrivals) const {
    const double lost = std::min(arrivals.LowestLossRatio(), kMostLostAtAnyRate);
    const bool shares = lost > 0 && share_without_queue_ <= kAloneShare;
    return (shares ? 1.0 : kCalmHeadroom) / (1 - lost);
  }

  // The rate of case 4; zero if the link neither stops nor has dips.
  DataRate RateBeforeStop(GuardFacts& facts) {
    const ArrivalHistory& arrivals = facts.arrivals;
    const TimeDelta stop = arrivals.RecurringStop(facts.now), silence = arrivals.Silence(facts.now);
    const TimeDelta dip = arrivals.RecentDip(facts.now), elapsed = arrivals.DipElapsed(facts.now);
    const bool loses = arrivals.latest_second().LossRatio() >= kLoses;
    if (loses) dips_overflow_until_ = facts.now + kAfterOverflow;
    const bool stops = stop >= kRecurringStop && silence >= kFactorTime * 0.5 && silence <= stop + kFactorTime;
    const bool dips =
        !elapsed.IsZero() && !dip.IsZero() && elapsed <= dip + kFactorTime && facts.now >= dips_overflow_until_;
    const bool in_dip = !dip.IsZero() && IsInDip(facts);
    if (arrivals.WaitsFor(stop + kBeyondStop)) {
      stop_counts_until_ = Timestamp::MinusInfinity();
      queue_counts_until_ = facts.now + kAfterQueue;
    } else if (arrivals.DipEnded() || ((stops || dips) && facts.now >= queue_counts_until_)) {
      const DataRate before = in_dip ? std::max(facts.rate, rate_before_dip_) : facts.rate_at_packets;
      before_stop_ = loses ? std::min(before, arrivals.HighestSecondRate()) : before;
      stop_counts_until_ = facts.now + kAfterStop;
    }
    if (facts.now >= stop_counts_until_) return DataRate::Zero();
    if (in_dip) facts.rate_before_dip = before_stop_;
    return before_stop_;
  }

  static bool IsInDip(const GuardFacts& facts) { return facts.arrivals.MayDip(facts.now) || facts.arrivals.DipEnded(); }

  bool no_queue_yet_ = true;
  DataRate before_stop_ = DataRate::Zero();
  // The rate in force at the last decision outside a dip. The first decision of a dip may have lowered it already.
  DataRate rate_before_dip_ = DataRate::Zero();
  Timestamp stop_counts_until_ = Timestamp::MinusInfinity();
  Timestamp queue_counts_until_ = Timestamp::MinusInfinity();
  Timestamp dips_overflow_until_ = Timestamp::MinusInfinity();
  // Share of the time without a queue: an exponential mean over 3 s.
  double share_without_queue_ = 0;
  CompetingFlows competing_flows_;
};

}  // namespace

std::unique_ptr<GuardRule> MakeFloorRule() { return std::make_unique<FloorRule>(); }

}  // namespace weir
