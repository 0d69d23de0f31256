// Links whose delay and loss change: the values in force, the order of packets, the record.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

#include "core/piecewise_constant.h"
#include "link/link.h"
#include "simulation_fixture.h"
#include "test_scenarios.h"

namespace weir::sim {
namespace {

constexpr Ns kDuration = 100 * kSecond;

using ChangingLinkTest = SimulationTest;

double Number(int64_t value) { return static_cast<double>(value); }

TEST(PiecewiseConstantTest, HoldsFromEachTimeOn) {
  const PiecewiseConstant<int64_t> values({kTimeZero, Ns(10), Ns(30)}, {1, 2, 3}, std::nullopt);
  for (const auto& [time, expected] : {std::pair{0, 1}, {9, 1}, {10, 2}, {29, 2}, {30, 3}, {1000, 3}, {5, 1}}) {
    EXPECT_EQ(values.At(Ns(time)), expected) << time;
  }
  EXPECT_DOUBLE_EQ(values.Mean(Ns(40), Number), (10 * 1 + 20 * 2 + 10 * 3) / 40.0);
  EXPECT_DOUBLE_EQ(values.Mean(Ns(5), Number), 1.0);
}

TEST(PiecewiseConstantTest, Repeats) {
  const PiecewiseConstant<int64_t> values({kTimeZero, Ns(10)}, {1, 2}, Ns(20));
  EXPECT_EQ(values.At(Ns(19)), 2);
  EXPECT_EQ(values.At(Ns(20)), 1);
  EXPECT_EQ(values.At(Ns(1'000'010)), 2);
  EXPECT_DOUBLE_EQ(values.Mean(Ns(50), Number), (10 * 1 + 10 * 2 + 10 * 1 + 10 * 2 + 10 * 1) / 50.0);
}

TEST_F(ChangingLinkTest, TheDelayOfTheInstantOfDeparture) {
  LinkSpec spec = LinkOf(1'000'000);
  spec.one_way_delay = {{kTimeZero, 50 * kMs}, {20 * kMs, 80 * kMs}, std::nullopt};
  Link link(spec, kDuration, 1, 0);
  RecordingSink sink(true);
  At(kTimeZero, [&] { sink.Send(link, 1250); });
  At(45 * kMs, [&] { sink.Send(link, 1250); });
  RunUntil(kSecond);
  ASSERT_EQ(sink.received.size(), 2u);
  EXPECT_EQ(sink.received[0].arrival, (10 + 20) * kMs);
  // Leaves the bottleneck at 55 ms.
  EXPECT_EQ(sink.received[1].arrival, (45 + 10 + 80) * kMs);
}

TEST_F(ChangingLinkTest, PacketsUnderWayAreNotOvertaken) {
  LinkSpec spec = UsualLink();
  spec.one_way_delay = {{kTimeZero, 10 * kMs}, {100 * kMs, 20 * kMs}, std::nullopt};
  Link link(spec, kDuration, 1, 0);
  RecordingSink sink(false);
  for (const int64_t sent_ms : {5, 11, 60, 95}) At(sent_ms * kMs, [&] { sink.Send(link, 100); });
  RunUntil(kSecond);
  ASSERT_EQ(sink.received.size(), 4u);
  EXPECT_EQ(sink.received[0].arrival, 105 * kMs);
  EXPECT_EQ(sink.received[1].arrival, 105 * kMs);
  EXPECT_EQ(sink.received[2].arrival, 105 * kMs);
  EXPECT_EQ(sink.received[3].arrival, 115 * kMs);
}

TEST_F(ChangingLinkTest, TheLossOfTheInstantOfSending) {
  LinkSpec spec = UsualLink();
  spec.loss = {.kind = LossSpec::Kind::kBernoulli,
               .ratio = {{kTimeZero, kSecond, 2 * kSecond}, {0, 0.25, 1}, 3 * kSecond}};
  Link link(spec, kDuration, 1, 0);
  RecordingSink sink(false);
  std::array<int, 3> lost{};
  constexpr int kPackets = 4000;
  for (int i = 0; i < 6 * kPackets; ++i) {
    At(i * kSecond / kPackets, [&, i] {
      const size_t before = sink.dropped.size();
      sink.Send(link, 100);
      lost[static_cast<size_t>(i / kPackets % 3)] += static_cast<int>(sink.dropped.size() - before);
    });
  }
  RunUntil(10 * kSecond);
  EXPECT_EQ(lost[0], 0);
  EXPECT_NEAR(lost[1], 2 * kPackets * 0.25, 5 * std::sqrt(2 * kPackets * 0.25 * 0.75));
  EXPECT_EQ(lost[2], 2 * kPackets);
}

TEST_F(ChangingLinkTest, ChangesWaitForTheStart) {
  LinkSpec spec = UsualLink();
  spec.one_way_delay = {{kTimeZero, 10 * kMs}, {20 * kMs, 50 * kMs}, std::nullopt};
  Link link(spec, kDuration, 1, 0);
  RecordingSink sink(false);
  link.SetStart(kNever);
  At(500 * kMs, [&] { sink.Send(link, 100); });
  At(600 * kMs, [&] { link.SetStart(600 * kMs); });
  At(605 * kMs, [&] { sink.Send(link, 100); });
  At(615 * kMs, [&] { sink.Send(link, 100); });
  RunUntil(kSecond);
  ASSERT_EQ(sink.received.size(), 3u);
  EXPECT_EQ(sink.received[0].arrival, 520 * kMs);
  EXPECT_EQ(sink.received[1].arrival, 625 * kMs);
  EXPECT_EQ(sink.received[2].arrival, 665 * kMs);
}

TEST(ChangingScenarioTest, WhatThePathDoesIsNoQueue) {
  json scenario = Steady(2'000'000, 30);
  scenario["forward"]["one_way_delay_ms"] = {{"times_s", {0, 10}}, {"values_ms", {30, 90}}};
  const auto flow = RunScenario(scenario, "fixed")["flows"][0];
  EXPECT_DOUBLE_EQ(flow["base_one_way_delay_ms"].get<double>(), 70.0);
  EXPECT_LT(flow["one_way_delay_ms"]["p5"].get<double>(), 37.0);
  EXPECT_GT(flow["one_way_delay_ms"]["p95"].get<double>(), 90.0);
  // Half the capacity: a packet's transmission, and that of a sender report before it.
  EXPECT_LT(flow["queueing_delay_ms"]["max"].get<double>(), 6.0);
  EXPECT_FALSE(RunScenario(Steady(2'000'000, 5), "fixed")["flows"][0].contains("queueing_delay_ms"));
}

}  // namespace
}  // namespace weir::sim
