// Faults of paths, clocks, senders and feedback, in simulated calls: what a receiver must live through, with every
// controller that is built in. Faults of single parts stand in the tests of the parts; tests/README.md has the list.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "controllers/rule_controller.h"
#include "made_estimator.h"
#include "random_cases.h"
#include "read_file.h"
#include "test_call.h"
#include "weir/bandwidth_estimator.h"
#include "weir/controllers.h"
#include "weir/policy_controller.h"

namespace weir {
namespace {

constexpr DataRate Kbps(int64_t kbps) { return DataRate::KilobitsPerSecond(kbps); }
constexpr TimeDelta Seconds(int64_t seconds) { return TimeDelta::Seconds(seconds); }

constexpr bool Within(TimeDelta time, int64_t from_s, int64_t to_s) {
  return time >= Seconds(from_s) && time < Seconds(to_s);
}

// Without a seed, so that all runs are the same: about `share` of the calls.
class Chance {
 public:
  explicit Chance(double share) : threshold_(share * 4294967296.0) {}
  bool operator()() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<double>(state_ >> 32) < threshold_;
  }

 private:
  double threshold_;
  uint64_t state_ = 1;
};

// The shipped model, the rule as the fallback is, and NADA.
std::unique_ptr<ReceiverController> Make(std::string_view name) {
  static const std::shared_ptr<const PolicyModel> shipped = PolicyModel::Load(ReadFile(WEIR_SHIPPED_MODEL)).value();
  if (name == "weir") return MakePolicyController(shipped);
  if (name == "rule") return std::make_unique<RuleController>(RuleOptions{.tolerate_sparse_packets = true});
  return MakeBuiltInController(name, Kbps(1000));
}

class FaultTest : public testing::TestWithParam<std::string> {
 protected:
  FaultTest() : estimator_(MadeEstimator(Config(), Make(GetParam()))) {}

  // NADA's queue is the longer the further the path is below the maximum.
  static BandwidthEstimatorConfig Config() {
    BandwidthEstimatorConfig config;
    config.constraints.max_rate = Kbps(5000);
    return config;
  }

  // The share of `rate` that arrives in the span.
  static double Share(const TestCall& call, int64_t from_s, int64_t to_s, DataRate rate = Kbps(2000)) {
    return call.ReceiveRate(Seconds(from_s), Seconds(to_s)) / rate;
  }
  static double P95Ms(const TestCall& call, int64_t from_s, int64_t to_s) {
    return call.Delay(0.95, Seconds(from_s), Seconds(to_s)).seconds() * 1e3;
  }
  // A call over path_.
  TestCall Run(int64_t end_s) {
    TestCall call(estimator_, path_);
    call.RunUntil(Seconds(end_s));
    return call;
  }
  // In this span of a call on 2 Mbps, nothing of the fault is left.
  static void ExpectGood(const TestCall& call, int64_t from_s, int64_t to_s) {
    EXPECT_GE(Share(call, from_s, to_s), 0.75);
    EXPECT_LE(Share(call, from_s, to_s), 1.0);
    EXPECT_LE(P95Ms(call, from_s, to_s), 200);
  }
  // 5 s after something happens at 20 s.
  void ExpectNoHarm() { ExpectGood(Run(60), 25, 60); }

  // NADA fills the queue of 500 kbps and lets it drain, in turns, also without any fault.
  bool fills_slow_queues() const { return GetParam() == "nada"; }

  BandwidthEstimator estimator_;
  TestPath path_{.capacity = Steady(Kbps(2000))};
};

// --- clocks ---------------------------------------------------------------------------------------------------------

// By the packets alone it may be a path that stalled; hosts hand in times of a monotonic clock.
TEST_P(FaultTest, TheArrivalClockIsSetForward) {
  path_.change = [](TimeDelta at, PacketArrival& packet) {
    if (at >= Seconds(20)) packet.arrival_time += Seconds(10);
  };
  const TestCall call = Run(90);
  EXPECT_GE(Share(call, 21, 60), 0.01);
  ExpectGood(call, 60, 90);
}

TEST_P(FaultTest, TheArrivalClockIsSetBack) {
  path_.change = [](TimeDelta at, PacketArrival& packet) {
    if (at >= Seconds(20)) packet.arrival_time = packet.arrival_time - Seconds(10);
  };
  ExpectNoHarm();
}

TEST_P(FaultTest, TheSendersClockIsSet) {
  for (const int64_t step_s : {-10, 10, 40}) {
    SCOPED_TRACE(step_s);
    estimator_ = MadeEstimator(Config(), Make(GetParam()));
    path_.change = [step_s](TimeDelta at, PacketArrival& packet) {
      if (at >= Seconds(20)) packet.abs_send_time = (packet.abs_send_time + (step_s << 18)) & 0xFFFFFF;
    };
    ExpectNoHarm();
  }
}

// --- what a sender may do -------------------------------------------------------------------------------------------

TEST_P(FaultTest, TheSsrcChangesInTheCall) {
  path_.change = [](TimeDelta at, PacketArrival& packet) {
    if (at < Seconds(20)) return;
    packet.ssrc = 0xFFFFFFFF;
    packet.sequence_number += 12'345;
    packet.rtp_timestamp = ~packet.rtp_timestamp;
  };
  ExpectNoHarm();
  EXPECT_EQ(estimator_.counters().arrivals.restarts, 0u);
}

TEST_P(FaultTest, TheSenderBeginsAnewInTheSameStream) {
  path_.change = [](TimeDelta at, PacketArrival& packet) {
    if (at >= Seconds(20)) packet.sequence_number += 30'000;
  };
  ExpectNoHarm();
  EXPECT_EQ(estimator_.counters().arrivals.restarts, 1u);
}

// The numbers of the last seconds again: all packets look like duplicates.
TEST_P(FaultTest, TheSenderBeginsAnewALittleBefore) {
  path_.change = [](TimeDelta at, PacketArrival& packet) {
    if (at >= Seconds(20)) packet.sequence_number -= 600;
  };
  ExpectNoHarm();
}

// Four packets of 65,535 bytes that jump by thousands: alone, or with all that follow.
TEST_P(FaultTest, FourPacketsJumpByThousands) {
  constexpr DataRate kCapacity = Kbps(6000);
  for (uint32_t seed = 0; seed < RandomCases(40); ++seed) {
    SCOPED_TRACE(seed);
    const bool alone = seed % 2 == 0;
    std::mt19937 random(seed);
    path_.capacity = Steady(kCapacity);
    path_.lost = [chance = Chance(0.05)](TimeDelta) mutable { return chance(); };
    std::vector<uint16_t> jumps{2043, 2042, 5039, 2040};
    uint16_t jumped = 0;
    TimeDelta next = Seconds(20);
    path_.change = [&](TimeDelta at, PacketArrival& packet) {
      if (alone) jumped = 0;
      if (!jumps.empty() && at >= next) {
        jumped = static_cast<uint16_t>(jumped + jumps.back());
        jumps.pop_back();
        next = at + TimeDelta::Millis(static_cast<int64_t>(random() % 667));
        packet.payload_size = 65'535 - packet.header_size;
      }
      packet.sequence_number = static_cast<uint16_t>(packet.sequence_number + jumped);
    };
    estimator_ = MadeEstimator({}, Make(GetParam()));
    TestCall call(estimator_, path_);
    int starved = 0;
    for (int64_t tenths = 200; tenths < 600; ++tenths) {
      call.RunUntil(TimeDelta::Millis(100 * tenths));
      starved += estimator_.latest().target_rate < kCapacity * 0.3 ? 1 : 0;
    }
    EXPECT_LE(starved, 50);
  }
}

// Packets that jump 100 numbers each, with send times by which they were faster than any before: missing packets count
// as sent, and the lowest delay as the path's.
TEST_P(FaultTest, PacketsJumpAndSeemFast) {
  struct Fast {
    int packets;
    int64_t early_ms;
    // After the last one the rate is back in this time.
    int64_t recovery_s;
  };
  for (const Fast& fast : {Fast{5, 130, 10}, Fast{50, 450, 20}}) {
    // NADA takes thousands of lost packets for congestion, and rises slowly from its minimum.
    if (GetParam() == "nada" && fast.packets > 5) continue;
    for (uint32_t seed = 0; seed < RandomCases(60); ++seed) {
      SCOPED_TRACE(testing::Message() << fast.packets << " packets, " << fast.early_ms << " ms, seed " << seed);
      std::mt19937 random(seed);
      std::uniform_real_distribution<double> share(0, 1);
      const DataRate capacity = Kbps(300) * std::pow(16, share(random));
      const TimeDelta longest_gap = TimeDelta::SecondsF(share(random) * (seed % 2 == 0 ? 0.6 : 2));
      path_.capacity = Steady(capacity);
      int jumps = 0;
      TimeDelta next = Seconds(20);
      path_.change = [&](TimeDelta at, PacketArrival& packet) {
        if (jumps < fast.packets && at >= next) {
          ++jumps;
          next = at + longest_gap * share(random);
          packet.abs_send_time = (packet.abs_send_time + static_cast<uint32_t>(fast.early_ms << 18) / 1000) & 0xFFFFFF;
        }
        packet.sequence_number = static_cast<uint16_t>(packet.sequence_number + 100 * jumps);
      };
      estimator_ = MadeEstimator(Config(), Make(GetParam()));
      TestCall call(estimator_, path_);
      int64_t end_s = 20;
      while (jumps < fast.packets) call.RunUntil(Seconds(++end_s));
      end_s += fast.recovery_s;
      call.RunUntil(Seconds(end_s + 10));
      EXPECT_GE(Share(call, end_s, end_s + 10, capacity), 0.5);
    }
  }
}

// The sender's clock loses a tenth for ten seconds: a queue would grow so.
TEST_P(FaultTest, TheSendersClockIsSlowByATenth) {
  path_.change = [](TimeDelta at, PacketArrival& packet) {
    const TimeDelta lost = std::clamp(at - Seconds(20), TimeDelta::Zero(), Seconds(10)) * 0.1;
    packet.abs_send_time = (packet.abs_send_time - static_cast<uint32_t>(lost.seconds() * (1 << 18))) & 0xFFFFFF;
  };
  EXPECT_GE(Share(Run(60), 50, 60), 0.9);
}

// Frames have good RTP timestamps, and an abs-send-time that passes `pace` times as fast from the beginning.
std::function<void(TimeDelta, PacketArrival&)> AbsSendTimeAtPace(double pace) {
  return [pace, latest = uint32_t{0}, sent = int64_t{0}](TimeDelta, PacketArrival& packet) mutable {
    constexpr int kUnused = 8;  // abs-send-time has 24 bits
    sent += static_cast<int32_t>((packet.abs_send_time - latest) << kUnused) >> kUnused;
    latest = packet.abs_send_time;
    packet.rtp_timestamp = static_cast<uint32_t>(sent * 90'000 / (1 << 18));
    packet.rtp_clock_rate = 90'000;
    packet.abs_send_time = static_cast<uint32_t>(std::llround(static_cast<double>(sent) * pace)) & 0xFFFFFF;
  };
}

TEST_P(FaultTest, AbsSendTimeStandsStillOrIsSlowBesideGoodRtpTimestamps) {
  for (const double pace : {0.0, 0.9, 0.97, 0.99, 1.03}) {
    SCOPED_TRACE(pace);
    estimator_ = MadeEstimator(Config(), Make(GetParam()));
    path_.frames_per_second = 30;
    path_.change = AbsSendTimeAtPace(pace);
    ExpectGood(Run(90), 60, 90);
  }
}

TEST_P(FaultTest, EveryThousandthPacketComesAThousandTimes) {
  int packets = 0;
  path_.change = [&](TimeDelta, PacketArrival& packet) {
    if (++packets % 1000 != 0) return;
    for (int i = 0; i < 1000; ++i) estimator_.OnPacket(packet);
  };
  TestCall with(estimator_, path_);
  with.RunUntil(Seconds(60));
  path_.change = [](TimeDelta, PacketArrival&) {};
  BandwidthEstimator other = MadeEstimator(Config(), Make(GetParam()));
  TestCall without(other, path_);
  without.RunUntil(Seconds(60));
  ASSERT_EQ(with.feedback().size(), without.feedback().size());
  for (size_t i = 0; i < with.feedback().size(); ++i) {
    ASSERT_EQ(with.feedback()[i].estimate.target_rate, without.feedback()[i].estimate.target_rate) << i;
  }
  EXPECT_GT(estimator_.counters().arrivals.duplicates, 5'000u);
}

TEST_P(FaultTest, OnlyEveryThirdPacketHasASendTime) {
  path_.change = [](TimeDelta, PacketArrival& packet) { packet.has_abs_send_time = packet.sequence_number % 3 == 0; };
  ExpectNoHarm();
}

TEST_P(FaultTest, NothingHasASendTime) {
  path_.change = [](TimeDelta, PacketArrival& packet) { packet.has_abs_send_time = false; };
  const TestCall call = Run(30);
  EXPECT_GE(estimator_.latest().target_rate, Kbps(30));
  EXPECT_LE(estimator_.latest().target_rate, Kbps(5000));
  EXPECT_GE(Share(call, 10, 30), 0.01);
}

TEST_P(FaultTest, PaddingOnlyAndEmptyPackets) {
  path_.change = [](TimeDelta, PacketArrival& packet) {
    if (packet.sequence_number % 3 == 0) return;
    packet.padding_size = packet.sequence_number % 3 == 1 ? packet.payload_size : 0;
    packet.payload_size = 0;
  };
  const TestCall call = Run(30);
  EXPECT_GE(Share(call, 10, 30), 0.1);
  EXPECT_LE(P95Ms(call, 10, 30), 340);
}

TEST_P(FaultTest, AHundredThousandPacketsASecond) {
  TestStream stream;
  Timestamp now = Timestamp::Seconds(1);
  for (int i = 0; i < 500'000; ++i, now += TimeDelta::Micros(10)) {
    estimator_.OnPacket(stream.Next(now, TimeDelta::Millis(25), 100));
    if (estimator_.next_timeout() <= now) (void)estimator_.OnTimeout(now);
  }
  EXPECT_EQ(estimator_.counters().arrivals.invalid, 0u);
  EXPECT_GE(estimator_.latest().target_rate, Kbps(30));
  EXPECT_LE(estimator_.latest().target_rate, Kbps(5000));
}

// The estimate must not follow an application that sends little down to nothing.
TEST_P(FaultTest, TheApplicationIsTheLimitAndThenWantsMore) {
  path_.capacity = Steady(Kbps(4000));
  path_.max_media_rate = [](TimeDelta at) { return Kbps(at < Seconds(60) ? 300 : 100'000); };
  TestCall call = Run(60);
  EXPECT_GE(estimator_.latest().target_rate, Kbps(300));
  call.RunUntil(Seconds(80));
  EXPECT_GE(Share(call, 65, 80, Kbps(4000)), 0.6);
}

// --- paths ----------------------------------------------------------------------------------------------------------

TEST_P(FaultTest, AnOutageOfTenSeconds) {
  path_.lost = [](TimeDelta at) { return Within(at, 15, 25); };
  const TestCall call = Run(60);
  EXPECT_EQ(Share(call, 16, 25), 0);
  ExpectGood(call, 30, 60);
}

TEST_P(FaultTest, AQueueOfFiveSeconds) {
  path_.capacity = [](TimeDelta at) { return Kbps(Within(at, 20, 40) ? 500 : 2000); };
  path_.queue = Seconds(5);
  const TestCall call = Run(60);
  EXPECT_LE(P95Ms(call, 5, 20), 200);
  EXPECT_LE(P95Ms(call, 25, 40), 300);
  EXPECT_GE(Share(call, 25, 40, Kbps(500)), 0.6);
  EXPECT_GE(Share(call, 50, 60), 0.5);
}

TEST_P(FaultTest, AQueueOfOnePacket) {
  path_.queue = TimeDelta::Millis(5);
  const TestCall call = Run(60);
  EXPECT_GE(Share(call, 10, 60), 0.1);
  EXPECT_LE(P95Ms(call, 10, 60), 40);
}

// Nothing is lost, and all that waited comes at once.
TEST_P(FaultTest, AHandoverHoldsEverythingForFiveSeconds) {
  path_.goes_on = [](TimeDelta at) { return Within(at, 20, 25) ? Seconds(25) : at; };
  const TestCall call = Run(60);
  EXPECT_EQ(Share(call, 21, 25), 0);
  ExpectGood(call, 30, 60);
}

TEST_P(FaultTest, TheRouteGrowsByAHundredMilliseconds) {
  path_.goes_on = [](TimeDelta at) { return at < Seconds(20) ? at : at + TimeDelta::Millis(100); };
  const TestCall call = Run(60);
  EXPECT_GE(Share(call, 30, 60), 0.75);
  EXPECT_LE(P95Ms(call, 30, 60), 300);
}

// The rate is at the minimum already when the delay rises: yielding cannot show that it is no queue.
TEST(RouteTest, GrowsAfterHeavyLoss) {
  for (const bool all : {false, true}) {
    SCOPED_TRACE(all);
    const DataRate capacity = all ? Kbps(8000) : Kbps(2000);
    TestPath path{.capacity = Steady(capacity)};
    path.lost = [all, chance = Chance(0.5)](TimeDelta at) mutable { return Within(at, 20, 25) && (all || chance()); };
    path.goes_on = [](TimeDelta at) { return at < Seconds(25) ? at : at + TimeDelta::Millis(130); };
    BandwidthEstimator estimator = MadeEstimator({}, Make("rule"));
    TestCall call(estimator, path);
    call.RunUntil(Seconds(60));
    EXPECT_GE(call.ReceiveRate(Seconds(45), Seconds(60)) / capacity, 0.75);
  }
}

// As a Wi-Fi that aggregates.
TEST_P(FaultTest, PacketsComeInBurstsOfFortyMilliseconds) {
  path_.goes_on = [](TimeDelta at) { return TimeDelta::Micros((at.us() / 40'000 + 1) * 40'000); };
  const TestCall call = Run(60);
  EXPECT_GE(Share(call, 10, 60), 0.5);
  EXPECT_LE(P95Ms(call, 10, 60), 240);
}

// The rate before a stop is no reason to fill a queue that outlasts it.
TEST_P(FaultTest, ALinkStopsForHalfOfTheTime) {
  static constexpr TimeDelta kPeriod = TimeDelta::Millis(600), kStop = TimeDelta::Millis(300);
  path_.capacity = Steady(Kbps(4000));
  path_.queue = TimeDelta::Millis(1500);
  path_.takes = [](TimeDelta time) {
    const TimeDelta begin = TimeDelta::Micros(time.us() / kPeriod.us() * kPeriod.us());
    return std::max(time, begin + kStop);
  };
  const TestCall call = Run(120);
  EXPECT_GE(Share(call, 30, 120), 0.45);
  EXPECT_LE(P95Ms(call, 30, 120), 1300);
  EXPECT_LE(call.lost(), 5);
}

// A token bucket of 15 kB before a link of twice its rate: loss without any queue.
TEST_P(FaultTest, APolicerLimitsTheRate) {
  path_.capacity = Steady(Kbps(4000));
  path_.lost = [tokens = 15e3, before = TimeDelta::Zero()](TimeDelta at) mutable {
    tokens = std::min(15e3, tokens + (at - before).seconds() * 2e6 / 8);
    before = at;
    const bool drops = tokens < 1228;
    if (!drops) tokens -= 1228;
    return drops;
  };
  const TestCall call = Run(60);
  EXPECT_GE(Share(call, 10, 60), 0.5);
  EXPECT_LE(Share(call, 10, 60), 1.0);
  // The rule takes loss without a queue for chance. The sender's own limit, which would hold it, is not simulated here.
  if (GetParam() == "rule") return;
  EXPECT_LE(static_cast<double>(call.lost()), 0.5 * static_cast<double>(call.deliveries().size()));
}

// --- feedback -------------------------------------------------------------------------------------------------------

TEST_P(FaultTest, HalfOfTheFeedbackIsLost) {
  for (const double share : {0.1, 0.5}) {
    SCOPED_TRACE(share);
    estimator_ = MadeEstimator(Config(), Make(GetParam()));
    path_.capacity = [](TimeDelta at) { return Kbps(at >= Seconds(20) ? 500 : 2000); };
    path_.feedback_lost = [chance = Chance(share)](TimeDelta) mutable { return chance(); };
    const TestCall call = Run(60);
    EXPECT_GE(Share(call, 10, 20), 0.6);
    EXPECT_GE(Share(call, 25, 60, Kbps(500)), 0.5);
    // A rate that was taken back is still in force where that was lost.
    EXPECT_LE(P95Ms(call, 25, 60), 350);
  }
}

TEST_P(FaultTest, AllFeedbackIsLostWhileTheCapacityFalls) {
  path_.capacity = [](TimeDelta at) { return Kbps(at >= Seconds(20) ? 500 : 2000); };
  path_.feedback_lost = [](TimeDelta at) { return Within(at, 19, 24); };
  const TestCall call = Run(60);
  EXPECT_GE(P95Ms(call, 20, 24), 250);
  EXPECT_LE(P95Ms(call, 29, 60), fills_slow_queues() ? 350 : 250);
  EXPECT_LE(call.Delay(0.5, Seconds(29), Seconds(60)), TimeDelta::Millis(200));
  EXPECT_GE(Share(call, 29, 60, Kbps(500)), 0.5);
}

TEST_P(FaultTest, FeedbackTakesTwoSeconds) {
  path_.feedback_delay = Seconds(2);
  const TestCall call = Run(120);
  EXPECT_GE(Share(call, 20, 120), 0.05);
  EXPECT_LE(P95Ms(call, 20, 120), 331);
  EXPECT_GE(estimator_.latest().target_rate, Kbps(30));
}

INSTANTIATE_TEST_SUITE_P(All, FaultTest, testing::Values("weir", "rule", "nada"),
                         [](const testing::TestParamInfo<std::string>& test) { return test.param; });

}  // namespace
}  // namespace weir
