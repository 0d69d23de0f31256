// Loss and delay variation of a link: long-run figures within five standard deviations of theory.
#include <cmath>
#include <numbers>

#include "link/link.h"
#include "link/loss_model.h"
#include "simulation_fixture.h"

namespace weir::sim {
namespace {

constexpr int64_t kDuration = 100 * kSecond;

using LossAndJitterTest = SimulationTest;

TEST_F(LossAndJitterTest, BernoulliLossRate) {
  LinkSpec spec;
  spec.loss = {.kind = LossSpec::Kind::kBernoulli, .ratio = 0.05};
  Link link(spec, kDuration, 1, 0);
  RecordingSink sink(false);
  constexpr int kPackets = 200'000;
  for (int i = 0; i < kPackets; ++i) sink.Send(link, 1200);
  const double ratio = static_cast<double>(sink.dropped.size()) / kPackets;
  EXPECT_NEAR(ratio, 0.05, 5 * std::sqrt(0.05 * 0.95 / kPackets));
  EXPECT_EQ(link.counters().packets_dropped_by_loss, static_cast<int64_t>(sink.dropped.size()));
  EXPECT_EQ(sink.received.size() + sink.dropped.size(), static_cast<size_t>(kPackets));
}

TEST_F(LossAndJitterTest, LossComesBeforeTheQueue) {
  LinkSpec spec = LinkOf(1'000'000);
  spec.loss = {.kind = LossSpec::Kind::kBernoulli, .ratio = 1.0};
  Link link(spec, kDuration, 1, 0);
  RecordingSink sink(false);
  for (int i = 0; i < 100; ++i) sink.Send(link, 1250);
  EXPECT_EQ(link.counters().packets_dropped_by_loss, 100);
  EXPECT_EQ(link.queued_packets(), 0);
}

TEST_F(LossAndJitterTest, GilbertElliottLossRateAndBursts) {
  const LossSpec spec{.kind = LossSpec::Kind::kGilbertElliott,
                      .good_to_bad = 0.01,
                      .bad_to_good = 0.2,
                      .loss_good = 0.001,
                      .loss_bad = 0.5};
  LossModel model(spec, RandomStream(1, 0));
  constexpr int kPackets = 1'000'000;
  int lost = 0;
  for (int i = 0; i < kPackets; ++i) lost += model.Loses(0);
  // In the bad state for 0.01 / (0.01 + 0.2) of the time. The states' correlation, 0.79 a packet, widens the mean's
  // deviation: with s the stationary variance of the state's loss ratio, the variance is (p (1 - p) + 2 s 0.79 / 0.21)
  // / n.
  const double bad = 0.01 / 0.21;
  const double expected = bad * 0.5 + (1 - bad) * 0.001;
  const double state_variance = bad * (1 - bad) * 0.499 * 0.499;
  const double deviation =
      std::sqrt((expected * (1 - expected) + 2 * state_variance * 0.79 / 0.21) / static_cast<double>(kPackets));
  EXPECT_NEAR(lost / static_cast<double>(kPackets), expected, 5 * deviation);

  LossModel bursts({.kind = LossSpec::Kind::kGilbertElliott,
                    .good_to_bad = 0.02,
                    .bad_to_good = 0.25,
                    .loss_good = 0.0,
                    .loss_bad = 1.0},
                   RandomStream(2, 0));
  int losses = 0, runs = 0;
  bool before = false;
  for (int i = 0; i < kPackets; ++i) {
    const bool loses = bursts.Loses(0);
    losses += loses;
    runs += loses && !before;
    before = loses;
  }
  // Lengths are geometric with mean 4 and standard deviation sqrt(12).
  EXPECT_NEAR(losses / static_cast<double>(runs), 4.0, 5 * std::sqrt(12.0 / runs));
}

TEST_F(LossAndJitterTest, JitterKeepsTheOrderUnlessToldOtherwise) {
  for (const bool reorder : {false, true}) {
    LinkSpec spec;
    spec.jitter = {JitterSpec::Kind::kTruncatedGaussian, 10 * kMs, 30 * kMs, reorder};
    Link link(spec, kDuration, 1, 0);
    RecordingSink sink(true);
    SendEvery(link, sink, 2 * kMs, 20'000, 1200);
    RunUntil(kDuration);
    ASSERT_EQ(sink.received.size(), 20'000u);
    int overtakes = 0;
    for (size_t i = 0; i < sink.received.size(); ++i) {
      const auto& packet = sink.received[i];
      EXPECT_GE(packet.arrival_ns - packet.sent_ns, 25 * kMs);
      EXPECT_LE(packet.arrival_ns - packet.sent_ns, (25 + 30) * kMs);
      overtakes += i > 0 && packet.sent_ns < sink.received[i - 1].sent_ns;
    }
    if (reorder) {
      EXPECT_GT(overtakes, 1000);
      EXPECT_LT(overtakes, 15'000);
    } else {
      EXPECT_EQ(overtakes, 0);
    }
    ns3::Simulator::Destroy();
    UseFastScheduler();
  }
}

TEST_F(LossAndJitterTest, JitterIsTheAbsoluteValueOfAGaussian) {
  LinkSpec spec;
  spec.jitter = {JitterSpec::Kind::kTruncatedGaussian, 5 * kMs, 15 * kMs, false};
  Link link(spec, kDuration, 1, 0);
  RecordingSink sink(false);
  constexpr int kPackets = 50'000;
  // So far apart that none waits for the one before.
  SendEvery(link, sink, 20 * kMs, kPackets, 1200);
  RunUntil(kPackets * 20 * kMs);
  double sum_ms = 0.0;
  int at_maximum = 0;
  for (const auto& packet : sink.received) {
    sum_ms += static_cast<double>(packet.arrival_ns - packet.sent_ns - 25 * kMs) / kMs;
    at_maximum += packet.arrival_ns - packet.sent_ns == (25 + 15) * kMs;
  }
  // Mean of |N(0, 5)| cut at three deviations: 5 (sqrt(2 / pi) (1 - exp(-4.5)) + 3 * 0.0027).
  const double expected_ms = 5 * (std::sqrt(2 / std::numbers::pi) * (1 - std::exp(-4.5)) + 3 * 0.0027);
  EXPECT_NEAR(sum_ms / kPackets, expected_ms, 5 * 3.02 / std::sqrt(static_cast<double>(kPackets)));
  EXPECT_NEAR(at_maximum, kPackets * 0.0027, 5 * std::sqrt(kPackets * 0.0027));
}

TEST_F(LossAndJitterTest, SameSeedSameFateWhateverRanBefore) {
  const auto run = [](uint64_t seed, uint64_t stream) {
    UseFastScheduler();
    LinkSpec spec = LinkOf(3'000'000);
    spec.loss = {.kind = LossSpec::Kind::kBernoulli, .ratio = 0.1};
    spec.jitter = {JitterSpec::Kind::kTruncatedGaussian, 2 * kMs, 8 * kMs, true};
    Link link(spec, kDuration, seed, stream);
    RecordingSink sink(true);
    for (int64_t i = 0; i < 2000; ++i) At(i * 3'111'111, [&] { sink.Send(link, 1200); });
    RunUntil(10 * kSecond);
    ns3::Simulator::Destroy();
    return sink.received;
  };
  const auto first = run(1, 0);
  EXPECT_GT(first.size(), 1700u);
  EXPECT_LT(first.size(), 1900u);
  EXPECT_NE(run(2, 0), first);
  EXPECT_NE(run(1, 8), first);
  EXPECT_EQ(run(1, 0), first);
}

}  // namespace
}  // namespace weir::sim
