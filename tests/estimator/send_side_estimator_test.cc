// Weir at the sender: the same estimates as at the receiver, and what feedback that is lost, late, twice or hostile
// does.
#include "weir/send_side_estimator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "counted_allocations.h"
#include "made_estimator.h"
#include "test_send_side_call.h"
#include "test_stream.h"
#include "weir/controllers.h"
#include "weir/sequence_number_unwrapper.h"

namespace weir {
namespace {

constexpr Timestamp kStart = Timestamp::Seconds(1000);
constexpr DataSize kSize = DataSize::Bytes(1200);

std::unique_ptr<ReceiverController> Rule() { return MakeBuiltInController("rule", DataRate::KilobitsPerSecond(300)); }

PacketFeedback Received(int64_t sequence_number, Timestamp time) {
  return {sequence_number, PacketFate::kReceived, time};
}

PacketFeedback Lost(int64_t sequence_number) { return {sequence_number, PacketFate::kLost, Timestamp::PlusInfinity()}; }

void SendPackets(SendSideEstimator& estimator, int64_t first, int count, Timestamp from,
                 TimeDelta interval = TimeDelta::Millis(10)) {
  for (int i = 0; i < count; ++i) {
    estimator.OnSentPacket(
        {.send_time = from + TimeDelta::Micros(interval.us() * i), .sequence_number = first + i, .size = kSize});
  }
}

// A receiver's host that checks the timeout with each packet.
class Receiver {
 public:
  Receiver(std::unique_ptr<ReceiverController> controller, Timestamp start)
      : estimator_(MadeEstimator(Reported(), std::move(controller))) {
    static_cast<void>(estimator_.OnTimeout(start));
  }
  void OnPacket(const PacketArrival& packet) {
    estimator_.OnPacket(packet);
    if (estimator_.next_timeout() <= packet.arrival_time) {
      static_cast<void>(estimator_.OnTimeout(packet.arrival_time));
    }
  }
  const BandwidthEstimator& estimator() const { return estimator_; }

 private:
  static BandwidthEstimatorConfig Reported() {
    BandwidthEstimatorConfig config;
    config.arrivals_are_reported = true;
    return config;
  }

  BandwidthEstimator estimator_;
};

class SameAsAtTheReceiver : public testing::TestWithParam<std::string> {};

// Three minutes of queues that come and go, loss, packets that are overtaken, and two wraps of the numbers. Packets
// leave at multiples of 1/64 s, which abs-send-time has exactly.
TEST_P(SameAsAtTheReceiver, WhereFeedbackIsCompleteAndImmediate) {
  const auto make = [] { return MakeBuiltInController(GetParam(), DataRate::KilobitsPerSecond(300)); };
  constexpr uint16_t kFirst = 60'000;
  constexpr TimeDelta kClockOffset = TimeDelta::Seconds(-5000);
  SendSideEstimator sender = MadeSendSideEstimator({}, make());
  Receiver receiver(make(), kStart);
  std::mt19937 random(1);
  const TestStream stream(0, kFirst);
  SequenceNumberUnwrapper sequence_numbers;
  std::vector<PacketFeedback> missing;
  Timestamp last_arrival = kStart;
  std::optional<PacketArrival> overtaken;
  int compared = 0;
  for (int i = 0; i < 90'000; ++i) {
    const auto number = static_cast<uint16_t>(kFirst + i);
    const Timestamp send_time = kStart + TimeDelta::Micros(15'625) * (i / 8);
    const double phase = static_cast<double>(i % 4000) / 4000;
    const TimeDelta delay = TimeDelta::Millis(25) + TimeDelta::Millis(100) * std::max(phase - 0.5, 0.0);
    PacketArrival packet = stream.Make(number, send_time, delay);
    packet.arrival_time = std::max(packet.arrival_time, last_arrival);
    const int64_t sent = sequence_numbers.OnSentPacket(number);
    sender.OnSentPacket({.send_time = send_time, .sequence_number = sent, .size = packet.size()});
    if (random() % 50 == 0) {
      missing.push_back(Lost(sequence_numbers.OnReport(number)));
      continue;
    }
    if (!overtaken && random() % 200 == 0) {
      overtaken = packet;
      missing.push_back(Lost(sequence_numbers.OnReport(number)));
      continue;
    }
    last_arrival = packet.arrival_time;
    receiver.OnPacket(packet);
    missing.push_back(Received(sequence_numbers.OnReport(number), packet.arrival_time + kClockOffset));
    sender.OnTransportFeedback(missing, packet.arrival_time);
    missing.clear();
    if (overtaken) {
      overtaken->arrival_time = last_arrival;
      receiver.OnPacket(*overtaken);
      const int64_t reported = sequence_numbers.OnReport(overtaken->sequence_number);
      sender.OnTransportFeedback(std::array{Received(reported, last_arrival + kClockOffset)}, last_arrival);
      overtaken.reset();
    }
    ASSERT_EQ(sender.target_rate().target_rate, receiver.estimator().latest().target_rate) << i;
    ASSERT_EQ(sender.estimator().latest().reason, receiver.estimator().latest().reason) << i;
    ++compared;
  }
  EXPECT_GT(compared, 85'000);
  EXPECT_EQ(sender.estimator().counters().controller.decisions, receiver.estimator().counters().controller.decisions);
  EXPECT_GT(sender.estimator().counters().arrivals.reordered, 100);
  EXPECT_EQ(sender.estimator().counters().arrivals.reordered, receiver.estimator().counters().arrivals.reordered);
  EXPECT_EQ(sender.estimator().counters().arrivals.invalid, 0);
  EXPECT_GT(sender.counters().lost, 1000);
  EXPECT_EQ(sender.counters().fate_unknown + sender.counters().late + sender.counters().clock_restarts, 0);
}
INSTANTIATE_TEST_SUITE_P(Controllers, SameAsAtTheReceiver, testing::Values("rule", "nada"));

TEST(SendSideEstimatorTest, HoldsTheStartRateUntilSomethingIsSent) {
  SendSideEstimator estimator = MadeSendSideEstimator({}, Rule());
  EXPECT_EQ(estimator.next_timeout(), Timestamp::PlusInfinity());
  estimator.OnTimeout(kStart);
  estimator.OnTransportFeedback(std::array{Received(3, kStart)}, kStart);
  EXPECT_EQ(estimator.target_rate().target_rate, TargetRateConstraints{}.start_rate);
  EXPECT_EQ(estimator.counters().not_in_history, 1);
  EXPECT_EQ(estimator.estimator().counters().controller.decisions, 0);
}

TEST(SendSideEstimatorTest, AnInvalidConfigurationIsAnError) {
  for (const double factor : std::initializer_list<double>{0.5, NAN, HUGE_VAL})
    EXPECT_FALSE(SendSideEstimator::Create({.estimator = {}, .pacing_factor = factor}, Rule())) << factor;
  SendSideEstimatorConfig unweighted;
  unweighted.estimator.objective.loss = 0;
  EXPECT_FALSE(SendSideEstimator::Create(unweighted, Rule()));
}

TEST(SendSideEstimatorTest, PacesAboveTheTarget) {
  SendSideEstimator estimator = MadeSendSideEstimator({.estimator = {}, .pacing_factor = 1.5}, Rule());
  EXPECT_EQ(estimator.pacer_config().pacing_rate, TargetRateConstraints{}.start_rate * 1.5);
  EXPECT_EQ(estimator.pacer_config().padding_rate, DataRate::Zero());
}

TEST(SendSideEstimatorTest, MarksReachTheEstimatorAndEctShortensBursts) {
  SendSideEstimator estimator = MadeSendSideEstimator({}, Rule());
  SendPackets(estimator, 0, 3, kStart);
  std::array reports{Received(0, kStart), Received(1, kStart), Lost(2)};
  reports[0].ecn = EcnMarking::kCe;
  reports[2].ecn = EcnMarking::kCe;
  estimator.OnTransportFeedback(reports, kStart + TimeDelta::Millis(50));
  EXPECT_EQ(estimator.estimator().totals().packets_with_ce, 1);
  EXPECT_EQ(estimator.pacer_config().burst_interval, TimeDelta::Millis(5));
  SendPackets(estimator, 3, 1, kStart + TimeDelta::Millis(60));
  std::array next{Received(3, kStart + TimeDelta::Millis(60))};
  next[0].ecn = EcnMarking::kEct1;
  estimator.OnTransportFeedback(next, kStart + TimeDelta::Millis(90));
  EXPECT_EQ(estimator.estimator().totals().packets_with_ce, 1);
  EXPECT_EQ(estimator.pacer_config().burst_interval, TimeDelta::Millis(1));
}

// From sending the oldest packet that is news to its feedback, and 50 ms.
TEST(SendSideEstimatorTest, TheCongestionWindowIsTheTargetUntilItsFeedbackAndAShortQueue) {
  SendSideEstimatorConfig config;
  config.estimator.constraints.min_rate = config.estimator.constraints.max_rate;
  SendSideEstimator estimator = MadeSendSideEstimator(config, Rule());
  const auto at = [](int64_t ms) { return kStart + TimeDelta::Millis(ms); };
  const auto report = [&](int64_t number, int64_t received_ms, int64_t now_ms) {
    estimator.OnTransportFeedback(std::array{Received(number, at(received_ms))}, at(now_ms));
  };
  const auto expect_ms = [&](int64_t ms) {
    const TimeDelta duration = estimator.congestion_window() / estimator.target_rate().target_rate;
    EXPECT_NEAR(duration.seconds(), static_cast<double>(ms) / 1e3, 2e-4);
  };
  SendPackets(estimator, 0, 10, kStart);
  report(40'000, 0, 100);
  estimator.OnTransportFeedback(std::array{Lost(0)}, at(100));
  EXPECT_TRUE(estimator.congestion_window().IsPlusInfinity());
  const std::array first{Lost(0), Received(1, at(10)), Received(2, at(20))};
  estimator.OnTransportFeedback(first, at(120));
  expect_ms(110 + 50);
  // A repeated report is no news.
  estimator.OnTransportFeedback(first, at(200));
  expect_ms(110 + 50);
  // Packets that arrive later may wait in a queue: a longer path is learnt slowly, a shorter one at once.
  report(3, 130, 230);
  expect_ms(113 + 50);
  SendPackets(estimator, 10, 1, at(240));
  report(10, 180, 280);
  expect_ms(40 + 50);
  // Feedback about packets that arrived in time is late: so much more is on its way.
  SendPackets(estimator, 11, 1, at(290));
  report(11, 230, 430);
  expect_ms(140 + 50);
  SendPackets(estimator, 12, 1, at(440));
  report(12, 380, 480);
  expect_ms(40 + 50);
  // Messages that were held up together: the next ones will be as late.
  SendPackets(estimator, 13, 2, at(490));
  report(13, 430, 781);
  report(14, 730, 786);
  expect_ms(294 + 98);
  SendSideEstimator slow = MadeSendSideEstimator(config, Rule());
  SendPackets(slow, 0, 1, kStart);
  slow.OnTransportFeedback(std::array{Received(0, kStart)}, kStart + TimeDelta::Seconds(40));
  EXPECT_NEAR((slow.congestion_window() / slow.target_rate().target_rate).seconds(), 5 * 4 / 3.0, 1e-4);
}

// Twice a link holds the media of 200 ms, or a return path their feedback; the second time there is room for it.
class CongestionWindowOverStops : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Stops, CongestionWindowOverStops, testing::Bool(),
                         [](const auto& info) { return info.param ? "OfTheLink" : "OfTheReturnPath"; });

TEST_P(CongestionWindowOverStops, HasRoomForWhatIsHeldAgainAndAgain) {
  const bool link_stops = GetParam();
  SendSideEstimatorConfig config;
  config.estimator.constraints.min_rate = config.estimator.constraints.max_rate;
  SendSideEstimator estimator = MadeSendSideEstimator(config, Rule());
  std::vector<PacketFeedback> held;
  for (int64_t i = 0; i < 1000; ++i) {
    const Timestamp sent = kStart + TimeDelta::Millis(10) * i;
    SendPackets(estimator, i, 1, sent);
    held.push_back(Received(i, sent + TimeDelta::Millis(5)));
    if (i % 500 >= 300 && i % 500 < 320) continue;
    for (PacketFeedback& report : held) {
      if (link_stops) report.receive_time = sent + TimeDelta::Millis(5);
      estimator.OnTransportFeedback({&report, 1}, sent + TimeDelta::Millis(8));
    }
    held.clear();
    // The latest feedback was late by as much.
    if (!link_stops && i % 500 == 320) continue;
    const TimeDelta window = estimator.congestion_window() / estimator.target_rate().target_rate;
    EXPECT_NEAR(window.seconds(), i < (link_stops ? 320 : 820) ? 0.06 : link_stops ? 0.2 : 0.27, 0.02) << i;
  }
}

// TCP keeps 400 ms of queue for three seconds, which then drain: the window holds the sender back for the first.
TEST(SendSideEstimatorTest, AQueueOfOthersHasNoCongestionWindow) {
  SendSideEstimator estimator = MadeSendSideEstimator({}, Rule());
  for (int64_t i = 0; i < 800; ++i) {
    const Timestamp sent = kStart + TimeDelta::Millis(10) * i;
    const TimeDelta delay = TimeDelta::Millis(i < 200   ? 25
                                              : i < 500 ? 425
                                                        : std::max<int64_t>(25, 425 - 8 * (i - 500)));
    SendPackets(estimator, i, 1, sent);
    estimator.OnTransportFeedback(std::array{Received(i, sent + delay)}, sent + delay + TimeDelta::Millis(25));
    const bool begins_or_ends = (i >= 250 && i < 270) || (i >= 500 && i < 680);
    if (!begins_or_ends) {
      EXPECT_EQ(estimator.congestion_window().IsPlusInfinity(), i >= 270 && i < 500) << i;
    }
  }
}

TEST(SendSideEstimatorTest, AStepOfTheReceiversClockLeavesTheCongestionWindow) {
  for (const int64_t step_s : {-3600, -1, 1, 3600}) {
    SendSideEstimatorConfig config;
    config.estimator.constraints.min_rate = config.estimator.constraints.max_rate;
    SendSideEstimator estimator = MadeSendSideEstimator(config, Rule());
    for (int64_t i = 0; i < 1000; ++i) {
      const Timestamp sent = kStart + TimeDelta::Millis(10) * i;
      SendPackets(estimator, i, 1, sent);
      const Timestamp received = sent + TimeDelta::Millis(75) + TimeDelta::Seconds(i < 500 ? 0 : step_s);
      estimator.OnTransportFeedback(std::array{Received(i, received)}, sent + TimeDelta::Millis(150));
      const TimeDelta window = estimator.congestion_window() / estimator.target_rate().target_rate;
      // Five messages confirm a step.
      if (i >= 500 && i < 510) continue;
      EXPECT_NEAR(window.seconds(), 0.2, 0.005) << step_s << " s, packet " << i;
    }
    EXPECT_EQ(estimator.counters().clock_restarts, 1) << step_s;
  }
}

TEST(SendSideEstimatorTest, AHostWith16BitNumbersRecoversFromAWrongNumberAndARestartAfterFiftyPackets) {
  for (const uint16_t wrong : {uint16_t{0}, uint16_t{30'000}}) {
    SendSideEstimator estimator = MadeSendSideEstimator({}, Rule());
    SequenceNumberUnwrapper sequence_numbers;
    const auto send = [&](uint16_t first, int count, Timestamp from) {
      for (int i = 0; i < count; ++i) {
        const int64_t number = sequence_numbers.OnSentPacket(static_cast<uint16_t>(first + i));
        SendPackets(estimator, number, 1, from + TimeDelta::Millis(10) * i);
      }
    };
    const auto reports_received = [&](int number) {
      const uint64_t before = estimator.counters().received;
      const int64_t reported = sequence_numbers.OnReport(static_cast<uint16_t>(number));
      estimator.OnTransportFeedback(std::array{Received(reported, kStart)}, kStart + TimeDelta::Seconds(1));
      return estimator.counters().received > before;
    };
    send(500, 20, kStart);
    if (wrong > 0) send(wrong, 1, kStart);
    const uint16_t first = wrong > 0 ? 520 : 0;
    send(first, 49, kStart + TimeDelta::Millis(200));
    EXPECT_FALSE(reports_received(first + 48)) << wrong;
    send(static_cast<uint16_t>(first + 49), 2, kStart + TimeDelta::Millis(690));
    EXPECT_TRUE(reports_received(first + 49)) << wrong;
    EXPECT_TRUE(reports_received(first + 50)) << wrong;
    EXPECT_EQ(estimator.counters().invalid, 49) << wrong;
  }
}

TEST(SendSideEstimatorTest, TheCongestionWindowHoldsAFullPacketAtTheLowestRate) {
  SendSideEstimatorConfig config;
  config.estimator.constraints.min_rate = config.estimator.constraints.max_rate = DataRate::BitsPerSecond(1);
  SendSideEstimator estimator = MadeSendSideEstimator(config, Rule());
  // Acknowledged in time, or minutes after.
  for (int64_t i = 0; i < 300; ++i) SendPackets(estimator, i, 1, kStart + TimeDelta::Seconds(i));
  const Timestamp end = kStart + TimeDelta::Seconds(300);
  for (const int64_t number : {0, 140, 299}) {
    estimator.OnTransportFeedback(std::array{Received(number, end)}, end);
    EXPECT_EQ(estimator.congestion_window(), DataSize::Bytes(1500)) << number;
  }
}

TEST(SendSideEstimatorTest, AFateThatIsUnknownIsNoLossAndNoGap) {
  const auto run = [](bool lost) {
    SendSideEstimator estimator = MadeSendSideEstimator({}, Rule());
    for (int64_t i = 0; i < 200; ++i) {
      SendPackets(estimator, i, 1, kStart + TimeDelta::Millis(10 * i));
      if (i % 5 < 3) continue;
      std::vector<PacketFeedback> reports;
      if (lost && i % 5 == 3) {
        for (int k = 3; k > 0; --k) reports.push_back(Lost(i - k));
      }
      const Timestamp arrival = kStart + TimeDelta::Millis(10 * i + 30);
      reports.push_back(Received(i, arrival));
      estimator.OnTransportFeedback(reports, arrival);
    }
    EXPECT_EQ(estimator.counters().received, 80);
    EXPECT_EQ(lost ? estimator.counters().lost : estimator.counters().fate_unknown, 120);
    EXPECT_EQ(lost ? estimator.counters().fate_unknown : estimator.counters().lost, 0);
    return estimator.target_rate().target_rate;
  };
  // 960 kbps in one case, and the rule goes to twice that; 384 kbps in the other.
  EXPECT_GT(run(false), DataRate::KilobitsPerSecond(1700));
  EXPECT_LT(run(true), DataRate::KilobitsPerSecond(1000));
}

TEST(SendSideEstimatorTest, FeedbackThatComesTwiceCountsOnce) {
  SendSideEstimator once = MadeSendSideEstimator({}, Rule());
  SendSideEstimator twice = MadeSendSideEstimator({}, Rule());
  for (SendSideEstimator* const estimator : {&once, &twice}) {
    SendPackets(*estimator, 65'500, 300, kStart);
    for (int i = 0; i < 300; i += 5) {
      std::vector<PacketFeedback> reports;
      for (int k = i; k < i + 5; ++k) {
        const int64_t number = 65'500 + k;
        reports.push_back(k % 7 == 3 ? Lost(number) : Received(number, kStart + TimeDelta::Millis(10 * k)));
      }
      const Timestamp now = kStart + TimeDelta::Millis(10 * i + 80);
      estimator->OnTransportFeedback(reports, now);
      if (estimator == &twice) estimator->OnTransportFeedback(reports, now + TimeDelta::Millis(1));
    }
  }
  EXPECT_EQ(once.target_rate().target_rate, twice.target_rate().target_rate);
  EXPECT_EQ(once.counters().received, twice.counters().received);
  EXPECT_EQ(once.counters().lost, twice.counters().lost);
  EXPECT_EQ(twice.counters().duplicates, twice.counters().received);
}

TEST(SendSideEstimatorTest, ReportsOnWhatWasNeverSentAreCounted) {
  SendSideEstimator estimator = MadeSendSideEstimator({}, Rule());
  SendPackets(estimator, 100, 10, kStart);
  estimator.OnSentPacket({.send_time = kStart + TimeDelta::Millis(200), .sequence_number = 115, .size = kSize});
  const Timestamp now = kStart + TimeDelta::Millis(300);
  estimator.OnTransportFeedback(std::array{Received(99, now), Received(112, now), Received(116, now), Lost(40'000)},
                                now);
  EXPECT_EQ(estimator.counters().not_in_history, 4);
  EXPECT_EQ(estimator.counters().received, 0);
  // Reports of packets that left the history do not count.
  SendPackets(estimator, 116, SendSideEstimator::kHistory, now);
  estimator.OnTransportFeedback(std::array{Received(115, now)}, now);
  EXPECT_EQ(estimator.counters().not_in_history, 5);
  estimator.OnTransportFeedback(std::array{Received(116, now)}, now);
  EXPECT_EQ(estimator.counters().received, 1);
}

TEST(SendSideEstimatorTest, DeparturesOutOfOrderAreRefused) {
  SendSideEstimator estimator = MadeSendSideEstimator({}, Rule());
  SendPackets(estimator, 100, 10, kStart);
  estimator.OnSentPacket({.send_time = kStart, .sequence_number = 109, .size = kSize});
  estimator.OnSentPacket({.send_time = kStart, .sequence_number = 50, .size = kSize});
  estimator.OnSentPacket({.send_time = kStart, .sequence_number = int64_t{1} << 61, .size = kSize});
  estimator.OnSentPacket({.send_time = Timestamp::PlusInfinity(), .sequence_number = 110, .size = kSize});
  estimator.OnSentPacket({.send_time = kStart, .sequence_number = 110, .size = DataSize::Bytes(70'000)});
  estimator.OnSentPacket({.send_time = kStart, .sequence_number = 110, .size = DataSize::Bytes(-1)});
  EXPECT_EQ(estimator.counters().invalid, 6);
}

TEST(SendSideEstimatorTest, ProbedRatesStayWithinTheConstraints) {
  const DataRate start = TargetRateConstraints{}.start_rate;
  SendSideEstimator estimator = MadeSendSideEstimator({}, Rule());
  SendPackets(estimator, 0, 1, kStart);
  EXPECT_EQ(estimator.SetDesiredRate({.total = start * 10.0, .next = DataRate::Zero()}), std::nullopt);
  // The controller has shown nothing yet, and so the rate that the path was shown to carry is the start rate.
  for (const double factor : {0.5, 2.0}) {
    EXPECT_EQ(estimator.SetConstraints({.min_rate = start * factor, .start_rate = start, .max_rate = start * factor}),
              std::nullopt);
    EXPECT_EQ(estimator.target_rate().target_rate, start * factor);
  }
}

TEST(SendSideEstimatorTest, AReceiversClockMayBeSetAtAnyTime) {
  SendSideEstimator estimator = MadeSendSideEstimator({}, Rule());
  TimeDelta offset = TimeDelta::Seconds(10);
  for (int i = 0; i < 3000; ++i) {
    if (i == 1000) offset = TimeDelta::Seconds(-900);
    if (i == 2000) offset = TimeDelta::Seconds(100'000);
    const Timestamp sent = kStart + TimeDelta::Millis(10 * i);
    SendPackets(estimator, i, 1, sent);
    estimator.OnTransportFeedback(std::array{Received(i, sent + TimeDelta::Millis(30) + offset)},
                                  sent + TimeDelta::Millis(60));
  }
  EXPECT_EQ(estimator.counters().clock_restarts, 2);
  EXPECT_EQ(estimator.counters().received, 3000);
  // 30 s, a decision every 100 ms.
  EXPECT_NEAR(static_cast<double>(estimator.estimator().counters().controller.decisions), 300, 5);
  EXPECT_GT(estimator.target_rate().target_rate, DataRate::KilobitsPerSecond(1700));
}

class CallFromTheSender : public testing::Test {
 protected:
  static constexpr TimeDelta kSettled = TimeDelta::Seconds(10);
  static constexpr TimeDelta kEnd = TimeDelta::Seconds(60);

  // The rate that arrives once it has settled, and the median of the delays.
  std::pair<DataRate, TimeDelta> Run(const TestSendSidePath& path) {
    SendSideEstimator estimator = MadeSendSideEstimator({}, Rule());
    TestSendSideCall call(estimator, path);
    call.RunUntil(kEnd);
    counters_ = estimator.counters();
    return {call.ReceiveRate(kSettled, kEnd), call.MedianDelay(kSettled, kEnd)};
  }

  static TestSendSidePath Losing(double share) {
    TestSendSidePath path;
    path.feedback = [share, random = std::mt19937(7)](TimeDelta) mutable {
      const bool lost = std::uniform_real_distribution<double>()(random) < share;
      return lost ? std::vector<TimeDelta>{} : std::vector{TimeDelta::Zero()};
    };
    return path;
  }

  SendSideCounters counters_;
};

TEST_F(CallFromTheSender, FillsTheLink) {
  const auto [rate, delay] = Run({});
  EXPECT_GT(rate, DataRate::KilobitsPerSecond(1400));
  EXPECT_LT(delay, TimeDelta::Millis(100));
  EXPECT_EQ(counters_.fate_unknown, 0);
  EXPECT_EQ(counters_.late, 0);
}

TEST_F(CallFromTheSender, LosesLittleWithFivePercentOfFeedback) {
  const auto [rate, delay] = Run(Losing(0.05));
  EXPECT_GT(rate, DataRate::KilobitsPerSecond(1350));
  EXPECT_LT(delay, TimeDelta::Millis(120));
  EXPECT_GT(counters_.fate_unknown, 100);
}

TEST_F(CallFromTheSender, LosesLittleWithTwentyPercentOfFeedback) {
  const auto [rate, delay] = Run(Losing(0.2));
  EXPECT_GT(rate, DataRate::KilobitsPerSecond(1300));
  EXPECT_LT(delay, TimeDelta::Millis(150));
  EXPECT_GT(counters_.fate_unknown, 500);
}

TEST_F(CallFromTheSender, FallsWithoutAnyFeedbackAndComesBack) {
  TestSendSidePath path;
  path.feedback = [](TimeDelta at) {
    const bool lost = at >= TimeDelta::Seconds(20) && at < TimeDelta::Seconds(25);
    return lost ? std::vector<TimeDelta>{} : std::vector{TimeDelta::Zero()};
  };
  SendSideEstimator estimator = MadeSendSideEstimator({}, Rule());
  TestSendSideCall call(estimator, path);
  call.RunUntil(TimeDelta::Seconds(20));
  call.TakeLowestRate();
  call.RunUntil(TimeDelta::Seconds(25));
  EXPECT_LT(call.TakeLowestRate(), DataRate::KilobitsPerSecond(300));
  call.RunUntil(TimeDelta::Seconds(40));
  EXPECT_GT(call.ReceiveRate(TimeDelta::Seconds(30), TimeDelta::Seconds(40)), DataRate::KilobitsPerSecond(1350));
}

TEST_F(CallFromTheSender, FallsWhereNoFeedbackEverComes) {
  TestSendSidePath path;
  path.feedback = [](TimeDelta time) {
    return time < TimeDelta::Seconds(12) ? std::vector<TimeDelta>{} : std::vector<TimeDelta>{TimeDelta::Zero()};
  };
  SendSideEstimator estimator = MadeSendSideEstimator({}, Rule());
  TestSendSideCall call(estimator, path);
  const DataRate start = TargetRateConstraints{}.start_rate;
  call.RunUntil(TimeDelta::Seconds(2));
  EXPECT_EQ(estimator.target_rate().target_rate, start);
  // The time of feedback is 300 ms behind.
  call.RunUntil(TimeDelta::Seconds(4));
  EXPECT_NEAR(estimator.target_rate().target_rate / start, 0.3, 0.05);
  call.RunUntil(TimeDelta::Seconds(12));
  EXPECT_EQ(estimator.target_rate().target_rate, TargetRateConstraints{}.min_rate);
  call.RunUntil(TimeDelta::Seconds(25));
  EXPECT_GT(estimator.target_rate().target_rate, DataRate::KilobitsPerSecond(1000));
}

TEST_F(CallFromTheSender, APauseIsNoOutage) {
  for (const int64_t pause_s : {1, 5, 70, 4000}) {
    for (const bool last_feedback_is_lost : {false, true}) {
      const TimeDelta start = TimeDelta::Seconds(20);
      const TimeDelta end = start + TimeDelta::Seconds(pause_s);
      TestSendSidePath path;
      path.pause = {start, end};
      path.feedback = [=](TimeDelta at) {
        const bool lost = last_feedback_is_lost && at >= start && at < end;
        return lost ? std::vector<TimeDelta>{} : std::vector{TimeDelta::Zero()};
      };
      SendSideEstimator estimator = MadeSendSideEstimator({}, Rule());
      TestSendSideCall call(estimator, path);
      call.RunUntil(start + TimeDelta::Millis(600));
      const DataRate before = estimator.target_rate().target_rate;
      call.RunUntil(end - TimeDelta::Millis(1));
      if (!last_feedback_is_lost) {
        EXPECT_EQ(estimator.target_rate().target_rate, before) << pause_s;
        EXPECT_EQ(estimator.next_timeout(), Timestamp::PlusInfinity());
      }
      EXPECT_LE(estimator.target_rate().at_time, Timestamp::Seconds(1000) + end);
      const TimeDelta last = end + TimeDelta::Seconds(10);
      call.RunUntil(last);
      EXPECT_GT(call.ReceiveRate(end, last), DataRate::KilobitsPerSecond(last_feedback_is_lost ? 1000 : 1300))
          << pause_s;
      EXPECT_LT(call.MedianDelay(end, last), TimeDelta::Millis(150)) << pause_s;
      EXPECT_GT(estimator.target_rate().at_time, Timestamp::Seconds(1000) + end);
    }
  }
}

TEST_F(CallFromTheSender, BearsFeedbackLateOutOfOrderAndTwice) {
  TestSendSidePath path;
  path.feedback = [random = std::mt19937(3)](TimeDelta) mutable {
    std::vector<TimeDelta> times{TimeDelta::Millis(static_cast<int64_t>(random() % 120))};
    if (random() % 4 == 0) times.push_back(TimeDelta::Millis(200));
    return times;
  };
  const auto [rate, delay] = Run(path);
  EXPECT_GT(rate, DataRate::KilobitsPerSecond(1200));
  EXPECT_LT(delay, TimeDelta::Millis(200));
  EXPECT_GT(counters_.duplicates, 500);
  EXPECT_EQ(counters_.clock_restarts, 0);
}

TEST_F(CallFromTheSender, APathThatMarksEverythingStarvesNobody) {
  TestSendSidePath path;
  path.change = [](TimeDelta, std::vector<PacketFeedback>& reports) {
    for (PacketFeedback& report : reports) report.ecn = EcnMarking::kCe;
  };
  const auto [rate, delay] = Run(path);
  EXPECT_GT(rate, DataRate::KilobitsPerSecond(1200));
  EXPECT_LT(delay, TimeDelta::Millis(200));
}

// Receive times by which packets arrived after their report, or sooner than they can.
class CallWithWrongTimes : public CallFromTheSender {
 protected:
  // The share of 1500 kbps that arrives from 20 s, when times change, to `end_s`.
  static double Share(std::function<TimeDelta(TimeDelta)> error, int64_t end_s) {
    TestSendSidePath path;
    path.change = [error = std::move(error)](TimeDelta at, std::vector<PacketFeedback>& reports) {
      for (PacketFeedback& report : reports) report.receive_time = report.receive_time + error(at);
    };
    SendSideEstimator estimator = MadeSendSideEstimator({}, Rule());
    TestSendSideCall call(estimator, path);
    call.RunUntil(TimeDelta::Seconds(end_s));
    return call.ReceiveRate(kChange, TimeDelta::Seconds(end_s)) / DataRate::KilobitsPerSecond(1500);
  }

  static constexpr TimeDelta kChange = TimeDelta::Seconds(20);
  static constexpr TimeDelta kMessage = TimeDelta::Millis(50);
};

TEST_F(CallWithWrongTimes, OneMessageOfTheFutureOrThePastChangesNothing) {
  for (const int64_t error_ms : {-2900, -300, 200, 300, 1000, 2900, 100'000}) {
    const auto error = [error_ms](TimeDelta at) {
      return TimeDelta::Millis(at >= kChange && at < kChange + kMessage ? error_ms : 0);
    };
    EXPECT_GT(Share(error, 25), 0.9) << error_ms;
  }
}

TEST_F(CallWithWrongTimes, AMessageOfTheFutureEachFiveSecondsChangesNothing) {
  const auto error = [](TimeDelta at) {
    return TimeDelta::Millis(at >= kChange && at.us() % 5'000'000 < kMessage.us() ? 2000 : 0);
  };
  EXPECT_GT(Share(error, 60), 0.9);
}

TEST_F(CallWithWrongTimes, AStepOfTheReceiversClockChangesNothing) {
  for (const int64_t error_ms : {-2900, -300, 300, 2900, 60'000}) {
    const auto error = [error_ms](TimeDelta at) { return TimeDelta::Millis(at >= kChange ? error_ms : 0); };
    EXPECT_GT(Share(error, 25), 0.9) << error_ms;
    EXPECT_GT(Share(error, 60), 0.9) << error_ms;
  }
}

// Each step alone could be that of a shorter route.
TEST_F(CallWithWrongTimes, TimesThatStepBackWithEachMessageEndWithThem) {
  for (const int64_t seconds : {1, 5}) {
    for (const bool back : {true, false}) {
      const auto error = [=](TimeDelta at) {
        const TimeDelta until = TimeDelta::Seconds(seconds);
        if (at < kChange || (back && at >= kChange + until)) return TimeDelta::Zero();
        return TimeDelta::Millis(-95 * ((std::min(at - kChange, until).us() / kMessage.us()) + 1));
      };
      EXPECT_GT(Share(error, 30), 0.8) << seconds << " s, back: " << back;
    }
  }
}

TEST_F(CallWithWrongTimes, ADifferentTimeWithEachMessageStillEnds) {
  const auto error = [random = std::mt19937(5)](TimeDelta at) mutable {
    return TimeDelta::Millis(at >= kChange ? static_cast<int64_t>(random() % 6000) - 3000 : 0);
  };
  EXPECT_GT(Share(error, 60), 0.1);
}

// Feedback comes as much earlier as the packets, which tells it from a step of the receiver's clock.
TEST_F(CallFromTheSender, AQueueOfOthersThatStoodFromTheStartMayDrain) {
  static constexpr TimeDelta kQueue = TimeDelta::Millis(200);
  const auto queue = [](TimeDelta at) { return at < TimeDelta::Seconds(20) ? kQueue : TimeDelta::Zero(); };
  TestSendSidePath path;
  path.change = [queue](TimeDelta at, std::vector<PacketFeedback>& reports) {
    for (PacketFeedback& report : reports) report.receive_time = report.receive_time + queue(at);
  };
  path.feedback = [queue](TimeDelta at) { return std::vector<TimeDelta>{queue(at)}; };
  SendSideEstimator estimator = MadeSendSideEstimator({}, Rule());
  TestSendSideCall call(estimator, path);
  call.RunUntil(TimeDelta::Seconds(40));
  EXPECT_EQ(estimator.counters().clock_restarts, 0u);
  EXPECT_GT(call.ReceiveRate(TimeDelta::Seconds(22), TimeDelta::Seconds(40)) / path.capacity, 0.9);
}

TEST_F(CallWithWrongTimes, ALostPacketThatArrivedLongAgoChangesNothing) {
  for (const int64_t ago_ms : {500, 2900, 3100, 5000, 100'000}) {
    TestSendSidePath path;
    path.change = [ago_ms](TimeDelta at, std::vector<PacketFeedback>& reports) {
      if (at < kChange || at >= kChange + kMessage || reports.size() < 2) return;
      PacketFeedback report = reports.back();
      reports.back().fate = PacketFate::kLost;
      report.receive_time = report.receive_time - TimeDelta::Millis(ago_ms);
      reports.push_back(report);
    };
    SendSideEstimator estimator = MadeSendSideEstimator({}, Rule());
    TestSendSideCall call(estimator, path);
    call.RunUntil(TimeDelta::Seconds(30));
    EXPECT_EQ(estimator.estimator().counters().arrivals.clock_restarts, 0) << ago_ms;
    EXPECT_GT(call.ReceiveRate(kChange, TimeDelta::Seconds(30)) / DataRate::KilobitsPerSecond(1500), 0.9) << ago_ms;
  }
}

// libwebrtc's GCC, 30 s after the same lie, is at 5 to 7 times the path.
TEST_F(CallFromTheSender, OptimisticAcknowledgementGrowsNoFasterThanGcc) {
  for (const char* name : {"rule", "nada"}) {
    TestSendSidePath path;
    path.optimistic_from = TimeDelta::Seconds(20);
    SendSideEstimator estimator =
        MadeSendSideEstimator({}, MakeBuiltInController(name, DataRate::KilobitsPerSecond(300)));
    TestSendSideCall call(estimator, path);
    call.RunUntil(TimeDelta::Seconds(50));
    EXPECT_LT(estimator.target_rate().target_rate, path.capacity * 7) << name;
    EXPECT_GT(estimator.target_rate().target_rate, path.capacity * 2) << name;
  }
}

// Six messages, each about all 8,192 packets: lost long ago, received, under way or never sent, they came just now.
// NADA stays low in one call of forty, as it does with that loss after any long queue.
TEST_F(CallFromTheSender, ReportsOnWhatIsKnownStarveNobody) {
  for (const std::string name : {"rule", "nada"}) {
    int starved_calls = 0;
    for (uint32_t seed = 0; seed < 30; ++seed) {
      std::mt19937 random(seed);
      int64_t latest = 0;
      Timestamp latest_time = kStart;
      TestSendSidePath path;
      path.change = [&](TimeDelta, std::vector<PacketFeedback>& reports) {
        for (PacketFeedback& report : reports) {
          if (random() % 100 < 4) report = Lost(report.sequence_number);
          latest = report.sequence_number;
          if (report.fate == PacketFate::kReceived) latest_time = report.receive_time;
        }
      };
      SendSideEstimator estimator = MadeSendSideEstimator({}, MakeBuiltInController(name, path.capacity));
      TestSendSideCall call(estimator, path);
      int starved = 0;
      for (int64_t tenths = 1; tenths <= 500; ++tenths) {
        const TimeDelta time = TimeDelta::Millis(100 * tenths);
        call.RunUntil(time);
        starved += tenths > 200 && estimator.target_rate().target_rate < path.capacity * 0.3 ? 1 : 0;
        if (tenths <= 200 || tenths > 212 || tenths % 2 != 0) continue;
        std::vector<PacketFeedback> reports;
        for (int i = 8191 - static_cast<int>(random() % 1000); i > -1000 && reports.size() < 8192; --i) {
          reports.push_back(Received(latest - i, latest_time - TimeDelta::Micros(250) * std::max(i, 0)));
        }
        estimator.OnTransportFeedback(reports, kStart + time);
      }
      starved_calls += starved > 50 ? 1 : 0;
    }
    EXPECT_LE(starved_calls, name == "rule" ? 0 : 3) << name;
  }
}

// Numbers, times and fates from a stranger: rate and congestion window stay within their bounds, and time goes on.
TEST(SendSideEstimatorTest, BearsHostileFeedback) {
  constexpr std::array kTimes{std::numeric_limits<int64_t>::min(),
                              std::numeric_limits<int64_t>::max(),
                              -(int64_t{1} << 61),
                              int64_t{1} << 61,
                              int64_t{0},
                              int64_t{-1}};
  for (uint32_t seed = 0; seed < 20; ++seed) {
    std::mt19937_64 random(seed);
    SendSideEstimator estimator = MadeSendSideEstimator({}, Rule());
    Timestamp now = kStart;
    int64_t number = 0;
    for (int i = 0; i < 3000; ++i) {
      now += TimeDelta::Millis(static_cast<int64_t>(random() % 30));
      SendPackets(estimator, number, 3, now, TimeDelta::Zero());
      number += 3 + (random() % 50 == 0 ? static_cast<int64_t>(random() % 40'000) : 0);
      std::vector<PacketFeedback> reports(random() % 8);
      for (PacketFeedback& report : reports) {
        report.sequence_number =
            random() % 3 == 0 ? static_cast<int64_t>(random()) : number - static_cast<int64_t>(random() % 100);
        report.fate = static_cast<PacketFate>(random() % 3);
        const uint64_t kind = random() % 10;
        report.receive_time = kind == 0   ? Timestamp::Micros(kTimes[random() % kTimes.size()])
                              : kind == 1 ? Timestamp::Micros(static_cast<int64_t>(random()))
                              : kind == 2 ? now + TimeDelta::Millis(static_cast<int64_t>(random() % 20'000) - 10'000)
                                          : now - TimeDelta::Millis(static_cast<int64_t>(random() % 100));
      }
      estimator.OnTransportFeedback(reports, now);
      if (estimator.next_timeout() <= now) estimator.OnTimeout(now);
      ASSERT_GT(estimator.next_timeout(), now);
      ASSERT_LE(estimator.target_rate().at_time, now);
      ASSERT_GE(estimator.target_rate().target_rate, TargetRateConstraints{}.min_rate);
      ASSERT_LE(estimator.target_rate().target_rate, TargetRateConstraints{}.max_rate);
      ASSERT_GE(estimator.congestion_window(), DataSize::Bytes(1500));
      // Before the first feedback, and where reported delays look like a queue of others.
      if (estimator.congestion_window().IsPlusInfinity()) continue;
      const DataSize longest = estimator.target_rate().target_rate * TimeDelta::Millis(5100);
      ASSERT_LE(estimator.congestion_window(), std::max(longest, DataSize::Bytes(1500)));
    }
    // 45 s on average: no flood of decisions.
    EXPECT_LT(estimator.estimator().counters().controller.decisions, 20'000);
  }
}

TEST(SendSideEstimatorTest, AllocatesNothing) {
  SendSideEstimator estimator = MadeSendSideEstimator({}, Rule());
  std::vector<PacketFeedback> reports;
  reports.reserve(100);
  int64_t number = 0;
  Timestamp now = kStart;
  const auto run = [&](int messages) {
    for (int i = 0; i < messages; ++i) {
      reports.clear();
      for (int k = 0; k < 20; ++k, ++number) {
        now += TimeDelta::Millis(2);
        estimator.OnSentPacket({.send_time = now, .sequence_number = number, .size = kSize});
        if (k == 3) continue;
        reports.push_back(k % 7 == 0 ? Lost(number) : Received(number, now + TimeDelta::Millis(20 + number % 13)));
      }
      estimator.OnTransportFeedback(reports, now + TimeDelta::Millis(30));
      while (estimator.next_timeout() <= now) estimator.OnTimeout(now);
    }
  };
  run(100);
  const int64_t before = CountedAllocations();
  run(5000);
  EXPECT_EQ(CountedAllocations(), before);
  EXPECT_GT(estimator.counters().fate_unknown, 1000);
}

}  // namespace
}  // namespace weir
