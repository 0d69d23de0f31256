// The C interface at the sender: the same as in C++, and nonsense is an error.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <random>
#include <string_view>
#include <vector>

#include "c_handles.h"
#include "made_estimator.h"
#include "weir.h"
#include "weir/controllers.h"
#include "weir/send_side_estimator.h"

namespace weir {
namespace {

constexpr int64_t kStartUs = 1'000'000'000;

Owned<weir_send_side> Create(double pacing_factor = 0) {
  return Created<weir_send_side>(weir_send_side_create, BuiltInController("rule").get(), nullptr, pacing_factor);
}

weir_sent_packet Packet(uint16_t sequence_number, int64_t send_time_us) {
  return {.send_time_us = send_time_us,
          .size_bytes = 1200,
          .sequence_number = sequence_number,
          .kind = WEIR_PACKET_VIDEO,
          .probe_cluster_id = 0};
}

weir_send_side_rates Rates(const weir_send_side* send_side) {
  weir_send_side_rates rates{};
  EXPECT_EQ(weir_send_side_get_rates(send_side, &rates), WEIR_OK);
  return rates;
}

weir_send_side_counters Counters(const weir_send_side* send_side) {
  weir_send_side_counters counters{};
  EXPECT_EQ(weir_send_side_get_counters(send_side, &counters, sizeof counters), WEIR_OK);
  return counters;
}

// weir.h allows times up to 2^61 us from 0.
TEST(CApiSendSideTest, TimesNearTheLimitEnd) {
  constexpr int64_t kLimitUs = int64_t{1} << 61;
  for (uint32_t seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    const auto send_side = Create();
    const auto time_us = [&random, seed] {
      const int64_t near_us = kLimitUs - static_cast<int64_t>(random() % 10'000'000);
      return (seed + (random() % 8 == 0 ? 1 : 0)) % 2 == 0 ? near_us : -near_us;
    };
    for (uint16_t i = 0; i < 100; ++i) {
      const weir_sent_packet packet = Packet(i, time_us());
      EXPECT_EQ(weir_send_side_on_sent_packet(send_side.get(), &packet), WEIR_OK);
      weir_packet_feedback report{};
      report.sequence_number = i;
      report.receive_time_us = time_us();
      EXPECT_EQ(weir_send_side_on_transport_feedback(send_side.get(), &report, 1, time_us()), WEIR_OK);
      EXPECT_EQ(weir_send_side_on_timeout(send_side.get(), time_us()), WEIR_OK);
    }
    EXPECT_GT(Rates(send_side.get()).target_rate_bps, 0);
  }
}

TEST(CApiSendSideTest, TheNumberOfAPacketWithAnImpossibleTimeDoesNotCountAsSent) {
  const auto sender = Create();
  const weir_sent_packet packets[] = {Packet(100, kStartUs), Packet(30'000, INT64_MAX), Packet(101, kStartUs)};
  for (const weir_sent_packet& packet : packets)
    EXPECT_EQ(weir_send_side_on_sent_packet(sender.get(), &packet), WEIR_OK);
  const weir_packet_feedback report{
      .receive_time_us = 0, .sequence_number = 101, .fate = WEIR_PACKET_RECEIVED, .ecn = 0};
  EXPECT_EQ(weir_send_side_on_transport_feedback(sender.get(), &report, 1, kStartUs + 50'000), WEIR_OK);
  EXPECT_EQ(Counters(sender.get()).packets_invalid, 1u);
  EXPECT_EQ(Counters(sender.get()).packets_received, 1u);
}

TEST(CApiSendSideTest, GivesTheSameAsInCpp) {
  const auto in_c = Create(1.5);
  SendSideEstimator in_cpp = MadeSendSideEstimator({.estimator = {}, .pacing_factor = 1.5},
                                                   MakeBuiltInController("rule", DataRate::KilobitsPerSecond(300)));
  EXPECT_EQ(weir_send_side_next_timeout_us(in_c.get()), INT64_MAX);
  EXPECT_EQ(Rates(in_c.get()).at_time_us, INT64_MIN);
  EXPECT_EQ(Rates(in_c.get()).congestion_window_bytes, INT64_MAX);
  EXPECT_EQ(weir_send_side_on_round_trip_time(in_c.get(), 50'000, 0), WEIR_OK);
  in_cpp.OnRoundTripTime(TimeDelta::Millis(50));
  for (int message = 0; message < 400; ++message) {
    std::vector<weir_packet_feedback> given;
    std::vector<PacketFeedback> reports;
    const int64_t now_us = kStartUs + message * 50'000;
    for (int i = 0; i < 10; ++i) {
      // 16 bits in C, where they wrap.
      const int64_t unwrapped = 65'000 + message * 10 + i;
      const auto number = static_cast<uint16_t>(unwrapped);
      const weir_sent_packet packet = Packet(number, now_us + i * 5000);
      ASSERT_EQ(weir_send_side_on_sent_packet(in_c.get(), &packet), WEIR_OK);
      in_cpp.OnSentPacket({.send_time = Timestamp::Micros(packet.send_time_us),
                           .sequence_number = unwrapped,
                           .size = DataSize::Bytes(1200)});
      const auto fate = static_cast<weir_packet_fate>(i % 7 == 3 ? 1 : i % 9 == 8 ? 2 : 0);
      given.push_back({.receive_time_us = now_us + i * 5000 + message % 40 * 1000,
                       .sequence_number = number,
                       .fate = static_cast<uint16_t>(fate),
                       .ecn = i % 5 == 4 ? 3u : 1u});
      reports.push_back({unwrapped, static_cast<PacketFate>(fate), Timestamp::Micros(given.back().receive_time_us),
                         i % 5 == 4 ? EcnMarking::kCe : EcnMarking::kEct1});
    }
    ASSERT_EQ(weir_send_side_on_transport_feedback(in_c.get(), given.data(), given.size(), now_us + 110'000), WEIR_OK);
    in_cpp.OnTransportFeedback(reports, Timestamp::Micros(now_us + 110'000));
    if (message == 200) {
      EXPECT_EQ(weir_send_side_on_timeout(in_c.get(), now_us + 700'000), WEIR_OK);
      in_cpp.OnTimeout(Timestamp::Micros(now_us + 700'000));
    }
    const weir_send_side_rates rates = Rates(in_c.get());
    ASSERT_EQ(rates.target_rate_bps, in_cpp.target_rate().target_rate.bps());
    ASSERT_EQ(rates.pacing_rate_bps, in_cpp.pacer_config().pacing_rate.bps());
    ASSERT_EQ(rates.congestion_window_bytes, in_cpp.congestion_window().bytes());
    ASSERT_EQ(rates.at_time_us, in_cpp.target_rate().at_time.us());
    ASSERT_EQ(weir_send_side_next_timeout_us(in_c.get()), in_cpp.next_timeout().us());
    ASSERT_EQ(std::string_view(rates.reason), ToString(in_cpp.estimator().latest().reason));
  }
  const weir_send_side_counters counters = Counters(in_c.get());
  EXPECT_EQ(counters.packets_received, in_cpp.counters().received);
  EXPECT_EQ(counters.packets_lost, in_cpp.counters().lost);
  EXPECT_EQ(counters.packets_fate_unknown, in_cpp.counters().fate_unknown);
  EXPECT_GT(counters.packets_received, 3000);
  EXPECT_GT(counters.packets_lost, 300);
  EXPECT_GT(counters.packets_fate_unknown, 300);
}

// A host that sends the clusters, 1 kbyte of media each 50 ms beside them, over a path that carries all.
TEST(CApiSendSideTest, ProbesRaiseTheTarget) {
  const auto send_side = Create();
  ASSERT_EQ(weir_send_side_set_desired_rate(send_side.get(), 2'000'000, 600'000), WEIR_OK);
  uint16_t number = 0;
  int clusters = 0;
  for (int64_t now_us = 1'000'000; now_us < 10'000'000; now_us += 50'000) {
    std::vector<weir_packet_feedback> feedback;
    const auto send = [&](int64_t at_us, uint32_t size, int32_t cluster) {
      weir_sent_packet packet = Packet(number, at_us);
      packet.size_bytes = size;
      packet.kind = cluster == 0 ? WEIR_PACKET_VIDEO : WEIR_PACKET_PROBE;
      packet.probe_cluster_id = cluster;
      EXPECT_EQ(weir_send_side_on_sent_packet(send_side.get(), &packet), WEIR_OK);
      feedback.push_back(
          {.receive_time_us = at_us + 20'000, .sequence_number = number++, .fate = WEIR_PACKET_RECEIVED, .ecn = 0});
    };
    send(now_us, 1000, 0);
    weir_probe_cluster cluster{};
    ASSERT_EQ(weir_send_side_take_probe_cluster(send_side.get(), &cluster), WEIR_OK);
    clusters += cluster.id != 0 ? 1 : 0;
    const int64_t size = cluster.target_data_rate_bps * cluster.target_duration_us / 8'000'000 / 10;
    for (int64_t i = 0; cluster.id != 0 && i < 10; ++i) {
      send(now_us + cluster.target_duration_us * i / 10, static_cast<uint32_t>(size), cluster.id);
    }
    const int64_t reported_us = now_us + 150'000;
    EXPECT_EQ(weir_send_side_on_transport_feedback(send_side.get(), feedback.data(), feedback.size(), reported_us),
              WEIR_OK);
  }
  EXPECT_EQ(Rates(send_side.get()).target_rate_bps, 2'000'000);
  const weir_send_side_counters counters = Counters(send_side.get());
  EXPECT_EQ(counters.probe_clusters, static_cast<uint64_t>(clusters));
  EXPECT_EQ(counters.probes_carried, static_cast<uint64_t>(clusters));
  EXPECT_GE(clusters, 2);
  EXPECT_GT(counters.probe_bytes, 1000u);
  weir_network_state state{};
  ASSERT_EQ(weir_send_side_get_network_state(send_side.get(), &state), WEIR_OK);
  EXPECT_EQ(state.state, WEIR_CONGESTION_NORMAL);
}

TEST(CApiSendSideTest, StatisticsAreThoseOfReportedPackets) {
  const auto send_side = Create();
  weir_estimator_statistics statistics{};
  ASSERT_EQ(weir_send_side_get_statistics(send_side.get(), &statistics, sizeof statistics), WEIR_OK);
  EXPECT_EQ(statistics.packets_received, 0);
  EXPECT_EQ(statistics.receive_rate_bps, 0);
  // 100 packets a second of 1200 bytes, every tenth is lost; those of the last second wait for 30 ms.
  uint16_t number = 0;
  for (int64_t time_us = kStartUs; time_us < kStartUs + 3'000'000; time_us += 50'000) {
    std::array<weir_packet_feedback, 5> feedback{};
    for (weir_packet_feedback& report : feedback) {
      const int64_t send_time_us = time_us + (number % 5) * 10'000;
      const int64_t queue_us = time_us >= kStartUs + 2'000'000 ? 30'000 : 0;
      const weir_sent_packet packet = Packet(number, send_time_us);
      ASSERT_EQ(weir_send_side_on_sent_packet(send_side.get(), &packet), WEIR_OK);
      report = {.receive_time_us = send_time_us + 20'000 + queue_us,
                .sequence_number = number,
                .fate = static_cast<uint16_t>(number % 10 == 3 ? WEIR_PACKET_LOST : WEIR_PACKET_RECEIVED),
                .ecn = 0};
      ++number;
    }
    ASSERT_EQ(
        weir_send_side_on_transport_feedback(send_side.get(), feedback.data(), feedback.size(), time_us + 120'000),
        WEIR_OK);
  }
  ASSERT_EQ(weir_send_side_get_statistics(send_side.get(), &statistics, sizeof statistics), WEIR_OK);
  EXPECT_EQ(statistics.packets_received, 270);
  EXPECT_EQ(statistics.packets_lost, 30);
  EXPECT_NEAR(static_cast<double>(statistics.receive_rate_bps), 864'000.0, 50'000.0);
  EXPECT_NEAR(statistics.loss_ratio, 0.1, 0.02);
  EXPECT_NEAR(static_cast<double>(statistics.queueing_delay_us), 30'000.0, 5'000.0);
  EXPECT_EQ(statistics.target_rate_bps, Rates(send_side.get()).target_rate_bps);
}

TEST(CApiSendSideTest, SettersTakeEffect) {
  const auto send_side = Create();
  EXPECT_EQ(Rates(send_side.get()).pacing_rate_bps, 330'000);
  const weir_target_rate_constraints constraints{30'000, 200'000, 1'000'000, 0};
  EXPECT_EQ(weir_send_side_set_constraints(send_side.get(), &constraints, 0), WEIR_OK);
  EXPECT_EQ(Rates(send_side.get()).target_rate_bps, 200'000);
  EXPECT_EQ(weir_send_side_set_objective(send_side.get(), 0.1f, 0.8f, 0.1f), WEIR_OK);
}

TEST(CApiSendSideTest, NullAndNonsenseAreErrors) {
  const auto rule = BuiltInController("rule");
  EXPECT_EQ(weir_send_side_create(rule.get(), nullptr, 0, nullptr), WEIR_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(CreationError<weir_send_side>(weir_send_side_create, nullptr, nullptr, 0.0), WEIR_ERROR_INVALID_ARGUMENT);
  for (const double pacing_factor : {0.9, static_cast<double>(NAN)}) {
    EXPECT_EQ(CreationError<weir_send_side>(weir_send_side_create, rule.get(), nullptr, pacing_factor),
              WEIR_ERROR_INVALID_ARGUMENT);
  }
  weir_send_side_destroy(nullptr);

  const auto send_side = Create();
  weir_sent_packet packet = Packet(0, kStartUs);
  EXPECT_EQ(weir_send_side_on_sent_packet(nullptr, &packet), WEIR_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(weir_send_side_on_sent_packet(send_side.get(), nullptr), WEIR_ERROR_INVALID_ARGUMENT);
  packet.kind = 4;
  EXPECT_EQ(weir_send_side_on_sent_packet(send_side.get(), &packet), WEIR_ERROR_INVALID_ARGUMENT);

  const std::array<weir_packet_feedback, 1> strange{
      {{.receive_time_us = 0, .sequence_number = 0, .fate = 3, .ecn = 0}}};
  EXPECT_EQ(weir_send_side_on_transport_feedback(send_side.get(), strange.data(), 1, 0), WEIR_ERROR_INVALID_ARGUMENT);
  const weir_packet_feedback strange_ecn{.receive_time_us = 0, .sequence_number = 0, .fate = 0, .ecn = 4};
  EXPECT_EQ(weir_send_side_on_transport_feedback(send_side.get(), &strange_ecn, 1, 0), WEIR_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(weir_send_side_on_transport_feedback(send_side.get(), nullptr, 1, 0), WEIR_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(weir_send_side_on_transport_feedback(send_side.get(), nullptr, 0, INT64_MAX), WEIR_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(weir_send_side_on_transport_feedback(send_side.get(), strange.data(), 100'000, 0),
            WEIR_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(weir_send_side_on_transport_feedback(send_side.get(), nullptr, 0, 0), WEIR_OK);
  EXPECT_EQ(weir_send_side_on_timeout(send_side.get(), INT64_MIN), WEIR_ERROR_INVALID_ARGUMENT);
  for (const int64_t total_bps : {int64_t{0}, int64_t{-1}, INT64_MAX}) {
    EXPECT_EQ(weir_send_side_set_desired_rate(send_side.get(), total_bps, 0), WEIR_ERROR_INVALID_ARGUMENT);
  }
  EXPECT_EQ(weir_send_side_set_desired_rate(send_side.get(), 1, -1), WEIR_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(weir_send_side_set_desired_rate(nullptr, 1, 1), WEIR_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(weir_send_side_take_probe_cluster(send_side.get(), nullptr), WEIR_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(weir_send_side_get_network_state(send_side.get(), nullptr), WEIR_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(weir_send_side_on_timeout(nullptr, 0), WEIR_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(weir_send_side_next_timeout_us(nullptr), INT64_MAX);
  EXPECT_EQ(weir_send_side_get_rates(send_side.get(), nullptr), WEIR_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(weir_send_side_get_counters(nullptr, nullptr, 0), WEIR_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(weir_send_side_get_statistics(send_side.get(), nullptr, 8), WEIR_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(weir_send_side_set_objective(send_side.get(), 0, 1, 1), WEIR_ERROR_INVALID_ARGUMENT);
  const weir_target_rate_constraints reversed{2, 2, 1, 0};
  EXPECT_EQ(weir_send_side_set_constraints(send_side.get(), &reversed, 0), WEIR_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(weir_send_side_on_round_trip_time(send_side.get(), 0, 0), WEIR_ERROR_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace weir
