// Probes: what a cluster shows, and media in layers over paths that open, close and stay.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "made_estimator.h"
#include "probe/probe_cluster.h"
#include "probe/probe_controller.h"
#include "read_file.h"
#include "test_send_side_call.h"
#include "weir/controllers.h"

namespace weir {
namespace {

constexpr DataRate Kbps(int64_t rate) { return DataRate::KilobitsPerSecond(rate); }
constexpr TimeDelta Ms(double time) { return TimeDelta::SecondsF(time / 1000); }

// --- one cluster ----------------------------------------------------------------------------------------------------

// Ten packets of 500 bytes at 1 Mbps: one each 4 ms.
class ProbeClusterTest : public testing::Test {
 protected:
  static constexpr int kPackets = 10;

  ProbeClusterTest() {
    cluster_.Begin({kStart, 1, Kbps(1000), Ms(40), 5});
    for (int i = 0; i < kPackets; ++i) cluster_.OnSent(i, kStart + Ms(4.0 * i), DataSize::Bytes(500));
  }
  void Arrive(TimeDelta spacing, int lose_each = kPackets + 1) {
    for (int i = 0; i < kPackets; ++i) {
      if (i % lose_each == lose_each - 1) {
        cluster_.OnLost(i);
      } else {
        cluster_.OnReceived(i, kStart + Ms(30) + TimeDelta::Micros(spacing.us() * i));
      }
    }
  }

  static constexpr Timestamp kStart = Timestamp::Seconds(10);
  ProbeCluster cluster_;
};

TEST_F(ProbeClusterTest, IsCarriedWhereItArrivesAsItLeft) {
  EXPECT_FALSE(cluster_.IsComplete());
  Arrive(Ms(4));
  EXPECT_TRUE(cluster_.IsComplete());
  ASSERT_TRUE(cluster_.Result());
  EXPECT_FALSE(cluster_.Result()->is_limit);
  EXPECT_EQ(cluster_.Result()->rate, Kbps(1000));
}

TEST_F(ProbeClusterTest, ShowsTheLimitOfASlowerPath) {
  Arrive(Ms(8));
  ASSERT_TRUE(cluster_.Result());
  EXPECT_TRUE(cluster_.Result()->is_limit);
  EXPECT_EQ(cluster_.Result()->rate, Kbps(475));
}

TEST_F(ProbeClusterTest, RandomLossIsNoLimit) {
  Arrive(Ms(4), 5);
  EXPECT_TRUE(cluster_.IsComplete());
  ASSERT_TRUE(cluster_.Result());
  EXPECT_FALSE(cluster_.Result()->is_limit);
}

TEST_F(ProbeClusterTest, LossOfAThirdIsALimit) {
  Arrive(Ms(4), 3);
  ASSERT_TRUE(cluster_.Result());
  EXPECT_TRUE(cluster_.Result()->is_limit);
}

TEST_F(ProbeClusterTest, PacketsThatWereHeldTogetherShowNothing) {
  Arrive(Ms(1));
  EXPECT_FALSE(cluster_.Result());
}

TEST_F(ProbeClusterTest, ArrivalsAtOneTimeOrOutOfAnyOrderShowNothing) {
  for (int i = 0; i < kPackets; ++i) cluster_.OnReceived(i, kStart);
  for (int i = 0; i < kPackets; ++i) cluster_.OnReceived(i, kStart + TimeDelta::Seconds(i));
  cluster_.OnReceived(77, kStart);
  EXPECT_FALSE(cluster_.Result());
}

// A frame of 1,200 bytes in the middle, after which the path sends two packets of the cluster late.
TEST_F(ProbeClusterTest, AFrameThatIsSentBesideItCounts) {
  ProbeCluster cluster;
  cluster.OnSentBeside(99, kStart, DataSize::Bytes(1200));
  cluster.Begin({kStart, 1, Kbps(1000), Ms(40), 5});
  cluster.OnSentBeside(100, kStart, DataSize::Bytes(1200));
  for (int i = 0; i < kPackets; ++i) {
    cluster.OnSent(i, kStart + Ms(4.0 * i), DataSize::Bytes(500));
    if (i == 5) cluster.OnSentBeside(50, kStart + Ms(4.0 * i), DataSize::Bytes(1200));
  }
  cluster.OnSentBeside(101, kStart + Ms(40), DataSize::Bytes(1200));
  // 1.2 Mbps: 3.3 ms for a packet of the cluster, 8 ms for the frame.
  Timestamp free = kStart;
  for (int i = 0; i < kPackets; ++i) {
    const auto arrive = [&](int64_t number, double ms) {
      free = std::max(free, kStart + Ms(4.0 * i)) + Ms(ms);
      cluster.OnReceived(number, free + Ms(30));
    };
    arrive(i, 10.0 / 3);
    EXPECT_EQ(cluster.IsComplete(), i == kPackets - 1);
    if (i == 5) arrive(50, 8);
  }
  ASSERT_TRUE(cluster.Result());
  EXPECT_FALSE(cluster.Result()->is_limit);
  EXPECT_EQ(cluster.Result()->rate, Kbps(1000));
}

TEST_F(ProbeClusterTest, MorePacketsThanItHoldsAreIgnored) {
  for (int i = kPackets; i < 1000; ++i) cluster_.OnSent(i, kStart + Ms(1.5 * i), DataSize::Bytes(500));
  for (int i = 0; i < 1000; ++i) cluster_.OnReceived(i, kStart + Ms(30 + 1.5 * i));
  EXPECT_TRUE(cluster_.IsComplete());
  EXPECT_EQ(cluster_.Result()->rate, Kbps(1000));
}

// --- when to probe --------------------------------------------------------------------------------------------------

TEST(ProbeControllerTest, ALayerThatLacksLittleIsProbed) {
  const ProbeController::Facts facts{.now = Timestamp::Seconds(1000),
                                     .target = Kbps(1600),
                                     .receive_rate = Kbps(500),
                                     .state = CongestionState::kNormal};
  for (const auto& [next, is_probed] : {std::pair(Kbps(1600), false), {Kbps(1610), true}, {Kbps(1700), true}}) {
    ProbeController controller(Kbps(1600));
    controller.SetDesiredRate({next, next}, Kbps(1600));
    for (int i = 0; i < 100; ++i)
      controller.OnSentPacket({.send_time = facts.now, .sequence_number = i, .size = DataSize::Bytes(1200)});
    EXPECT_FALSE(controller.OnProgress(facts));
    const auto cluster = controller.Take();
    ASSERT_EQ(cluster.has_value(), is_probed) << next.bps();
    if (!cluster) continue;
    EXPECT_EQ(cluster->target_data_rate, next);
  }
}

// A receiver that acknowledges each probe, and reports congestion by media after it.
TEST(ProbeControllerTest, SuccessWithoutEndAddsNoMoreThanItsShare) {
  ProbeController controller(Kbps(300));
  controller.SetDesiredRate({Kbps(2000), Kbps(1500)}, Kbps(300));
  ProbeController::Facts facts{.now = Timestamp::Seconds(1000),
                               .target = Kbps(500),
                               .receive_rate = Kbps(400),
                               .state = CongestionState::kNormal};
  DataSize sent = DataSize::Zero();
  int64_t number = 0;
  const auto send = [&](PacketKind kind, int32_t cluster) {
    const DataSize size = DataSize::Bytes(500);
    controller.OnSentPacket(
        {.send_time = facts.now, .sequence_number = number, .kind = kind, .size = size, .probe_cluster_id = cluster});
    sent += size;
    controller.OnReceived(number++, facts.now + Ms(30));
  };
  for (int i = 0; i < 6000; ++i) {
    send(PacketKind::kVideo, 0);
    facts.now = facts.now + Ms(10);
    facts.state = i % 20 < 2 ? CongestionState::kCongested : CongestionState::kNormal;
    controller.OnProgress(facts);
    if (const auto cluster = controller.Take()) {
      // The host pads without media.
      const int64_t packets = cluster->target_data_rate * cluster->target_duration / DataSize::Bytes(500) + 5;
      for (int64_t k = 0; k < packets; ++k) {
        send(PacketKind::kProbe, cluster->id);
        facts.now = facts.now + cluster->target_duration * (1.0 / static_cast<double>(packets));
      }
    }
  }
  EXPECT_GT(controller.counters().carried, 5u);
  EXPECT_LE(controller.counters().size.bytes(), 0.025 * static_cast<double>(sent.bytes()) + 50e3);
}

// Padding is at most 255 bytes a packet, with headers about 300.
TEST(ProbeControllerTest, EveryClusterCanBeSentAsPadding) {
  for (const int64_t next : {500, 2000, 5000, 20'000, 100'000}) {
    ProbeController controller(Kbps(300));
    controller.SetDesiredRate({Kbps(next), Kbps(next)}, Kbps(300));
    for (int i = 0; i < 2000; ++i) {
      controller.OnSentPacket(
          {.send_time = Timestamp::Seconds(1), .sequence_number = i, .size = DataSize::Bytes(1200)});
    }
    static_cast<void>(controller.OnProgress(
        {.now = Timestamp::Seconds(1), .target = Kbps(300), .receive_rate = Kbps(300), .state = {}}));
    const auto cluster = controller.Take();
    ASSERT_TRUE(cluster) << next;
    EXPECT_LE((cluster->target_data_rate * cluster->target_duration).bytes(),
              static_cast<int64_t>(300 * ProbeCluster::kMaxPackets));
    EXPECT_GE(cluster->target_data_rate, Kbps(std::min<int64_t>(next, 10'000)));
  }
}

// The largest cluster is not requested again after a success, however much more is desired.
TEST(ProbeControllerTest, WhatNoClusterCanShowIsNotProbedForEver) {
  ProbeController controller(Kbps(300));
  controller.SetDesiredRate({Kbps(900'000), Kbps(900'000)}, Kbps(300));
  ProbeController::Facts facts{.now = Timestamp::Seconds(1000),
                               .target = Kbps(2000),
                               .receive_rate = Kbps(2000),
                               .state = CongestionState::kNormal};
  int64_t number = 0;
  const auto send = [&](PacketKind kind, DataSize size, int32_t cluster) {
    controller.OnSentPacket(
        {.send_time = facts.now, .sequence_number = number, .kind = kind, .size = size, .probe_cluster_id = cluster});
    controller.OnReceived(number++, facts.now + Ms(30));
  };
  for (; facts.now < Timestamp::Seconds(1060); facts.now = facts.now + Ms(4.8)) {
    send(PacketKind::kVideo, DataSize::Bytes(1200), 0);
    controller.OnProgress(facts);
    const auto cluster = controller.Take();
    if (!cluster) continue;
    const DataSize size = DataSize::Bytes(280);
    const int64_t packets = cluster->target_data_rate * cluster->target_duration / size + 1;
    for (int64_t i = 0; i < packets; ++i) {
      send(PacketKind::kProbe, size, cluster->id);
      facts.now = facts.now + cluster->target_duration * (1.0 / static_cast<double>(packets));
    }
  }
  EXPECT_LE(controller.counters().clusters, 10u);
  EXPECT_GE(controller.TargetRate(facts.target), Kbps(40'000));
}

// Media that wait for a target above their lowest layer, on a path that may carry 2 Mbps and was congested last.
class PausedMediaTest : public testing::Test {
 protected:
  PausedMediaTest() {
    controller_.SetDesiredRate({Kbps(2000), DataRate::Zero()}, Kbps(50));
    Send(PacketKind::kVideo, 0);
  }
  void Send(PacketKind kind, int32_t cluster) {
    const DataSize size = DataSize::Bytes(250);
    controller_.OnSentPacket(
        {.send_time = now_, .sequence_number = number_, .kind = kind, .size = size, .probe_cluster_id = cluster});
    sent_ += size;
    if (kind == PacketKind::kProbe && carries_) controller_.OnReceived(number_, now_ + Ms(30));
    if (kind == PacketKind::kProbe && !carries_) controller_.OnLost(number_);
    ++number_;
  }
  void Pause(TimeDelta duration, bool all_settled) {
    const Timestamp end = now_ + duration;
    while (now_ < end) {
      now_ = std::max(now_ + Ms(1), std::min(controller_.NextTimeout(), end));
      const auto shown = controller_.OnProgress({.now = now_,
                                                 .target = target_,
                                                 .max_rate = Kbps(5000),
                                                 .state = CongestionState::kCongested,
                                                 .all_settled = all_settled});
      target_ = shown.value_or(target_);
      const auto cluster = controller_.Take();
      if (!cluster) continue;
      const DataSize size = cluster->target_data_rate * cluster->target_duration;
      const int64_t packets = std::max<int64_t>(size / DataSize::Bytes(250) + 1, cluster->target_probe_count);
      for (int64_t i = 0; i < packets; ++i) {
        Send(PacketKind::kProbe, cluster->id);
        now_ = now_ + DataSize::Bytes(250) / cluster->target_data_rate;
      }
    }
  }

  ProbeController controller_{Kbps(50)};
  Timestamp now_ = Timestamp::Seconds(1000);
  DataSize sent_ = DataSize::Zero();
  int64_t number_ = 0;
  bool carries_ = true;
  // In force in the estimator, whose time stops.
  DataRate target_ = Kbps(50);
};

TEST_F(PausedMediaTest, AreToldSoonThatThePathCarriesThem) {
  Pause(TimeDelta::Seconds(2), true);
  EXPECT_EQ(controller_.TargetRate(target_), Kbps(2000));
  EXPECT_LT(sent_, DataSize::Bytes(30'000));
  const DataSize sent = sent_;
  Pause(TimeDelta::Seconds(15), true);
  EXPECT_EQ(sent_, sent);
}

TEST_F(PausedMediaTest, ProbeAPathThatLosesAllForFewBytes) {
  carries_ = false;
  Pause(TimeDelta::Seconds(20), true);
  EXPECT_EQ(controller_.TargetRate(target_), Kbps(50));
  EXPECT_GT(controller_.counters().clusters, 5u);
  EXPECT_LT(sent_, DataSize::Bytes(25'000));
}

TEST_F(PausedMediaTest, WaitForWhatIsInFlightOrTwoSeconds) {
  Pause(Ms(1800), false);
  EXPECT_EQ(controller_.counters().clusters, 0u);
  Pause(Ms(400), false);
  EXPECT_GT(controller_.counters().clusters, 0u);
}

// --- layers ---------------------------------------------------------------------------------------------------------

constexpr size_t kTop = 2;

class LayersTest : public testing::TestWithParam<std::string> {
 protected:
  static std::unique_ptr<ReceiverController> Controller() {
    const auto shipped = [](const std::string&) { return PolicyModel::Load(ReadFile(WEIR_SHIPPED_MODEL)); };
    auto made = MakeController(GetParam(), shipped, Kbps(300));
    if (!made) throw std::runtime_error(made.error());
    return std::move(made.value());
  }
  static SendSideEstimatorConfig UpTo(DataRate max_rate) {
    SendSideEstimatorConfig config;
    config.estimator.constraints.max_rate = max_rate;
    return config;
  }
  static TestSendSidePath Path(std::function<DataRate(TimeDelta)> capacity) {
    TestSendSidePath path;
    path.changing_capacity = std::move(capacity);
    path.layers = {Kbps(150), Kbps(500), Kbps(1500)};
    return path;
  }
  // From `at` until the top layer is chosen; PlusInfinity: never.
  static TimeDelta UntilTop(const TestSendSideCall& call, TimeDelta at) {
    for (const auto& [time, layer] : call.layer_changes()) {
      if (time >= at && layer == kTop) return time - at;
    }
    return TimeDelta::PlusInfinity();
  }

  TestSendSideCall& Begin(TestSendSidePath path, const SendSideEstimatorConfig& config = {}) {
    estimator_.emplace(MadeSendSideEstimator(config, Controller()));
    return call_.emplace(*estimator_, std::move(path));
  }
  // Those of half a minute on 3 Mbps, none of which is sent.
  std::vector<ProbeClusterConfig> TakeClusters(const DesiredRate& desired, const SendSideEstimatorConfig& config) {
    TestSendSidePath path = Path([](TimeDelta) { return Kbps(3000); });
    path.probes = false;
    TestSendSideCall& call = Begin(path, config);
    EXPECT_FALSE(estimator_->SetDesiredRate(desired));
    std::vector<ProbeClusterConfig> clusters;
    for (int second = 1; second <= 30; ++second) {
      call.RunUntil(TimeDelta::Seconds(second));
      if (const auto cluster = estimator_->TakeProbeCluster()) clusters.push_back(*cluster);
      EXPECT_FALSE(estimator_->TakeProbeCluster());
    }
    return clusters;
  }

  std::optional<SendSideEstimator> estimator_;
  std::optional<TestSendSideCall> call_;
};

TEST_P(LayersTest, TheTopIsReachedSoonAfterThePathOpens) {
  std::vector<TimeDelta> times;
  for (int phase = 0; phase < 10; ++phase) {
    const TimeDelta opens = Ms(20'000 + 300 * phase);
    TestSendSideCall& call = Begin(Path([opens](TimeDelta at) { return Kbps(at < opens ? 300 : 3000); }));
    call.RunUntil(opens);
    EXPECT_TRUE(call.layer_changes().empty());
    call.RunUntil(opens + TimeDelta::Seconds(10));
    times.push_back(UntilTop(call, opens));
    EXPECT_LE(call.longest_queue(), Ms(50));
  }
  std::ranges::sort(times);
  EXPECT_GE(times.front(), Ms(500));
  EXPECT_LE(times[times.size() / 2], Ms(3000));
  EXPECT_LE(times.back(), Ms(6000));
}

// A longer path looks like a queue until its base delay is known.
TEST_P(LayersTest, TheTopIsReachedSoonAfterTheCallMovesToAFasterAndLongerPath) {
  for (const int64_t longer_ms : {10, 20, 30, 50, 70, 100, 200}) {
    const TimeDelta opens = TimeDelta::Seconds(20);
    TestSendSidePath path = Path([opens](TimeDelta at) { return Kbps(at < opens ? 300 : 3000); });
    path.detour = {opens, Ms(longer_ms)};
    TestSendSideCall& call = Begin(path);
    call.RunUntil(TimeDelta::Seconds(80));
    EXPECT_LE(UntilTop(call, opens), Ms(6000)) << longer_ms;
  }
}

TEST_P(LayersTest, ASteadyPathIsProbedWithoutAQueueAndForFewBytes) {
  for (const int64_t capacity : {300, 700, 1200, 3000}) {
    TestSendSideCall& call = Begin(Path([capacity](TimeDelta) { return Kbps(capacity); }));
    call.RunUntil(TimeDelta::Seconds(60));
    EXPECT_LE(call.longest_queue(), Ms(50)) << capacity;
    EXPECT_LE(call.probe_share(), 0.03) << capacity;
    EXPECT_LE(call.layer_changes().size(), 4u) << capacity;
    const auto& counters = estimator_->probe_counters();
    EXPECT_EQ(counters.clusters > 5, capacity < 3000) << capacity;
    EXPECT_GE(counters.carried + counters.limited + 1, counters.clusters) << capacity;
  }
}

TEST_P(LayersTest, AfterAMinuteOfOneLayerAllAreBackAtOnce) {
  const auto in_between = [](TimeDelta at) { return at > TimeDelta::Seconds(10) && at < TimeDelta::Seconds(70); };
  TestSendSidePath path = Path([](TimeDelta) { return Kbps(3000); });
  path.wanted_layers = [in_between](TimeDelta at) { return in_between(at) ? size_t{1} : size_t{3}; };
  TestSendSideCall& call = Begin(path);
  call.RunUntil(TimeDelta::Seconds(80));
  EXPECT_LE(UntilTop(call, TimeDelta::Zero()), Ms(2000));
  EXPECT_LE(UntilTop(call, TimeDelta::Seconds(70)), Ms(2000));
  EXPECT_LE(call.longest_queue(), Ms(50));
}

// A server passes layers that send less than they declare. What a probe showed is shown again before it expires.
TEST_P(LayersTest, TheTopStaysThoughItSendsLessThanItDeclares) {
  for (const double sent_share : {0.15, 0.4, 0.7}) {
    TestSendSidePath path = Path([](TimeDelta) { return Kbps(8000); });
    path.layers = {Kbps(450), Kbps(1500), Kbps(4950)};
    path.sent_share = sent_share;
    TestSendSideCall& call = Begin(path, UpTo(Kbps(10'000)));
    call.RunUntil(TimeDelta::Seconds(200));
    const auto& changes = call.layer_changes();
    EXPECT_LE(UntilTop(call, TimeDelta::Zero()), TimeDelta::Seconds(10)) << sent_share;
    EXPECT_TRUE(changes.empty() || changes.back().first < TimeDelta::Seconds(10)) << sent_share;
    EXPECT_LE(call.longest_queue(), Ms(50)) << sent_share;
    EXPECT_LE(call.probe_share(), 0.03) << sent_share;
  }
}

// A renewal fails where the path has shrunk, and no queue had shown that.
TEST_P(LayersTest, TheTopIsLeftWhenAProbeFails) {
  TestSendSidePath path = Path([](TimeDelta at) { return Kbps(at < TimeDelta::Seconds(15) ? 8000 : 2000); });
  path.layers = {Kbps(450), Kbps(1500), Kbps(4950)};
  path.sent_share = 0.15;
  TestSendSideCall& call = Begin(path, UpTo(Kbps(10'000)));
  call.RunUntil(TimeDelta::Seconds(60));
  ASSERT_FALSE(call.layer_changes().empty());
  EXPECT_LT(call.layer_changes().back().second, kTop);
  EXPECT_LE(call.longest_queue(), Ms(50));
}

TEST_P(LayersTest, APathThatShrankMeanwhileIsNotOverfilled) {
  TestSendSidePath path = Path([](TimeDelta at) { return Kbps(at < TimeDelta::Seconds(40) ? 3000 : 700); });
  path.wanted_layers = [](TimeDelta at) {
    return at > TimeDelta::Seconds(10) && at < TimeDelta::Seconds(70) ? size_t{1} : size_t{3};
  };
  TestSendSideCall& call = Begin(path);
  call.RunUntil(TimeDelta::Seconds(90));
  EXPECT_EQ(UntilTop(call, TimeDelta::Seconds(70)), TimeDelta::PlusInfinity());
  EXPECT_LE(call.longest_queue(), Ms(50));
}

TEST_P(LayersTest, AReceiverThatLiesGetsNoMoreThanIsDesired) {
  TestSendSidePath path = Path([](TimeDelta) { return Kbps(300); });
  path.optimistic_from = TimeDelta::Seconds(5);
  TestSendSideCall& call = Begin(path, UpTo(Kbps(1000)));
  call.RunUntil(TimeDelta::Seconds(60));
  EXPECT_LE(estimator_->target_rate().target_rate, Kbps(1000));
  EXPECT_EQ(UntilTop(call, TimeDelta::Zero()), TimeDelta::PlusInfinity());
}

// One layer needs more than what 128 packets of padding show, 19 Mbps.
TEST_P(LayersTest, ALayerOf30MbpsIsReached) {
  TestSendSidePath path = Path([](TimeDelta) { return Kbps(60'000); });
  path.layers = {Kbps(500), Kbps(2500), Kbps(30'000)};
  TestSendSideCall& call = Begin(path, UpTo(Kbps(100'000)));
  call.RunUntil(TimeDelta::Seconds(30));
  EXPECT_LE(UntilTop(call, TimeDelta::Zero()), TimeDelta::Seconds(20));
  EXPECT_LE(estimator_->probe_counters().clusters, 12u);
}

// The path is seen to be full; from then on the receiver acknowledges everything, probes above all. Media that filled
// 2 Mbps may be at 2.5 x 2 Mbps x 1.05^36 after 36 s.
TEST_P(LayersTest, ProbesThatAreAcknowledgedFalselyCountUpToAFactor) {
  TestSendSidePath path = Path([](TimeDelta) { return Kbps(2000); });
  path.layers.clear();
  path.desired_rate = Kbps(100'000);
  path.optimistic_from = TimeDelta::Seconds(20);
  TestSendSideCall& call = Begin(path, UpTo(Kbps(100'000)));
  call.RunUntil(TimeDelta::Seconds(20));
  EXPECT_LE(estimator_->target_rate().target_rate, Kbps(3000));
  call.RunUntil(TimeDelta::Seconds(56));
  EXPECT_LE(estimator_->target_rate().target_rate, Kbps(29'000));
}

// A receiver that lies would else be sent cluster after cluster.
TEST_P(LayersTest, NoClusterIsAboveTheMaximum) {
  const auto clusters = TakeClusters({Kbps(1650), Kbps(1650)}, UpTo(Kbps(1000)));
  EXPECT_FALSE(clusters.empty());
  for (const ProbeClusterConfig& cluster : clusters) EXPECT_LE(cluster.target_data_rate, Kbps(1000));
}

TEST_P(LayersTest, ClustersThatAreNeverSentExpire) {
  const auto clusters = TakeClusters({Kbps(1650), Kbps(550)}, {});
  EXPECT_GE(clusters.size(), 5u);
  EXPECT_LE(clusters.size(), 15u);
  for (const ProbeClusterConfig& cluster : clusters) {
    EXPECT_LE(cluster.target_data_rate, Kbps(1650));
    EXPECT_GE(cluster.target_duration, Ms(15));
    EXPECT_LE(cluster.target_duration, Ms(100));
  }
  EXPECT_EQ(estimator_->probe_counters().carried + estimator_->probe_counters().limited, 0u);
}

TEST_P(LayersTest, ImpossibleDesiredRatesAreErrors) {
  Begin(Path([](TimeDelta) { return Kbps(3000); }));
  EXPECT_TRUE(estimator_->SetDesiredRate({DataRate::Zero(), DataRate::Zero()}));
  EXPECT_TRUE(estimator_->SetDesiredRate({DataRate::PlusInfinity(), DataRate::Zero()}));
  EXPECT_TRUE(estimator_->SetDesiredRate({Kbps(1), Kbps(-1)}));
  EXPECT_FALSE(estimator_->TakeProbeCluster());
}

// --- the start of a call --------------------------------------------------------------------------------------------

class ProbesAtStartTest : public LayersTest {
 protected:
  static constexpr DataRate kMedia = Kbps(2500);

  TestSendSideCall& Begin(int64_t capacity_kbps, bool probes_start) {
    SendSideEstimatorConfig config;
    config.probes_start = probes_start;
    config.estimator.constraints.max_media_rate = kMedia;
    TestSendSidePath path;
    path.capacity = Kbps(capacity_kbps);
    return LayersTest::Begin(std::move(path), config);
  }
};

TEST_P(ProbesAtStartTest, FindTheRateOfTheMediaInHalfASecond) {
  for (const bool probes_start : {false, true}) {
    Begin(20'000, probes_start).RunUntil(Ms(500));
    const DataRate rate = estimator_->target_rate().target_rate;
    EXPECT_EQ(rate > kMedia * 0.9, probes_start) << rate.bps();
    EXPECT_EQ(estimator_->probe_counters().clusters, probes_start ? 3u : 0u);
  }
}

TEST_P(ProbesAtStartTest, EndWhereThePathCarriesNoMore) {
  for (const int64_t capacity_kbps : {100, 500, 1500}) {
    TestSendSideCall& call = Begin(capacity_kbps, true);
    call.RunUntil(TimeDelta::Seconds(1));
    const uint64_t clusters = estimator_->probe_counters().clusters;
    EXPECT_LE(clusters, 3u) << capacity_kbps;
    call.RunUntil(TimeDelta::Seconds(60));
    EXPECT_EQ(estimator_->probe_counters().clusters, clusters) << capacity_kbps;
  }
}

// A receiver that stretches the arrivals of clusters, or a host that sends them more slowly than requested, never shows
// their rate.
TEST(ProbeControllerTest, ClustersAtTheStartEndIfTheyShowNoMoreThanBefore) {
  for (const double share : {0.6, 0.89, 1.0}) {
    ProbeController controller(Kbps(300), true);
    ProbeController::Facts facts{.now = Timestamp::Seconds(1000), .target = Kbps(300), .max_rate = Kbps(2750)};
    int64_t number = 0;
    for (int i = 0; i < 6000; ++i, facts.now = facts.now + Ms(10)) {
      controller.OnProgress(facts);
      const auto cluster = controller.Take();
      if (!cluster) continue;
      constexpr int kPackets = 10;
      const DataSize size = cluster->target_data_rate * cluster->target_duration * (1.0 / kPackets);
      for (int k = 0; k < kPackets; ++k) {
        facts.now = facts.now + cluster->target_duration * (1 / (share * kPackets));
        controller.OnSentPacket({.send_time = facts.now,
                                 .sequence_number = number,
                                 .kind = PacketKind::kProbe,
                                 .size = size,
                                 .probe_cluster_id = cluster->id});
        controller.OnReceived(number++, facts.now + Ms(30));
      }
    }
    EXPECT_GE(controller.counters().clusters, 2u) << share;
    EXPECT_LE(controller.counters().clusters, 8u) << share;
  }
}

// Layers are probed as if the call began with them.
TEST_P(ProbesAtStartTest, EndWithTheFirstDesiredRate) {
  Begin(20'000, true).RunUntil(Ms(60));
  EXPECT_FALSE(estimator_->SetDesiredRate({Kbps(1650), Kbps(550)}));
  EXPECT_FALSE(estimator_->TakeProbeCluster());
  EXPECT_LE(estimator_->target_rate().target_rate, Kbps(500));
}

INSTANTIATE_TEST_SUITE_P(Controllers, ProbesAtStartTest, testing::Values("rule", "weir"),
                         [](const auto& test) { return test.param; });

INSTANTIATE_TEST_SUITE_P(Controllers, LayersTest, testing::Values("rule", "weir"),
                         [](const auto& test) { return test.param; });

// --- the state of the path ------------------------------------------------------------------------------------------

TEST_P(LayersTest, StatesFollowTheQueue) {
  TestSendSidePath path =
      Path([](TimeDelta at) { return Kbps(at > TimeDelta::Seconds(20) && at < TimeDelta::Seconds(25) ? 1400 : 3000); });
  path.layers = {Kbps(1500)};
  TestSendSideCall& call = Begin(path);
  std::vector<CongestionState> states;
  const auto follow_until = [&](int seconds) {
    for (TimeDelta at = TimeDelta::Seconds(seconds - 5); at <= TimeDelta::Seconds(seconds); at += Ms(50)) {
      call.RunUntil(at);
      const CongestionState now = estimator_->estimator().network_state().state;
      if (states.empty() || now != states.back()) states.push_back(now);
    }
    return states;
  };
  using enum CongestionState;
  EXPECT_EQ(follow_until(20), std::vector({kNormal}));
  // The queue grows by 70 ms a second.
  EXPECT_EQ(follow_until(25), std::vector({kNormal, kEarlyWarning, kCongested}));
  const DataRate carried = estimator_->estimator().network_state().link_capacity;
  EXPECT_GT(carried, Kbps(1250));
  EXPECT_LE(carried, Kbps(1450));
  EXPECT_EQ(follow_until(30), std::vector({kNormal, kEarlyWarning, kCongested, kNormal}));
}

TEST_P(LayersTest, FeedbackThatEndsIsCongestion) {
  TestSendSidePath path = Path([](TimeDelta) { return Kbps(3000); });
  path.feedback = [](TimeDelta at) {
    return at < TimeDelta::Seconds(10) ? std::vector<TimeDelta>{TimeDelta::Zero()} : std::vector<TimeDelta>{};
  };
  TestSendSideCall& call = Begin(path);
  call.RunUntil(TimeDelta::Seconds(10));
  EXPECT_EQ(estimator_->estimator().network_state().state, CongestionState::kNormal);
  call.RunUntil(TimeDelta::Seconds(12));
  EXPECT_EQ(estimator_->estimator().network_state().state, CongestionState::kCongested);
}

}  // namespace
}  // namespace weir
