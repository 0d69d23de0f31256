// Loss and delay variation of a link: long-run figures within five standard deviations of theory.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "link/impairments.h"
#include "link/link.h"
#include "simulation_fixture.h"

namespace weir::sim {
namespace {

constexpr Ns kDuration = 100 * kSecond;

using LossAndJitterTest = SimulationTest;

TEST_F(LossAndJitterTest, BernoulliLossRate) {
  LinkSpec spec = UsualLink();
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
  for (int i = 0; i < kPackets; ++i) lost += model.Loses(kTimeZero);
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
    const bool loses = bursts.Loses(kTimeZero);
    losses += loses;
    runs += loses && !before;
    before = loses;
  }
  // Lengths are geometric with mean 4 and standard deviation sqrt(12).
  EXPECT_NEAR(losses / static_cast<double>(runs), 4.0, 5 * std::sqrt(12.0 / runs));
}

TEST_F(LossAndJitterTest, APolicerDropsWhatFindsNoTokenAndDelaysNothing) {
  LinkSpec spec = UsualLink();
  spec.loss = {.kind = LossSpec::Kind::kPolicer, .rate_bps = 2'000'000, .burst_bytes = 20'000};
  Link link(spec, kDuration, 1, 0);
  RecordingSink sink(false);
  // 10 Mbps for 100 s: what goes through is the full bucket, and what fills it until the last packet.
  SendEvery(link, sink, kMs, 100'000, 1250);
  RunUntil(kDuration);
  EXPECT_EQ(static_cast<int64_t>(sink.received.size()), (20'000 + 250 * 99'999) / 1250);
  EXPECT_EQ(link.counters().packets_dropped_by_loss, static_cast<int64_t>(sink.dropped.size()));
  for (const auto& packet : sink.received) ASSERT_EQ(packet.arrival, packet.sent + 25 * kMs);
  // A packet a millisecond, and tokens for a fifth of one: the bucket lasts for 19, then one in five goes through.
  for (size_t i = 0; i < 19; ++i) EXPECT_EQ(sink.received[i].sent, static_cast<int64_t>(i) * kMs);
  EXPECT_EQ(sink.received[100].sent - sink.received[99].sent, 5 * kMs);
}

TEST_F(LossAndJitterTest, APolicersBucketFillsAgain) {
  Policer policer(8'000'000, 3'000);
  EXPECT_TRUE(policer.Conforms(kTimeZero, 1500));
  EXPECT_TRUE(policer.Conforms(kTimeZero, 1500));
  EXPECT_FALSE(policer.Conforms(kTimeZero, 40));
  // A byte a microsecond; who is dropped takes nothing.
  EXPECT_FALSE(policer.Conforms(Ns(999'999), 1000));
  EXPECT_TRUE(policer.Conforms(kMs, 1000));
  EXPECT_FALSE(policer.Conforms(kMs, 1));
  // However long nothing comes, it holds no more.
  EXPECT_FALSE(policer.Conforms(86'400 * kSecond, 3001));
  EXPECT_TRUE(policer.Conforms(86'400 * kSecond, 3000));
  EXPECT_FALSE(policer.Conforms(86'400 * kSecond, 1));
}

TEST_F(LossAndJitterTest, JitterIsTheAbsoluteValueOfAGaussian) {
  LinkSpec spec = UsualLink();
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
    sum_ms += static_cast<double>((packet.arrival - packet.sent - 25 * kMs).ns()) / 1e6;
    at_maximum += packet.arrival - packet.sent == (25 + 15) * kMs;
  }
  // Mean of |N(0, 5)| cut at three deviations: 5 (sqrt(2 / pi) (1 - exp(-4.5)) + 3 * 0.0027).
  const double expected_ms = 5 * (std::sqrt(2 / std::numbers::pi) * (1 - std::exp(-4.5)) + 3 * 0.0027);
  EXPECT_NEAR(sum_ms / kPackets, expected_ms, 5 * 3.02 / std::sqrt(static_cast<double>(kPackets)));
  EXPECT_NEAR(at_maximum, kPackets * 0.0027, 5 * std::sqrt(kPackets * 0.0027));
}

TEST_F(LossAndJitterTest, UniformJitterHasItsMeanAndItsMaximum) {
  JitterModel model({.kind = JitterSpec::Kind::kUniform, .maximum = 40 * kMs}, RandomStream(1, 0));
  // So far apart that none waits for the one before.
  constexpr int kPackets = 20'000;
  double sum_ms = 0.0;
  SimDuration largest = SimDuration::Zero();
  for (int64_t i = 0; i < kPackets; ++i) {
    const SimDuration jitter = model.Delayed(i * 50 * kMs) - i * 50 * kMs;
    ASSERT_GE(jitter, SimDuration::Zero());
    largest = std::max(largest, jitter);
    sum_ms += static_cast<double>(jitter.ns()) / 1e6;
  }
  EXPECT_NEAR(sum_ms / kPackets, 20.0, 5 * 40 / std::sqrt(12.0 * kPackets));
  EXPECT_LE(largest, 40 * kMs);
  EXPECT_GT(largest, 39 * kMs);
}

TEST_F(LossAndJitterTest, UniformJitterHoldsForItsInterval) {
  const JitterSpec spec{.kind = JitterSpec::Kind::kUniform, .maximum = 90 * kMs, .interval = 100 * kMs};
  JitterModel model(spec, RandomStream(1, 0)), seldom_used(spec, RandomStream(1, 0));
  constexpr int kIntervals = 20'000;
  double sum_ms = 0.0;
  for (int64_t i = 0; i < kIntervals; ++i) {
    // Late enough in the interval that nothing of the one before is under way.
    const SimTime late = (i * 100 + 91) * kMs;
    const SimDuration jitter = model.Delayed(late) - late;
    ASSERT_EQ(model.Delayed(late + 8 * kMs), late + 8 * kMs + jitter);
    sum_ms += static_cast<double>(jitter.ns()) / 1e6;
    // One that is used less draws as often.
    if (i % 7 == 6) {
      ASSERT_EQ(seldom_used.Delayed(late) - late, jitter);
    }
  }
  EXPECT_NEAR(sum_ms / kIntervals, 45.0, 5 * 90 / std::sqrt(12.0 * kIntervals));
  const SimTime last = model.Delayed((int64_t{kIntervals} * 100 - 1) * kMs);
  EXPECT_GE(model.Delayed(int64_t{kIntervals} * 100 * kMs), last);
}

TEST_F(LossAndJitterTest, ASlotLetsAllGoOnAtItsEnd) {
  const JitterSpec spec{.kind = JitterSpec::Kind::kSlotted, .interval = 20 * kMs};
  JitterModel model(spec, RandomStream(1, 0)), other_seed(spec, RandomStream(2, 0));
  const SimTime phase = model.Delayed(kTimeZero);
  EXPECT_LT(phase, 20 * kMs);
  EXPECT_NE(phase, other_seed.Delayed(kTimeZero));
  for (int64_t i = 0; i < 10'000; ++i) {
    const SimTime time = Ns(i * 7'000'001);
    const SimTime delayed = model.Delayed(time);
    ASSERT_GE(delayed, time);
    ASSERT_LT(delayed - time, 20 * kMs);
    ASSERT_EQ((delayed - phase).ns() % (20 * kMs).ns(), 0);
    // A packet at the end of a slot does not wait for the next.
    if (i == 9'999) {
      EXPECT_EQ(model.Delayed(delayed), delayed);
    }
  }
}

TEST_F(LossAndJitterTest, SpikesHoldAllBackAndLetThemGoTogether) {
  JitterModel model({.kind = JitterSpec::Kind::kSpikes, .gap_mean_s = 2.0, .shortest = 50 * kMs, .longest = 150 * kMs},
                    RandomStream(1, 0));
  constexpr Ns kStep = kMs / 10;
  SimTime last = kTimeZero, spike_end = kTimeZero;
  SimDuration waited = SimDuration::Zero(), in_spike = SimDuration::Zero();
  int64_t spikes = 0;
  for (SimTime time = kTimeZero; time < 4000 * kSecond; time += kStep) {
    const SimTime delayed = model.Delayed(time);
    ASSERT_GE(delayed, std::max(time, last));
    last = delayed;
    if (delayed == time) continue;
    in_spike += kStep;
    if (delayed == spike_end) continue;
    ASSERT_GE(time, spike_end);
    spike_end = delayed;
    ++spikes;
    waited += delayed - time;
    ASSERT_GE(delayed - time, 50 * kMs - kStep);
    ASSERT_LE(delayed - time, 150 * kMs);
  }
  // Every 2.1 s, for 100 ms; deviations of 2.0 s and 29 ms.
  EXPECT_NEAR(static_cast<double>(spikes), 4000 / 2.1, 5 * std::sqrt(4000 / 2.1));
  EXPECT_NEAR(static_cast<double>(waited.ns()) / static_cast<double>((spikes * kMs).ns()), 100,
              5 * 29 / std::sqrt(1900.0));
  EXPECT_NEAR(static_cast<double>(in_spike.ns()) / static_cast<double>((spikes * kMs).ns()), 100,
              5 * 29 / std::sqrt(1900.0));
}

TEST_F(LossAndJitterTest, ComeFromSeedAndStreamWhateverRanBeforeAndKeepTheOrderUnlessToldOtherwise) {
  LossSpec none, some{.kind = LossSpec::Kind::kBernoulli, .ratio = 0.1};
  const std::pair<LossSpec, JitterSpec> kinds[] = {
      {none, {JitterSpec::Kind::kTruncatedGaussian, 10 * kMs, 30 * kMs, false}},
      {none, {.kind = JitterSpec::Kind::kUniform, .maximum = 30 * kMs}},
      {none, {.kind = JitterSpec::Kind::kSlotted, .interval = 50 * kMs}},
      {none, {.kind = JitterSpec::Kind::kSpikes, .gap_mean_s = 1.0, .shortest = 50 * kMs, .longest = 200 * kMs}},
      {some, {JitterSpec::Kind::kTruncatedGaussian, 2 * kMs, 8 * kMs, true}}};
  for (const auto& [loss, jitter] : kinds) {
    const auto run = [&](uint64_t seed, uint64_t stream) {
      UseEventEngine();
      LinkSpec spec = LinkOf(3'000'000);
      spec.loss = loss;
      spec.jitter = jitter;
      Link link(spec, kDuration, seed, stream);
      RecordingSink sink(true);
      SendEvery(link, sink, 4 * kMs, 2000, 1200);
      RunUntil(20 * kSecond);
      ns3::Simulator::Destroy();
      return sink.received;
    };
    const auto first = run(1, 0);
    EXPECT_NEAR(static_cast<double>(first.size()), loss.kind == LossSpec::Kind::kNone ? 2000 : 1800, 100);
    if (!jitter.reorder) {
      for (size_t i = 1; i < first.size(); ++i) ASSERT_GT(first[i].sent, first[i - 1].sent);
    }
    EXPECT_NE(run(2, 0), first);
    EXPECT_NE(run(1, 8), first);
    EXPECT_EQ(run(1, 0), first);
  }
}

}  // namespace
}  // namespace weir::sim
