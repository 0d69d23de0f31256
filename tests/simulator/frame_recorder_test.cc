// Frames against what is known of them: an empty path, an outage, losses. Percentiles of delays against sorted delays.
#include "media/frame_recorder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "core/event.h"
#include "link/delay_distribution.h"
#include "simulation_fixture.h"
#include "test_scenarios.h"

namespace weir::sim {
namespace {

constexpr Ns kReturnDelay = 30 * kMs;

// Packets of a sender whose frames have the numbers 0, 1, ... and are captured every 100 ms.
class FrameRecorderTest : public ::testing::Test {
 protected:
  Packet Send(int64_t frame, SimTime sent, PacketKind kind = PacketKind::kVideo) {
    Packet packet;
    packet.sent_time = sent;
    packet.transport_sequence_number = next_sequence_number_++;
    if (kind == PacketKind::kVideo) packet.media_sequence_number = next_media_sequence_number_++;
    packet.rtp.kind = kind;
    packet.capture_time = frame * 100 * kMs;
    packet.rtp.payload_size = 1000;
    recorder_.OnSent(packet);
    return packet;
  }
  std::vector<FrameRecorder::Frame> Frames() const { return recorder_.Frames(3'600'000 * kMs); }

  FrameRecorder recorder_{kReturnDelay};
  int64_t next_sequence_number_ = 0;
  int64_t next_media_sequence_number_ = 0;
};

TEST_F(FrameRecorderTest, AFrameIsCompleteWithItsLastPacketAndOrderDoesNotMatter) {
  const Packet a = Send(1, 100 * kMs), b = Send(1, 105 * kMs), c = Send(2, 200 * kMs);
  recorder_.OnReceived(b, 140 * kMs);
  EXPECT_EQ(Frames()[0].complete_time, kNever);
  recorder_.OnReceived(a, 150 * kMs);
  recorder_.OnReceived(c, 230 * kMs);
  ASSERT_EQ(Frames().size(), 2u);
  EXPECT_EQ(Frames()[0].capture_time, 100 * kMs);
  EXPECT_EQ(Frames()[0].complete_time, 150 * kMs);
  EXPECT_EQ(Frames()[0].bytes, 2000);
  EXPECT_EQ(Frames()[0].sent_time, 105 * kMs);
  EXPECT_EQ(Frames()[1].capture_time, 200 * kMs);
  EXPECT_EQ(Frames()[1].complete_time, 230 * kMs);
}

TEST_F(FrameRecorderTest, ALostPacketComesOneRoundTripAfterTheGapShows) {
  const Packet lost = Send(1, 100 * kMs), later = Send(2, 200 * kMs);
  recorder_.OnDropped(lost);
  EXPECT_EQ(Frames()[0].complete_time, kNever);
  recorder_.OnReceived(later, 220 * kMs);
  EXPECT_EQ(Frames()[0].complete_time, 220 * kMs + kReturnDelay + 20 * kMs);
  EXPECT_EQ(Frames()[1].complete_time, 220 * kMs);
}

TEST_F(FrameRecorderTest, NoMorePacketsAreRepairedThanArrive) {
  for (int64_t frame = 1; frame <= 3; ++frame) recorder_.OnDropped(Send(frame, frame * 100 * kMs));
  recorder_.OnReceived(Send(4, 400 * kMs), 420 * kMs);
  recorder_.OnReceived(Send(5, 500 * kMs), 520 * kMs);
  EXPECT_NE(Frames()[0].complete_time, kNever);
  EXPECT_EQ(Frames()[1].complete_time, kNever);
  EXPECT_EQ(Frames()[2].complete_time, kNever);
  // Filler has no key frames to wait for.
  EXPECT_EQ(Frames()[3].complete_time, 420 * kMs);
}

TEST_F(FrameRecorderTest, OnlyALaterVideoPacketShowsAGap) {
  const Packet early = Send(1, 100 * kMs), lost = Send(1, 101 * kMs), audio = Send(1, 102 * kMs, PacketKind::kAudio);
  recorder_.OnDropped(lost);
  recorder_.OnReceived(audio, 120 * kMs);
  recorder_.OnReceived(early, 121 * kMs);
  EXPECT_EQ(Frames()[0].complete_time, kNever);
  recorder_.OnReceived(Send(2, 200 * kMs), 220 * kMs);
  EXPECT_EQ(Frames()[0].complete_time, 270 * kMs);
}

TEST_F(FrameRecorderTest, AQueueMayDropAtItsHeadAfterItsTail) {
  const Packet head = Send(1, 100 * kMs), middle = Send(2, 200 * kMs), tail = Send(3, 300 * kMs);
  recorder_.OnDropped(tail);
  recorder_.OnDropped(head);
  recorder_.OnReceived(middle, 400 * kMs);
  EXPECT_EQ(Frames()[0].complete_time, 400 * kMs + kReturnDelay + 200 * kMs);
  EXPECT_EQ(Frames()[2].complete_time, kNever);
}

TEST_F(FrameRecorderTest, WhatComesAfterTheEndHasNotCome) {
  recorder_.OnReceived(Send(1, 100 * kMs), 150 * kMs);
  EXPECT_EQ(recorder_.Frames(149 * kMs)[0].complete_time, kNever);
}

struct FrameTimes {
  std::vector<double> capture_ms, delay_ms;
  // Delays as they are rendered: in order.
  std::vector<double> rendered_ms;
};

FrameTimes TimesOf(const nlohmann::ordered_json& flow) {
  const auto& frames = flow["series"]["frames"];
  FrameTimes times;
  double last_ms = 0;
  for (size_t i = 0; i < frames["capture_time_us"].size(); ++i) {
    if (frames["complete_time_us"][i].is_null()) break;
    times.capture_ms.push_back(frames["capture_time_us"][i].get<double>() / 1e3);
    times.delay_ms.push_back(frames["complete_time_us"][i].get<double>() / 1e3 - times.capture_ms.back());
    last_ms = std::max(last_ms, frames["complete_time_us"][i].get<double>() / 1e3);
    times.rendered_ms.push_back(last_ms);
  }
  return times;
}

json Video(json scenario, int64_t rate_bps) {
  scenario["flows"][0]["controller"] = "fixed";
  scenario["flows"][0]["fixed_rate_bps"] = rate_bps;
  scenario["flows"][0]["media"] = {{"kind", "video"}};
  return scenario;
}

TEST(SimulatedFramesTest, WithoutQueueAFrameTakesThePathAndItsTransmission) {
  // Frames of some 2,000 bytes over 8 Mbps: a burst of two packets, each 1 ms and less.
  const auto flow = RunScenario(Video(Steady(8'000'000, 20), 500'000), "rule")["flows"][0];
  const auto& frames = flow["series"]["frames"];
  const FrameTimes times = TimesOf(flow);
  ASSERT_NEAR(static_cast<double>(times.delay_ms.size()), 600, 30);
  size_t exact = 0;
  for (size_t i = 0; i < times.delay_ms.size(); ++i) {
    const double payload_bytes = frames["bytes"][i].get<double>();
    const double packets = std::ceil(payload_bytes / 1200);
    const double expected_ms = 25 + (payload_bytes + packets * (24 + 28)) * 8 / 8e3;
    EXPECT_GE(times.delay_ms[i], expected_ms - 0.015);
    exact += times.delay_ms[i] < expected_ms + 0.5;  // audio and reports may be in front
  }
  EXPECT_GT(static_cast<double>(exact) / static_cast<double>(times.delay_ms.size()), 0.9);
}

TEST(SimulatedFramesTest, FillerIsFramesOfAThirtiethOfASecond) {
  for (const int64_t rate_bps : {60'000, 240'000, 2'000'000}) {
    json scenario = Steady(8'000'000, 20);
    scenario["flows"][0]["controller"] = "fixed";
    scenario["flows"][0]["fixed_rate_bps"] = rate_bps;
    const auto flow = RunScenario(scenario, "rule")["flows"][0];
    const FrameTimes times = TimesOf(flow);
    EXPECT_NEAR(static_cast<double>(times.delay_ms.size()), 600, 3) << rate_bps;
    for (const double delay_ms : times.delay_ms) {
      ASSERT_GE(delay_ms, 25.0);
      // It is sent evenly over its thirtieth.
      ASSERT_LE(delay_ms, 25.0 + 1e3 / 30 + 1.5) << rate_bps;
    }
  }
}

TEST(SimulatedFramesTest, AnOutageHoldsFramesUntilItsEnd) {
  const json scenario = Video(PathOf({{0, 4'000'000}, {10, 0}, {12, 4'000'000}}, 20), 300'000);
  const FrameTimes times = TimesOf(RunScenario(scenario, "rule")["flows"][0]);
  std::vector<std::pair<double, double>> gaps;  // when, how long
  for (size_t i = 1; i < times.rendered_ms.size(); ++i) {
    const double gap_ms = times.rendered_ms[i] - times.rendered_ms[i - 1];
    if (gap_ms > 300) gaps.emplace_back(times.rendered_ms[i - 1], gap_ms);
  }
  ASSERT_EQ(gaps.size(), 1u);
  EXPECT_NEAR(gaps[0].first, 10'000, 80);
  EXPECT_NEAR(gaps[0].second, 2'000, 110);
  EXPECT_GT(*std::max_element(times.delay_ms.begin(), times.delay_ms.end()), 1'900);
}

TEST(SimulatedFramesTest, AreFollowedOnlyInSeriesAndOfMedia) {
  const json scenario = Steady(1'000'000, 5);
  EXPECT_FALSE(RunJob(JobOf(scenario, "rule"), false)["flows"][0].contains("series"));
  json with_traffic = scenario;
  with_traffic["flows"].push_back({{"kind", "cbr"}, {"id", "cross"}, {"rate_bps", 100'000}});
  const auto record = RunJob(JobOf(with_traffic, "rule"), true);
  EXPECT_TRUE(record["flows"][0]["series"].contains("frames"));
  EXPECT_FALSE(record["flows"][1]["series"].contains("frames"));
}

TEST(DelayDistributionTest, AgreesWithSortedDelaysWithinHalfABin) {
  std::mt19937_64 random(7);
  std::lognormal_distribution<double> delay_ms(4.0, 1.5);
  DelayDistribution distribution;
  std::vector<double> sorted_ms;
  double sum_ms = 0;
  for (int i = 0; i < 100'000; ++i) {
    const SimDuration delay = SimDuration::Nanos(static_cast<int64_t>(delay_ms(random) * 1e6));
    distribution.Add(delay);
    sorted_ms.push_back(static_cast<double>(delay.ns()) * 1e-6);
    sum_ms += sorted_ms.back();
  }
  std::sort(sorted_ms.begin(), sorted_ms.end());
  const auto nearest_rank = [&](size_t percent) { return sorted_ms[sorted_ms.size() * percent / 100 - 1]; };
  const DelaySummary summary = distribution.Summary();
  EXPECT_NEAR(summary.p5_ms, nearest_rank(5), 0.005);
  EXPECT_NEAR(summary.p50_ms, nearest_rank(50), 0.005);
  EXPECT_NEAR(summary.p95_ms, nearest_rank(95), 0.005);
  EXPECT_NEAR(summary.p99_ms, nearest_rank(99), 0.005);
  EXPECT_NEAR(summary.mean_ms, sum_ms / 1e5, 1e-6);
  EXPECT_DOUBLE_EQ(summary.max_ms, sorted_ms.back());
}

TEST(DelayDistributionTest, LongDelaysFallIntoCoarseBinsAndNeverExceedTheMaximum) {
  DelayDistribution distribution;
  EXPECT_TRUE(distribution.empty());
  distribution.Add(SimDuration::Micros(5'000'400));
  EXPECT_FALSE(distribution.empty());
  EXPECT_NEAR(distribution.Summary().p50_ms, 5000.4, 0.5);
  EXPECT_LE(distribution.Summary().p99_ms, distribution.Summary().max_ms);
  distribution.Add(SimDuration::Seconds(10'000'000));
  EXPECT_DOUBLE_EQ(distribution.Summary().max_ms, 1e10);
  EXPECT_NEAR(distribution.Summary().p99_ms, 400'000.5, 1.0);
}

}  // namespace
}  // namespace weir::sim
