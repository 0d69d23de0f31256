// Links against theory: times to the nanosecond, exact counts, long-run rates within five standard deviations.
#include "link/link.h"

#include <algorithm>
#include <cmath>

#include "simulation_fixture.h"

namespace weir::sim {
namespace {

constexpr Ns kDuration = 100 * kSecond;

using LinkTest = SimulationTest;

// Properties of a link with each queue discipline.
class QueueTest : public SimulationTest, public testing::WithParamInterface<QueueDiscipline> {};
INSTANTIATE_TEST_SUITE_P(Disciplines, QueueTest,
                         testing::Values(QueueDiscipline::kDropTail, QueueDiscipline::kCodel,
                                         QueueDiscipline::kDualPi2));

TEST_F(LinkTest, SerialisationAndPropagation) {
  Link link(LinkOf(1'000'000), kDuration, 1, 0);
  RecordingSink sink(false);
  At(3 * kMs, [&] {
    sink.Send(link, 1250);
    sink.Send(link, 125);
  });
  At(500 * kMs, [&] { sink.Send(link, 1250, 7 * kMs); });
  RunUntil(kSecond);
  ASSERT_EQ(sink.received.size(), 3u);
  EXPECT_EQ(sink.received[0].arrival, (3 + 10 + 25) * kMs);
  EXPECT_EQ(sink.received[1].arrival, (3 + 11 + 25) * kMs);
  EXPECT_EQ(sink.received[2].arrival, (500 + 10 + 25 + 7) * kMs);
}

TEST_P(QueueTest, SinksWithAndWithoutEventsSeeTheSameTimes) {
  LinkSpec spec = LinkOf(2'000'000);
  spec.queue_discipline = GetParam();
  spec.jitter = {JitterSpec::Kind::kTruncatedGaussian, 3 * kMs, 9 * kMs, false};
  RecordingSink with_event(true), without_event(false);
  for (RecordingSink* sink : {&with_event, &without_event}) {
    Link link(spec, kDuration, 1, 0);
    SendEvery(link, *sink, Ns(5'300'001), 300, 1200);
    RunUntil(10 * kSecond);
    NextSimulation();
  }
  ASSERT_EQ(with_event.received.size(), 300u);
  ASSERT_EQ(without_event.received.size(), 300u);
  for (size_t i = 0; i < 300; ++i) {
    EXPECT_EQ(with_event.received[i].arrival, without_event.received[i].arrival);
    EXPECT_EQ(with_event.received[i].called, with_event.received[i].arrival);
    EXPECT_LT(without_event.received[i].called, without_event.received[i].arrival);
  }
}

TEST_P(QueueTest, RateChangeWithinAPacket) {
  LinkSpec spec = UsualLink();
  spec.capacity = CapacityTrace({kTimeZero, 5 * kMs, 6 * kMs}, {1'000'000, 2'000'000, 500'000});
  spec.queue_discipline = GetParam();
  Link link(spec, kDuration, 1, 0);
  RecordingSink sink(true);
  At(kTimeZero, [&] { sink.Send(link, 1250); });
  RunUntil(kSecond);
  // 5,000 bits by 5 ms, 2,000 by 6 ms, 3,000 at 500 kbps.
  ASSERT_EQ(sink.received.size(), 1u);
  EXPECT_EQ(sink.received[0].arrival, (6 + 6 + 25) * kMs);
}

TEST_F(LinkTest, OutageQueuesAndDropsNothing) {
  LinkSpec spec = UsualLink();
  // The outage begins in the middle of the first packet.
  spec.capacity = CapacityTrace({kTimeZero, 4 * kMs, 2004 * kMs}, {1'000'000, 0, 1'000'000});
  spec.queue = {QueueSpec::Unit::kPackets, 20};
  Link link(spec, kDuration, 1, 0);
  RecordingSink sink(true);
  SendEvery(link, sink, 100 * kMs, 20, 1250);
  At(1950 * kMs, [&] {
    EXPECT_EQ(link.queued_bytes(), 20 * 1250);
    EXPECT_EQ(link.queued_packets(), 20);
    // 54 ms of outage are left, then 6 ms of the first packet and 19 others.
    EXPECT_EQ(link.QueueingDelay(), (54 + 6 + 190) * kMs);
  });
  At(1960 * kMs, [&] { sink.Send(link, 1250); });
  RunUntil(5 * kSecond);
  ASSERT_EQ(sink.received.size(), 20u);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(sink.received[i].arrival, (2010 + 10 * i + 25) * kMs);
  // The one too many is dropped by the queue's bound, not by the outage.
  ASSERT_EQ(sink.dropped.size(), 1u);
  EXPECT_EQ(sink.dropped[0].first, 1960 * kMs);
}

TEST_P(QueueTest, CapacityThatStaysZeroHoldsWhatItHas) {
  LinkSpec spec = UsualLink();
  spec.capacity = CapacityTrace({kTimeZero, kSecond}, {1'000'000, 0});
  spec.queue = {QueueSpec::Unit::kPackets, 3};
  spec.queue_discipline = GetParam();
  Link link(spec, kDuration, 1, 0);
  RecordingSink sink(true);
  At(2 * kSecond, [&] {
    for (int i = 0; i < 5; ++i) sink.Send(link, 1250);
  });
  RunUntil(50 * kSecond);
  EXPECT_EQ(sink.received.size(), 0u);
  EXPECT_EQ(sink.dropped.size(), 2u);
  EXPECT_EQ(link.queued_packets(), 3);
  EXPECT_EQ(link.QueueingDelay(), kForever);
}

TEST_P(QueueTest, QueueBoundsInEachUnit) {
  struct Case {
    QueueSpec queue;
    CapacityTrace capacity;
    int64_t limit = 0;
    size_t admitted = 0;
    SimDuration last_departure = SimDuration::Zero();
  };
  using Unit = QueueSpec::Unit;
  const CapacityTrace steady({kTimeZero}, {1'000'000});
  const CapacityTrace uneven({kTimeZero, 900 * kMs}, {1'000'000, 11'000'000}, kSecond);
  const Case cases[] = {
      {{Unit::kMilliseconds, 300}, steady, 37'500, 30, 300 * kMs},
      // The mean is 2 Mbps: 60 packets, of which the burst at 1 Mbps takes 600 ms.
      {{Unit::kMilliseconds, 300}, uneven, 75'000, 60, 600 * kMs},
      {{Unit::kBytes, 10'000}, steady, 10'000, 8, 80 * kMs},
      {{Unit::kBytes, 11'249}, steady, 11'249, 8, 80 * kMs},
      {{Unit::kPackets, 5}, steady, 5, 5, 50 * kMs},
      // A full packet always fits.
      {{Unit::kBytes, 1}, steady, 1'500, 1, 10 * kMs},
      {{Unit::kMilliseconds, 0.01}, steady, 1'500, 1, 10 * kMs},
  };
  for (const Case& c : cases) {
    LinkSpec spec = UsualLink();
    spec.capacity = c.capacity;
    spec.queue = c.queue;
    spec.queue_discipline = GetParam();
    Link link(spec, kDuration, 1, 0);
    EXPECT_EQ(QueueLimit(spec, kDuration), c.limit);
    RecordingSink sink(true);
    At(kTimeZero, [&] {
      for (int i = 0; i < 100; ++i) sink.Send(link, 1250);
      EXPECT_EQ(link.queued_packets(), static_cast<int64_t>(c.admitted));
      EXPECT_EQ(link.QueueingDelay(), c.last_departure);
      EXPECT_EQ(sink.dropped.size(), 100 - c.admitted);
    });
    RunUntil(5 * kSecond);
    EXPECT_EQ(link.queued_bytes(), 0);
    if (GetParam() == QueueDiscipline::kDropTail) {
      ASSERT_EQ(sink.received.size(), c.admitted);
      EXPECT_EQ(sink.received.back().arrival, kTimeZero + c.last_departure + 25 * kMs);
    }
    EXPECT_EQ(sink.received.size() + sink.dropped.size(), 100u);
    NextSimulation();
  }
}

TEST_F(LinkTest, ExactDropCountOfAnOverload) {
  LinkSpec spec = LinkOf(1'000'000);
  spec.queue = {QueueSpec::Unit::kPackets, 10};
  Link link(spec, kDuration, 1, 0);
  RecordingSink sink(false);
  // Twice the capacity for 10 s: a packet leaves every 10 ms, one comes every 5.
  SendEvery(link, sink, 5 * kMs, 2000, 1250);
  RunUntil(20 * kSecond);
  // By the last arrival, at 9,995 ms, 999 have left, and the queue holds its 10.
  EXPECT_EQ(sink.received.size(), 1009u);
  EXPECT_EQ(sink.dropped.size(), 991u);
  EXPECT_EQ(link.counters().packets_sent, 2000);
  EXPECT_EQ(link.counters().packets_dropped_by_queue, 991);
  EXPECT_EQ(link.counters().packets_dropped_by_loss, 0);
  SimDuration longest = SimDuration::Zero();
  for (const auto& packet : sink.received) longest = std::max(longest, packet.arrival - packet.sent);
  EXPECT_EQ(longest, (100 + 25) * kMs);
}

TEST_P(QueueTest, SaturatingFlowGetsTheCapacity) {
  for (const double mbps : {0.1, 2.5, 50.0}) {
    const auto rate_bps = static_cast<int64_t>(mbps * 1e6);
    LinkSpec spec = UsualLink();
    // An outage of 200 ms in every second, else a quarter above the mean.
    spec.capacity = CapacityTrace({kTimeZero, 300 * kMs, 500 * kMs}, {rate_bps * 5 / 4, 0, rate_bps * 5 / 4}, kSecond);
    spec.queue_discipline = GetParam();
    Link link(spec, kDuration, 1, 0);
    FlowSpec flow;
    flow.stop = 60 * kSecond;
    flow.kind = CbrSpec{DataRate::BitsPerSecond(rate_bps * 3 / 2), 1200};
    CountingObserver observer;
    observer.count_from = 10 * kSecond + 25 * kMs;
    const auto cbr = StartFlow(flow, &link, &link, &observer);
    RunUntil(60 * kSecond + 25 * kMs);
    const double received_bps = static_cast<double>(observer.bytes_received_late) * 8 / 50;
    EXPECT_GT(received_bps, 0.99 * static_cast<double>(rate_bps));
    EXPECT_LT(received_bps, 1.01 * static_cast<double>(rate_bps));
    RunUntil(65 * kSecond);
    EXPECT_EQ(link.queued_packets(), 0);
    EXPECT_EQ(observer.packets_sent, observer.packets_received + observer.packets_dropped);
    NextSimulation();
  }
}

TEST_F(LinkTest, HalfTheCapacitySeesNoQueue) {
  Link link(LinkOf(2'000'000), kDuration, 1, 0);
  FlowSpec flow;
  flow.start = kSecond;
  flow.stop = 11 * kSecond;
  flow.kind = CbrSpec{DataRate::BitsPerSecond(1'000'000), 1250};
  CountingObserver observer;
  const auto cbr = StartFlow(flow, &link, &link, &observer);
  RunUntil(20 * kSecond);
  EXPECT_EQ(observer.packets_sent, 1000);
  EXPECT_EQ(observer.packets_received, 1000);
  EXPECT_EQ(observer.first_sent, kSecond);
  EXPECT_EQ(observer.last_sent, kSecond + 999 * 10 * kMs);
  EXPECT_EQ(observer.min_delay, 30 * kMs);
  EXPECT_EQ(observer.max_delay, 30 * kMs);
}

TEST_F(LinkTest, UnlimitedLinkOnlyDelays) {
  Link link(UsualLink(), kDuration, 1, 0);
  RecordingSink sink(true);
  At(kTimeZero, [&] {
    for (int i = 0; i < 1000; ++i) sink.Send(link, 1500);
    EXPECT_EQ(link.queued_bytes(), 0);
    EXPECT_EQ(link.QueueingDelay(), SimDuration::Zero());
  });
  RunUntil(kSecond);
  ASSERT_EQ(sink.received.size(), 1000u);
  for (const auto& packet : sink.received) EXPECT_EQ(packet.arrival, 25 * kMs);
}

TEST_P(QueueTest, AnotherCapacityCountsForWhatComesAfter) {
  LinkSpec spec = LinkOf(1'000'000);
  spec.queue_discipline = GetParam();
  Link link(spec, kDuration, 1, 0);
  RecordingSink sink(true);
  At(kTimeZero, [&] { sink.Send(link, 1250); });
  At(5 * kMs, [&] { link.SetCapacity(CapacityTrace({kTimeZero, 12 * kMs}, {500'000, 2'000'000})); });
  At(6 * kMs, [&] { sink.Send(link, 1250); });
  RunUntil(kSecond);
  ASSERT_EQ(sink.received.size(), 2u);
  EXPECT_EQ(sink.received[0].arrival, (10 + 25) * kMs);
  // 1,000 bits at 500 kbps, from 10 to 12 ms, then 9,000 at 2 Mbps.
  EXPECT_EQ(sink.received[1].arrival, 16 * kMs + kMs / 2 + 25 * kMs);
}

TEST_P(QueueTest, CountsWhatItCarriedAndWhenItHadNothingTo) {
  LinkSpec spec = LinkOf(1'000'000);
  spec.queue_discipline = GetParam();
  spec.queue = {QueueSpec::Unit::kPackets, 3};
  Link link(spec, kDuration, 1, 0);
  RecordingSink sink(true);
  const auto expect = [&link](int64_t carried_bytes, SimDuration idle) {
    EXPECT_EQ(link.carried_bytes(), carried_bytes);
    EXPECT_EQ(link.Idle(), idle);
  };
  At(7 * kMs, [&] {
    expect(0, 7 * kMs);
    for (int i = 0; i < 5; ++i) sink.Send(link, 1250);
  });
  At(36 * kMs, [&] { expect(2 * 1250, 7 * kMs); });
  At(50 * kMs, [&] { expect(3 * 1250, 20 * kMs); });
  At(60 * kMs, [&] {
    link.SetDown(true);
    sink.Send(link, 1250);
    link.SetDown(false);
    sink.Send(link, 1250);
  });
  At(65 * kMs, [&] { expect(3 * 1250, 30 * kMs); });
  At(75 * kMs, [&] { expect(4 * 1250, 35 * kMs); });
  RunUntil(kSecond);
  EXPECT_EQ(link.counters().packets_dropped_while_down, 1);
  EXPECT_EQ(link.counters().packets_dropped_by_queue, 2);
  EXPECT_EQ(sink.dropped.size(), 3u);
}

// CoDel against RFC 8289.
using CodelTest = SimulationTest;

TEST_F(CodelTest, DropsAtTheTimesOfItsControlLaw) {
  LinkSpec spec = LinkOf(1'000'000);
  spec.queue = {QueueSpec::Unit::kPackets, 10'000};
  spec.queue_discipline = QueueDiscipline::kCodel;
  Link link(spec, kDuration, 1, 0);
  RecordingSink sink(false);
  // Service takes 10 ms, a packet comes every 8.001 ms. At 90 ms, for the first time, more than one full packet is left
  // behind a packet that has waited for over 5 ms; at 190 ms the interval is over.
  SendEvery(link, sink, Ns(8'001'000), 400, 1250);
  RunUntil(800 * kMs);
  // 100 / sqrt(n) ms from each to the next, each rounded up to the next departure: 190, 290, 360.7, 418.4, 468.4,
  // 513.2, 554.0, 591.8.
  const int64_t expected_ms[] = {190, 290, 370, 420, 470, 520, 560, 600};
  ASSERT_GE(sink.dropped.size(), std::size(expected_ms));
  for (size_t i = 0; i < std::size(expected_ms); ++i) EXPECT_EQ(sink.dropped[i].second, expected_ms[i] * kMs);
}

TEST_F(CodelTest, LeavesAShortQueueAlone) {
  LinkSpec spec = LinkOf(1'000'000);
  spec.queue_discipline = QueueDiscipline::kCodel;
  Link link(spec, kDuration, 1, 0);
  RecordingSink sink(false);
  // A burst of 10 packets every 200 ms: it has gone before the interval of 100 ms is over.
  for (int burst = 0; burst < 50; ++burst) {
    At(int64_t{burst} * 200 * kMs, [&] {
      for (int i = 0; i < 9; ++i) sink.Send(link, 1250);
    });
  }
  RunUntil(20 * kSecond);
  EXPECT_EQ(sink.dropped.size(), 0u);
  EXPECT_EQ(sink.received.size(), 450u);
}

// DualPI2 against RFC 9332: a link of 10 Mbps, which takes 1 ms for a packet.
class DualPi2Test : public SimulationTest {
 protected:
  static constexpr Ns kEnd = 20 * kSecond;

  static LinkSpec Spec() {
    LinkSpec spec = LinkOf(10'000'000);
    spec.queue_discipline = QueueDiscipline::kDualPi2;
    return spec;
  }

  // Packets of 1250 bytes all the time.
  void Send(RecordingSink& sink, SimDuration interval, EcnMarking ecn, SimTime start = kTimeZero) {
    for (SimTime time = start; time < kEnd; time += interval) {
      At(time, [this, &sink, ecn] { sink.Send(link_, 1250, SimDuration::Zero(), ecn); });
    }
  }
  static double MarkedShare(const RecordingSink& sink) {
    const auto marked = std::ranges::count(sink.received, EcnMarking::kCe, &RecordingSink::Received::ecn);
    return static_cast<double>(marked) / static_cast<double>(sink.received.size());
  }
  // The mean of the last second, without the 1 ms of transmission and the path's 25 ms.
  static double WaitMs(const RecordingSink& sink) {
    double sum_ms = 0;
    int count = 0;
    for (const auto& packet : sink.received) {
      if (packet.sent < kEnd - kSecond) continue;
      sum_ms += static_cast<double>((packet.arrival - packet.sent).ns()) / 1e6 - 26;
      ++count;
    }
    return sum_ms / count;
  }

  Link link_{Spec(), kEnd, 1, 0};
  RecordingSink l4s_{false}, classic_{false};
};

TEST_F(DualPi2Test, MarksNothingWhileNothingWaits) {
  Send(l4s_, Ns(1'250'000), EcnMarking::kEct1);
  RunUntil(kEnd);
  EXPECT_EQ(MarkedShare(l4s_), 0);
  EXPECT_EQ(l4s_.received.front().ecn, EcnMarking::kEct1);
}

TEST_F(DualPi2Test, MarksWhatWaitsForAMillisecondInTheL4sQueue) {
  // Ten packets at once, each 20 ms: the first three wait for no more than that, and none waits behind the last.
  for (SimTime time = kTimeZero; time < kEnd; time += 20 * kMs) {
    At(time, [this] {
      for (int i = 0; i < 10; ++i) l4s_.Send(link_, 1250, SimDuration::Zero(), EcnMarking::kEct1);
    });
  }
  RunUntil(kEnd);
  EXPECT_NEAR(MarkedShare(l4s_), 0.7, 0.001);
}

TEST_F(DualPi2Test, KeepsTheClassicQueueAtItsTargetAndTheL4sQueueShort) {
  // 11 Mbps of classic packets that do not react and 1 Mbps of L4S packets.
  Send(classic_, Ns(909'000), EcnMarking::kNotEct);
  Send(l4s_, Ns(10'000'000), EcnMarking::kEct1, Ns(1000));
  RunUntil(kEnd);
  const double dropped = 1 - static_cast<double>(classic_.received.size()) / (static_cast<double>(kEnd.ns()) / 909'000);
  EXPECT_NEAR(dropped, 2.0 / 11, 0.03);
  EXPECT_NEAR(WaitMs(classic_), 15, 3);
  EXPECT_LT(WaitMs(l4s_), 1);
  // While the classic queue begins, marks alone do not help.
  EXPECT_LT(l4s_.dropped.size(), 10u);
  // Coupled by k = 2: the classic probability is the square of half that of marks.
  EXPECT_NEAR(std::pow(MarkedShare(l4s_) / 2, 2), dropped, 0.04);
}

TEST_F(DualPi2Test, DropsWhereMarksDoNotHelp) {
  Send(l4s_, Ns(500'000), EcnMarking::kEct1);
  Send(classic_, Ns(500'000), EcnMarking::kNotEct, Ns(1000));
  RunUntil(kEnd);
  EXPECT_GT(static_cast<double>(l4s_.dropped.size()), 0.2 * static_cast<double>(l4s_.received.size()));
  EXPECT_GT(classic_.received.size(), 100u);
}

}  // namespace
}  // namespace weir::sim
