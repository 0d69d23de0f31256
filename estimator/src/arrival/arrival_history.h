// History of the arrivals of the last ten seconds. BandwidthEstimator owns it; the guard, a host's statistics and
// RembSender read it.
#ifndef WEIR_ARRIVAL_ARRIVAL_HISTORY_H_
#define WEIR_ARRIVAL_ARRIVAL_HISTORY_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "arrival/capacity_dip.h"
#include "arrival/losses_after_delay.h"
#include "arrival/queue_sharing.h"
#include "arrival/queueing_delay.h"
#include "arrival/recurring_stops.h"
#include "arrival/sender_gaps.h"
#include "weir/arrival.h"
#include "weir/units.h"

namespace weir {

enum class QueueSign : uint8_t {
  kUnknown,  // no packet with a delay in the last 25 to 50 ms
  kNone,
  kQueue,
};

// Every packet is added to one set of totals. A tick of 25 ms, a slot of 100 ms and a second are differences of the
// totals at their ends. Ticks begin with the first packet, and again after a pause of 10 s. Receive rates over 200 ms
// or more, and pauses between packets, are measured at decisions instead.
//
// Memory is constant. Adding a packet takes a few nanoseconds.
class ArrivalHistory {
 public:
  // Smallest number of lost packets that counts; fewer may be chance.
  static constexpr int64_t kFewestLost = 4;
  static constexpr size_t kLatest = 4;

  struct Second {
    DataSize size = DataSize::Zero();
    int64_t received = 0;
    int64_t lost = 0;

    // Lost / sent packets, 0 to 1.
    double LossRatio() const;
    // True if kFewestLost packets were lost, and at least this share of those sent.
    bool Loses(double ratio) const { return lost >= kFewestLost && LossRatio() >= ratio; }
    // True if the loss ratio exceeds that of `other` by more than chance explains: a difference of 2.5 standard errors
    // of two proportions, which has a probability of 0.6 %.
    bool LosesMoreThan(const Second& other) const;
    void Add(const Second& other);
  };

  // Called when the estimator begins. Clears everything but the totals.
  void Start(Timestamp now);
  void OnArrival(const Arrival& arrival);
  // The rate in force from now on. At a low one HasFewFrames() is false: the packets of a slow sender are apart.
  void SetTarget(DataRate target) { frame_gaps_.SetTarget(target); }
  // Must be called before a decision reads the history; `now` must not be before that of an earlier call.
  void OnDecision(Timestamp now);

  // --- Since construction.

  const ArrivalTotals& totals() const { return totals_; }
  // Arrival time of the fourth-latest packet, or MinusInfinity if there are fewer.
  Timestamp fourth_latest_arrival() const { return latest_arrivals_[static_cast<size_t>(totals_.packets) % kLatest]; }

  // --- The last second, for statistics.

  // Covers the 0.9 to 1 s before `now`.
  LastSecond LastSecondBefore(Timestamp now) const;

  // --- The queue, as of the latest decision.

  // The sign is kQueue unless
  //   1. a packet of the last 25 to 50 ms waited less than 2 ms + min(1.5 x delay noise, 40 ms), and
  //   2. of the last 100 to 200 ms fewer than four packets were lost, or less than 20 % plus the loss ratio of the path
  //      at any rate (LowestLossRatio, from five seconds on): random loss easily hits two of the few packets with which
  //      a call begins.
  // `allowance` is added to the 2 ms, here and in LatestWaited().
  QueueSign Sign(TimeDelta allowance = TimeDelta::Zero()) const;
  // The smallest delay of the last 25 to 50 ms, or PlusInfinity if there is none.
  TimeDelta SmallestDelay() const { return std::min(tick_delays_[0], tick_delays_[1]); }
  // True if each packet of the last 25 to 50 ms waited for `delay` above that noise, and there was one.
  bool WaitsFor(TimeDelta delay) const;
  // True if so did each of the last 100 to 200 ms: it is not the end of a frame that waits behind its beginning.
  bool WaitsThroughFramesFor(TimeDelta delay) const;
  // True if the latest packet, of any age, waited longer than rule 1 allows, or followed a loss.
  bool LatestWaited(TimeDelta allowance = TimeDelta::Zero()) const { return latest_wait_s_ >= allowance.seconds(); }
  // Arrival::delay_stands of the latest packet.
  bool delay_stands() const { return delay_stands_; }
  // The stop to expect: the length of the RecurringStops of 50 to 500 ms beyond the time of two packets at the rate of
  // the latest second, since longer ones are outages, or RecentDip().
  TimeDelta RecurringStop(Timestamp now) const { return std::max(stops_.Length(now), RecentDip(now)); }
  // Length of the longest CapacityDip of the last 15 s, or zero. One is enough: the link has carried the rate before it
  // again at once.
  TimeDelta RecentDip(Timestamp now) const { return dips_.Longest(now); }
  // CapacityDip::Elapsed().
  TimeDelta DipElapsed(Timestamp now) const { return dip_.Elapsed(now); }
  // True from the start of what may be a CapacityDip until its queue has drained.
  bool MayDip(Timestamp now) const { return dip_.drains() || !dip_.Elapsed(now).IsZero(); }
  // True if the queue of a CapacityDip drained between the last two decisions.
  bool DipEnded() const { return dip_ended_; }
  // True for delays and losses that no queue explains: a delay noise of 5 ms, or 1 % of loss in the last ten seconds.
  bool IsNoisy() const;

  // --- Whole seconds.

  // Number of seconds since the first packet.
  size_t whole_seconds() const { return whole_seconds_; }
  // The last ten seconds, unordered. Those before the first packet are empty.
  std::span<const Second> seconds() const { return seconds_; }
  const Second& latest_second() const { return seconds_[(whole_seconds_ + kSeconds - 1) % kSeconds]; }
  DataRate LatestSecondRate() const;
  // Mean rate of the last three seconds, or since the first packet.
  DataRate MeanRate() const;
  // Highest rate of the last ten seconds; zero before the first whole second.
  DataRate HighestSecondRate() const;
  // Sum of the last ten seconds.
  Second SumOfSeconds() const;
  // Loss ratio over the last ten seconds, 0 to 1.
  double MeanLossRatio() const { return SumOfSeconds().LossRatio(); }
  // Lowest loss ratio of a second among the last ten, 0 to 1: the loss of the path at any rate. 0 before the first
  // whole second.
  double LowestLossRatio() const;
  // LossesAfterDelay::Score() of the last ten seconds.
  double LossesAfterDelayScore() const { return losses_after_delay_.Score(); }
  // LossesAfterDelay::ShowShortQueue() of the last ten seconds.
  bool ShortQueueDrops() const { return losses_after_delay_.ShowShortQueue(); }
  // True if others may lose by this flow what it does not lose itself: for 15 s after
  // LossesAfterDelay::ShowShortQueue(), and after a short queue was shared on a path with loss at any rate.
  bool HasQueueToYield() const { return whole_seconds_ < queue_to_yield_until_; }
  // True if that queue also explains the losses of the last ten seconds: packets before them waited for 3 ms or more.
  bool QueueExplainsLosses() const;

  // --- Receive rates, over slots of 200 ms or more that end at decisions.

  // Highest rate of the last five slots; zero before the first.
  DataRate HighestReceiveRate() const;
  // Mean rate of the latest two slots; zero before the first.
  DataRate LatestReceiveRate() const;

  // --- Pauses, measured at decisions, and gaps that the sender made.

  bool any_packets() const { return first_noticed_.IsFinite(); }
  // True if packets arrived between the last two decisions.
  bool new_packets() const { return new_packets_; }
  Timestamp first_noticed() const { return first_noticed_; }
  Timestamp latest_noticed() const { return latest_noticed_; }
  // Time since the latest packet; zero before the first.
  TimeDelta Silence(Timestamp now) const { return any_packets() ? now - latest_noticed() : TimeDelta::Zero(); }
  // SenderGaps::Expected(): a shorter pause is the sender's.
  TimeDelta ExpectedSilence() const { return gaps_.Expected(); }
  // True while packets other than audio have gaps, with periods of about 85 ms or more: a screen of few frames.
  bool HasFewFrames() const { return frame_gaps_.HasRhythm() && frame_gaps_.Expected() >= kFewFrames; }
  // True if the packet that ended the latest gap waited longer than rule 1 of Sign() allows. The packets after it may
  // wait behind their own frame.
  bool LatestFrameWaited() const { return gap_wait_s_ >= 0; }
  // True if a gap ended between the last two decisions with a packet that did not wait so.
  bool SenderWasIdle() const { return sender_was_idle_; }

 private:
  static constexpr size_t kSeconds = 10;
  static constexpr size_t kSlots = 10;
  static constexpr size_t kRates = 5;
  static constexpr int64_t kTicksPerSlot = 4;
  static constexpr TimeDelta kFewFrames = TimeDelta::Millis(250);
  static constexpr double kNoWaitS = -std::numeric_limits<double>::infinity();

  void NotePair(const Arrival& arrival);
  void NoteStop(const Arrival& arrival);
  // Called for the packet that ended a gap, with its queueing delay.
  void NoteGap(TimeDelta delay);
  void Advance(Timestamp now);
  void Forget();
  void EndSlot();
  void EndReceiveRateSlot(Timestamp now);
  void NoticePackets(Timestamp now);
  double NoiseAllowanceSeconds() const;
  // Excess of a delay over the limit of rule 1; negative if it is below.
  double WaitSeconds(TimeDelta delay) const;
  // Totals at the beginning of an earlier slot, up to kSlots - 1 back.
  const ArrivalTotals& SlotStart(int64_t back) const {
    return slot_starts_[static_cast<size_t>(slots_ - back + static_cast<int64_t>(kSlots)) % kSlots];
  }

  ArrivalTotals totals_;
  // Ring buffer: the next packet overwrites the oldest.
  std::array<Timestamp, kLatest> latest_arrivals_ = {Timestamp::MinusInfinity(), Timestamp::MinusInfinity(),
                                                     Timestamp::MinusInfinity(), Timestamp::MinusInfinity()};
  Timestamp latest_arrival_ = Timestamp::MinusInfinity();

  // Start and end of the present tick; MinusInfinity before the first.
  Timestamp tick_start_ = Timestamp::MinusInfinity();
  Timestamp tick_end_ = Timestamp::MinusInfinity();
  int64_t ticks_ = 0;
  // The smallest delays of the present tick and the one before it, and of the ended ticks of the present slot.
  std::array<TimeDelta, 2> tick_delays_ = {TimeDelta::PlusInfinity(), TimeDelta::PlusInfinity()};
  TimeDelta slot_delay_ = TimeDelta::PlusInfinity();
  // The same of the slot before.
  TimeDelta slot_delay_before_ = TimeDelta::PlusInfinity();
  Timestamp slot_start_ = Timestamp::MinusInfinity();
  int64_t slots_ = 0;
  std::array<ArrivalTotals, kSlots> slot_starts_;
  ArrivalTotals second_start_;
  std::array<Second, kSeconds> seconds_;
  size_t whole_seconds_ = 0;
  LossesAfterDelay losses_after_delay_;
  QueueSharing queue_sharing_;
  // In whole seconds.
  size_t queue_to_yield_until_ = 0;
  DelayNoise noise_;

  // The latest packet. It is evaluated at the next decision, with the noise measured when it arrived. A loss counts as
  // an infinite wait.
  TimeDelta latest_delay_ = TimeDelta::MinusInfinity();
  bool latest_followed_loss_ = false;
  bool latest_is_judged_ = true;
  double latest_wait_s_ = kNoWaitS;
  bool delay_stands_ = false;
  RecurringStops stops_;
  CapacityDip dip_;
  RecurringStops dips_;
  // A dip ended, and no decision has evaluated it yet.
  bool dip_is_new_ = false;
  bool dip_ended_ = false;

  Timestamp rate_slot_start_ = Timestamp::MinusInfinity();
  DataSize rate_slot_start_size_ = DataSize::Zero();
  std::array<int64_t, kRates> rates_bps_{};
  size_t rate_slot_ = 0;

  int64_t noticed_packets_ = 0;
  bool new_packets_ = false;
  Timestamp first_noticed_ = Timestamp::MinusInfinity();
  Timestamp latest_noticed_ = Timestamp::MinusInfinity();

  // Gaps of all packets, and of those that are not audio.
  SenderGaps gaps_;
  SenderGaps frame_gaps_;
  // The packet that ended the latest gap, if no decision has evaluated it yet.
  bool gap_ended_ = false;
  TimeDelta gap_delay_ = TimeDelta::MinusInfinity();
  double gap_wait_s_ = kNoWaitS;
  bool sender_was_idle_ = false;
};

}  // namespace weir

#endif  // WEIR_ARRIVAL_ARRIVAL_HISTORY_H_
