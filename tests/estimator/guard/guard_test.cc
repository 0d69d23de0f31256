#include "guard/guard.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <random>
#include <string_view>
#include <utility>

#include "test_stream.h"

namespace weir {
namespace {

constexpr Timestamp kStart = Timestamp::Seconds(7);
constexpr DataRate Kbps(int64_t kbps) { return DataRate::KilobitsPerSecond(kbps); }

// Packets of 20 ms of Opus.
constexpr DataRate kOnePacketInAStep = DataRate::KilobitsPerSecond(10);

class GuardTest : public testing::Test {
 protected:
  GuardTest() { Restart({}); }

  void Restart(const GuardOptions& options) {
    arrivals_.Start(now_);
    guard_.emplace(arrivals_, options);
    guard_->SetConstraints({}, now_);
  }
  Guard::Result Apply(DataRate wanted, Timestamp now) {
    arrivals_.OnDecision(now);
    return guard_->Apply(wanted, now);
  }
  uint64_t Count(std::string_view rule) const { return guard_->counters().Of(rule); }
  static std::string_view NameOf(const Guard::Result& result) {
    return result.rule ? GuardRules()[*result.rule].name() : "none";
  }

  // Ten packets in 100 ms.
  void Arrive(TimeDelta queueing_delay) {
    for (int i = 0; i < 10; ++i) arrivals_.OnArrival(ArrivalOf(now_ += TimeDelta::Millis(10), 1250, queueing_delay));
  }

  // Lets packets arrive at `rate` for a while, then applies the guard.
  Guard::Result Step(DataRate wanted, DataRate receive_rate, TimeDelta elapsed = TimeDelta::Millis(100)) {
    now_ += elapsed;
    const DataSize size = receive_rate * elapsed;
    if (!size.IsZero()) {
      // The sender made the longer pauses, and the packets after them did not wait.
      const bool ends_pause = now_ - std::exchange(latest_step_, now_) >= TimeDelta::Millis(200);
      arrivals_.OnArrival({.packet = {.arrival_time = now_, .payload_size = static_cast<uint32_t>(size.bytes())},
                           .send_time = ends_pause ? now_ : Timestamp::MinusInfinity(),
                           .has_delay = ends_pause});
    }
    return Apply(wanted, now_);
  }

  Timestamp now_ = kStart;
  // The latest one with packets.
  Timestamp latest_step_ = kStart;
  ArrivalHistory arrivals_;
  std::optional<Guard> guard_;
};

TEST_F(GuardTest, CountsOmissionOnlyWhereALossIsOmitted) {
  Arrive(TimeDelta::Zero());
  Apply(Kbps(1000), now_);
  EXPECT_TRUE(guard_->omits_losses()) << "presumed in the first second";
  EXPECT_EQ(Count("omission"), 0);
  arrivals_.OnArrival(ArrivalOf(now_ += TimeDelta::Millis(10), 1250, TimeDelta::Zero(), 1));
  Apply(Kbps(1000), now_);
  EXPECT_EQ(Count("omission"), 1);
  Arrive(TimeDelta::Zero());
  Apply(Kbps(1000), now_);
  EXPECT_EQ(Count("omission"), 1);
}

TEST_F(GuardTest, LetsASensibleRatePass) {
  for (int i = 0; i < 20; ++i) {
    const Guard::Result result = Step(Kbps(300), Kbps(300));
    EXPECT_EQ(result.rate, Kbps(300));
    EXPECT_EQ(NameOf(result), "none");
  }
  for (const GuardRuleInfo& rule : GuardRules()) EXPECT_EQ(Count(rule.name()), 0u) << rule.name();
}

TEST_F(GuardTest, FiniteHoldsTheRateInForce) {
  Step(Kbps(250), Kbps(300));
  for (const DataRate rate :
       {DataRate::Zero(), DataRate::BitsPerSecond(-7), DataRate::PlusInfinity(), DataRate::MinusInfinity()}) {
    const Guard::Result result = Step(rate, Kbps(300));
    EXPECT_EQ(result.rate, Kbps(250));
    EXPECT_EQ(NameOf(result), "finite");
  }
  EXPECT_EQ(Count("finite"), 4u);
}

TEST_F(GuardTest, Bounds) {
  EXPECT_EQ(Step(Kbps(1), Kbps(300)).rate, Kbps(30));
  EXPECT_EQ(NameOf(Step(Kbps(1), Kbps(300))), "bounds");
  EXPECT_EQ(Count("bounds"), 2u);
  guard_->SetConstraints({Kbps(100), Kbps(100), Kbps(200)}, now_);
  EXPECT_EQ(Step(Kbps(100'000), Kbps(200)).rate, Kbps(200));
}

TEST_F(GuardTest, AFloorWhereNoQueueIsSeen) {
  const auto step = [this](DataRate wanted, TimeDelta delay) {
    Arrive(delay);
    return Apply(wanted, now_);
  };
  for (int i = 0; i < 15; ++i) step(Kbps(1000), TimeDelta::Zero());
  const Guard::Result held = step(Kbps(100), TimeDelta::Zero());
  EXPECT_NEAR(static_cast<double>(held.rate.bps()), 970e3, 1e3);
  EXPECT_EQ(NameOf(held), "floor");
  EXPECT_EQ(Count("floor"), 1u);
  EXPECT_EQ(step(Kbps(100), TimeDelta::Millis(30)).rate, Kbps(100));
  // A policy that is stuck on a noisy path is drawn up to a little above what that just carried.
  for (int i = 0; i < 20; ++i) step(Kbps(900), TimeDelta::Zero());
  EXPECT_EQ(step(Kbps(980), TimeDelta::Zero()).rate, Kbps(980));
  for (int i = 0; i < 600; ++i) step(Kbps(150), TimeDelta::Millis(4 * (i % 2)));
  EXPECT_NEAR(static_cast<double>(Apply(Kbps(150), now_).rate.bps()), 1.1e6, 3e4);
  // Never above the host's bounds.
  guard_->SetConstraints({Kbps(30), Kbps(30), Kbps(50)}, now_);
  EXPECT_LE(step(Kbps(40), TimeDelta::Zero()).rate, Kbps(50));
}

TEST_F(GuardTest, SparsePacketsAreNoReasonToSink) {
  for (int i = 0; i < 6; ++i) Step(Kbps(300), kOnePacketInAStep, TimeDelta::Seconds(1));
  for (int i = 0; i < 29; ++i) {
    const Guard::Result held = Step(Kbps(100), DataRate::Zero());
    EXPECT_EQ(held.rate, Kbps(300)) << i;
    EXPECT_EQ(NameOf(held), "floor");
  }
  EXPECT_EQ(Step(Kbps(100), DataRate::Zero()).rate, Kbps(100));
}

// On a link below 48 kbps packets of 1200 bytes come as seldom.
TEST_F(GuardTest, SparsePacketsThatWaitedOrAreLostAreOne) {
  for (const bool lost : {false, true}) {
    Restart({});
    for (int i = 0; i < 6; ++i) {
      now_ += TimeDelta::Millis(240);
      arrivals_.OnArrival(ArrivalOf(now_, 1200, TimeDelta::Millis(lost ? 0 : 50), lost ? 1 : 0));
      Apply(Kbps(300), now_);
    }
    // Loss is not a queue: the floor on a calm path may sink.
    EXPECT_LT(Apply(Kbps(100), now_ + TimeDelta::Millis(100)).rate, Kbps(300)) << lost;
  }
}

TEST_F(GuardTest, ALinkThatStopsAgainAndAgainKeepsTheRateOfBefore) {
  DataRate lowest = DataRate::PlusInfinity();
  const auto want_little = [&] { lowest = std::min(lowest, Apply(Kbps(100), now_).rate); };
  for (const bool known : {false, false, true}) {
    for (int i = 0; i < 30; ++i) {
      Arrive(TimeDelta::Zero());
      Apply(Kbps(1000), now_);
    }
    lowest = DataRate::PlusInfinity();
    for (int i = 0; i < 3; ++i) {
      now_ += TimeDelta::Millis(100);
      want_little();
    }
    Arrival late = ArrivalOf(now_ += TimeDelta::Millis(10), 1250, TimeDelta::Millis(300));
    late.delay_change = TimeDelta::Millis(300);
    arrivals_.OnArrival(late);
    for (int i = 0; i < 5; ++i) {
      Arrive(TimeDelta::Millis(50));
      want_little();
    }
    EXPECT_EQ(lowest > Kbps(900), known);
  }
  // A longer time without packets is another thing.
  for (int i = 0; i < 5; ++i) {
    now_ += TimeDelta::Millis(100);
    want_little();
  }
  now_ += TimeDelta::Millis(600);
  want_little();
  EXPECT_EQ(lowest, Kbps(100));
}

TEST_F(GuardTest, DecreaseIsNotLimitedWhereNoDelayIsKnown) {
  EXPECT_EQ(Step(Kbps(30), Kbps(5000)).rate, Kbps(30));
  EXPECT_EQ(Count("slew"), 0u);
}

TEST_F(GuardTest, NothingReceivedNothingGained) {
  for (int i = 0; i < 100; ++i) EXPECT_EQ(Step(Kbps(50'000), DataRate::Zero()).rate, Kbps(300));
  EXPECT_EQ(Count("slew"), 100u);
}

TEST_F(GuardTest, GrowthStopsAtThreeTimesWhatArrives) {
  DataRate rate = Kbps(300);
  for (int i = 0; i < 100; ++i) {
    const DataRate next = Step(Kbps(50'000), Kbps(400)).rate;
    EXPECT_GE(next, rate);
    EXPECT_LE(next, std::max(rate * 1.4143, Kbps(400)));  // 32^0.1, or what arrives
    rate = next;
  }
  EXPECT_NEAR(static_cast<double>(rate.bps()), 1.3e6, 1e4);
}

TEST_F(GuardTest, AnApplicationLimitedSenderKeepsWhatItHas) {
  for (int i = 0; i < 40; ++i) Step(Kbps(2000), Kbps(2000));
  for (int i = 0; i < 100; ++i) EXPECT_EQ(Step(Kbps(2000), Kbps(50)).rate, Kbps(2000));
}

TEST_F(GuardTest, ReturnsAtOnceToWhatReallyArrives) {
  for (int i = 0; i < 40; ++i) Step(Kbps(5000), Kbps(5000));
  EXPECT_EQ(Step(Kbps(1000), Kbps(5000)).rate, Kbps(1000));
  EXPECT_EQ(Step(Kbps(5000), Kbps(5000)).rate, Kbps(5000));
}

TEST_F(GuardTest, SilenceDecaysTowardsTheMinimum) {
  for (int i = 0; i < 40; ++i) Step(Kbps(4000), Kbps(4000));
  for (int i = 0; i < 4; ++i) EXPECT_EQ(Step(Kbps(4000), DataRate::Zero()).rate, Kbps(4000));
  for (int i = 0; i < 11; ++i) Step(Kbps(4000), DataRate::Zero());
  const Guard::Result later = Step(Kbps(4000), DataRate::Zero());  // 1.6 s without packets
  EXPECT_NEAR(static_cast<double>(later.rate.bps()), 4e6 * std::exp2(-1.1), 1e3);
  EXPECT_EQ(NameOf(later), "stale");
  for (int i = 0; i < 100; ++i) Step(Kbps(4000), DataRate::Zero());
  EXPECT_EQ(Step(Kbps(4000), DataRate::Zero()).rate, Kbps(30));
  EXPECT_GT(Count("stale"), 100u);
}

TEST_F(GuardTest, ASlowSendersPacketsAreNoSilence) {
  guard_->SetConstraints({Kbps(10), Kbps(10), Kbps(1000)}, now_);
  // One packet each second at 10 kbps.
  for (int i = 0; i < 100; ++i) Step(Kbps(10), i % 10 == 0 ? Kbps(96) : DataRate::Zero());
  EXPECT_EQ(Count("stale"), 0u);
}

TEST_F(GuardTest, SparseAudioIsNoSilence) {
  for (int i = 0; i < 40; ++i) Step(Kbps(4000), Kbps(4000));
  // Video is muted; a packet each second, and every seventh is lost.
  for (int i = 1; i < 10; ++i) Step(Kbps(4000), DataRate::Zero());
  // Nothing was lost meanwhile: the sender was idle.
  EXPECT_EQ(Step(Kbps(1000), kOnePacketInAStep).rate, Kbps(4000));
  const uint64_t until_the_first = Count("stale");
  EXPECT_NEAR(static_cast<double>(until_the_first), 5, 1);
  const DataRate rate = Kbps(4000);
  for (int i = 1; i <= 320; ++i) {
    const bool arrives = i % 10 == 0 && i % 70 != 0;
    EXPECT_EQ(Step(rate, arrives ? kOnePacketInAStep : DataRate::Zero()).rate, rate) << i;
  }
  EXPECT_EQ(Count("stale"), until_the_first);
  // Three gaps without packets are a feedback timeout.
  for (int i = 0; i < 29; ++i) EXPECT_EQ(Step(rate, DataRate::Zero()).rate, rate) << i;
  for (int i = 0; i < 11; ++i) Step(rate, DataRate::Zero());
  EXPECT_NEAR(static_cast<double>(Apply(rate, now_).rate.bps()), static_cast<double>(rate.bps()) / 2, 2e3);
}

TEST_F(GuardTest, NoStreamIsSoSparseThatSilenceLastsLongerThanFiveSeconds) {
  for (int i = 0; i < 10; ++i) Step(Kbps(300), kOnePacketInAStep, TimeDelta::Seconds(4));
  EXPECT_EQ(Count("stale"), 0u);
  EXPECT_EQ(guard_->next_timeout(), now_ + TimeDelta::Seconds(5));
  EXPECT_EQ(Step(Kbps(300), DataRate::Zero(), TimeDelta::Seconds(6)).rate, Kbps(150));
}

TEST_F(GuardTest, UnderRunningVideoSilenceBeginsAfterHalfASecondAlsoWhenItWasSparseBefore) {
  for (int i = 0; i < 10; ++i) Step(Kbps(300), kOnePacketInAStep, TimeDelta::Seconds(1));
  // One packet a frame, 30 a second.
  for (int i = 0; i < 61; ++i) Step(Kbps(300), Kbps(300), TimeDelta::Millis(33));
  EXPECT_EQ(guard_->next_timeout(), now_ + TimeDelta::Millis(500));
  EXPECT_EQ(Step(Kbps(300), DataRate::Zero(), TimeDelta::Millis(1500)).rate, Kbps(150));
}

// A frame each second.
TEST_F(GuardTest, ManyPacketsInAFrameDoNotHideTheGapsBetweenFrames) {
  const auto frame = [&] {
    now_ += TimeDelta::Millis(100);
    for (int i = 0; i < 22; ++i) arrivals_.OnArrival(ArrivalOf(now_ - TimeDelta::Micros(100 * (22 - i)), 1200));
    return Apply(Kbps(100), now_).rate;
  };
  frame();
  for (int i = 0; i < 9; ++i) Step(Kbps(100), DataRate::Zero());
  // The first gap may be an outage, until its end shows that the sender was idle.
  for (int n = 0; n < 5; ++n) {
    EXPECT_GE(frame(), Kbps(300)) << n;
    for (int i = 0; i < 9; ++i) EXPECT_GE(Step(Kbps(100), DataRate::Zero()).rate, Kbps(300)) << n << " " << i;
  }
  EXPECT_EQ(guard_->next_timeout(), now_ - TimeDelta::Millis(900) + TimeDelta::Seconds(3));
}

TEST_F(GuardTest, ACallThatDiesAtItsFirstPacketIsNoticed) {
  Step(Kbps(300), kOnePacketInAStep);
  EXPECT_EQ(guard_->next_timeout(), now_ + TimeDelta::Millis(500));
}

TEST_F(GuardTest, StaleNeverRaisesAndAsksToBeCalled) {
  for (int i = 0; i < 40; ++i) Step(Kbps(4000), Kbps(4000));
  EXPECT_EQ(guard_->next_timeout(), now_ + TimeDelta::Millis(500));
  EXPECT_EQ(Step(Kbps(50), DataRate::Zero(), TimeDelta::Millis(600)).rate, Kbps(50));
  EXPECT_EQ(guard_->next_timeout(), now_ + TimeDelta::Millis(100));
}

TEST_F(GuardTest, WithoutSlewAndStaleTheBoundsRemain) {
  Restart(GuardOptions::WithoutRules());
  EXPECT_EQ(Step(Kbps(20'000), DataRate::Zero()).rate, Kbps(20'000));
  EXPECT_EQ(Step(Kbps(20'000), Kbps(1)).rate, Kbps(20'000));
  EXPECT_EQ(Step(Kbps(20'000), DataRate::Zero(), TimeDelta::Seconds(10)).rate, Kbps(20'000));
  EXPECT_EQ(Step(Kbps(90'000), DataRate::Zero()).rate, Kbps(50'000));
  EXPECT_EQ(Step(DataRate::Zero(), DataRate::Zero()).rate, Kbps(50'000));
  EXPECT_TRUE(guard_->next_timeout().IsPlusInfinity());
}

TEST_F(GuardTest, VetoSpeaksUnlessItIsOff) {
  for (const bool veto : {true, false}) {
    GuardOptions options;
    EXPECT_TRUE(veto || options.SwitchOff("veto"));
    Restart(options);
    Guard::Result result{DataRate::Zero(), std::nullopt};
    for (int i = 0; i < 30; ++i) {
      Arrive(TimeDelta::Millis(i < 20 ? 0 : 200));
      result = Apply(Kbps(50'000), now_);
    }
    EXPECT_EQ(NameOf(result), veto ? "veto" : "slew");
    EXPECT_EQ(Count("veto") > 0, veto);
    if (!veto) continue;
    EXPECT_NEAR(static_cast<double>(result.rate.bps()), 0.6e6, 1e4);
  }
}

TEST_F(GuardTest, HoldsItsBoundsForAnyPolicy) {
  std::mt19937_64 random(11);
  for (int i = 0; i < 50'000; ++i) {
    const auto wanted = DataRate::BitsPerSecond(static_cast<int64_t>(random()) >> (random() % 63));
    const auto received = DataRate::BitsPerSecond(static_cast<int64_t>(random() % 100'000'000));
    const auto elapsed = TimeDelta::Micros(static_cast<int64_t>(random() >> (random() % 24 + 36)));
    const DataRate rate = Step(wanted, random() % 3 == 0 ? DataRate::Zero() : received, elapsed).rate;
    ASSERT_GE(rate, Kbps(30));
    ASSERT_LE(rate, Kbps(50'000));
    ASSERT_GT(guard_->next_timeout(), now_);
  }
}

}  // namespace
}  // namespace weir
