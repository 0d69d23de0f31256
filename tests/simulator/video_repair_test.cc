// The repair of lossy video: requests and their times, retransmissions, and the fate of the frames.
#include "repair/video_repair.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include "core/event.h"
#include "endpoints/rtp_format.h"
#include "repair/nack.h"
#include "simulation_fixture.h"
#include "test_scenarios.h"

namespace weir::sim {
namespace {

constexpr FramePart kWholeKeyFrame{.key_frame = true, .first = true, .last = true};
constexpr FramePart kWholeFrame{.first = true, .last = true};

using Numbers = std::vector<int64_t>;

TEST(NackRequesterTest, AsksAtOnceAndAgainAfterARoundTrip) {
  NackRequester requester;
  requester.SetRoundTripTime(50 * kMs);
  EXPECT_TRUE(requester.OnPacket(7));
  EXPECT_EQ(requester.next_timeout(), kNever);
  EXPECT_TRUE(requester.OnPacket(10));
  EXPECT_EQ(requester.TakeRequests(101 * kMs), (Numbers{8, 9}));
  EXPECT_EQ(requester.next_timeout(), 160 * kMs);
  EXPECT_TRUE(requester.TakeRequests(150 * kMs).empty());
  requester.OnRetransmission(8);
  EXPECT_EQ(requester.TakeRequests(160 * kMs), (Numbers{9}));
  requester.OnPacket(9);  // late, and not lost
  EXPECT_EQ(requester.next_timeout(), kNever);
}

TEST(NackRequesterTest, GivesUpAfterTenRequests) {
  NackRequester requester;
  requester.OnPacket(0);
  requester.OnPacket(2);
  int requests = 0;
  for (SimTime now = kTimeZero; now < 10 * kSecond; now += 100 * kMs) {
    requests += static_cast<int>(requester.TakeRequests(now).size());
  }
  EXPECT_EQ(requests, 10);
}

TEST(NackRequesterTest, HoldsAThousandPacketsAtMost) {
  NackRequester requester;
  requester.OnPacket(0);
  EXPECT_TRUE(requester.OnPacket(1001));
  EXPECT_EQ(requester.TakeRequests(kTimeZero).size(), 1000u);
  EXPECT_FALSE(requester.OnPacket(1003));
  EXPECT_EQ(requester.next_timeout(), kNever);
}

TEST(FrameAssemblyTest, AFrameNeedsAllSinceTheLastKeyFrame) {
  FrameAssembly assembly;
  EXPECT_TRUE(assembly.OnPacket(0, kWholeKeyFrame));
  EXPECT_FALSE(assembly.OnPacket(2, kWholeFrame));
  EXPECT_FALSE(assembly.OnPacket(3, kWholeFrame));
  EXPECT_TRUE(assembly.OnPacket(1, kWholeFrame));
  EXPECT_EQ(assembly.first_needed(), 4);
  EXPECT_FALSE(assembly.OnPacket(1, kWholeFrame));  // a copy
}

TEST(FrameAssemblyTest, AKeyFrameEndsTheWaitOnceAllOfItIsThere) {
  FrameAssembly assembly;
  EXPECT_TRUE(assembly.OnPacket(0, kWholeKeyFrame));
  EXPECT_FALSE(assembly.OnPacket(4, {.key_frame = true, .first = true}));
  EXPECT_FALSE(assembly.OnPacket(6, {.key_frame = true, .last = true}));
  EXPECT_FALSE(assembly.OnPacket(7, kWholeFrame));
  EXPECT_TRUE(assembly.OnPacket(5, {.key_frame = true}));
  EXPECT_EQ(assembly.first_needed(), 8);
}

TEST(FrameAssemblyTest, WithoutTheFirstKeyFrameNothingIsDecoded) {
  FrameAssembly assembly;
  EXPECT_FALSE(assembly.OnPacket(0, kWholeFrame));
  EXPECT_FALSE(assembly.OnPacket(1, kWholeFrame));
  EXPECT_TRUE(assembly.OnPacket(2, kWholeKeyFrame));
}

TEST(FrameAssemblyTest, ForgetsWhatIsTooOld) {
  FrameAssembly assembly;
  EXPECT_TRUE(assembly.OnPacket(0, kWholeKeyFrame));
  for (int64_t i = 2; i < 10'001; ++i) EXPECT_FALSE(assembly.OnPacket(i, kWholeFrame));
  EXPECT_EQ(assembly.first_needed(), 1);
  EXPECT_FALSE(assembly.OnPacket(10'001, kWholeFrame));
  EXPECT_EQ(assembly.first_needed(), 10'002);
  EXPECT_TRUE(assembly.OnPacket(10'002, kWholeKeyFrame));
}

Packet VideoPacket(int64_t number, FramePart part = kWholeFrame, PacketKind kind = PacketKind::kVideo) {
  Packet packet;
  packet.rtp.kind = kind;
  packet.rtp.payload_size = 1000;
  packet.media_sequence_number = number;
  packet.frame_part = part;
  return packet;
}

class VideoRepairTest : public ::testing::Test {
 protected:
  void Arrive(int64_t number, SimTime arrival, FramePart part = kWholeFrame) {
    repair_.OnAnnounced(VideoPacket(number, part), arrival);
    repair_.OnPacket(VideoPacket(number, part), arrival);
  }
  VideoRepair repair_{kTimeZero};
};

TEST_F(VideoRepairTest, AGapIsAskedForWhenItShows) {
  Arrive(0, 10 * kMs, kWholeKeyFrame);
  EXPECT_FALSE(repair_.OnAnnounced(VideoPacket(1), 40 * kMs));
  EXPECT_TRUE(repair_.OnAnnounced(VideoPacket(3), 70 * kMs));
  EXPECT_EQ(repair_.next_timeout(), 70 * kMs);
  repair_.OnPacket(VideoPacket(1), 40 * kMs);
  repair_.OnPacket(VideoPacket(3), 70 * kMs);
  EXPECT_EQ(repair_.TakeRequests(70 * kMs).nack, (Numbers{2}));
}

TEST_F(VideoRepairTest, APacketThatOvertakesShowsAGap) {
  Arrive(0, 10 * kMs, kWholeKeyFrame);
  EXPECT_FALSE(repair_.OnAnnounced(VideoPacket(1), 60 * kMs));
  EXPECT_TRUE(repair_.OnAnnounced(VideoPacket(2), 50 * kMs));
  EXPECT_EQ(repair_.next_timeout(), 50 * kMs);
}

TEST_F(VideoRepairTest, AsksForAKeyFrameAfterThreeSecondsWithoutAFrame) {
  Arrive(0, 10 * kMs, kWholeKeyFrame);
  SimTime now = 40 * kMs;
  for (int64_t number = 2; now < 3'010 * kMs; ++number, now += 30 * kMs) {
    Arrive(number, now);
    EXPECT_FALSE(repair_.TakeRequests(now).pli);
  }
  EXPECT_EQ(repair_.next_timeout(), 3'010 * kMs);
  EXPECT_TRUE(repair_.TakeRequests(3'010 * kMs).pli);
  EXPECT_FALSE(repair_.TakeRequests(3'020 * kMs).pli);
  EXPECT_TRUE(repair_.TakeRequests(6'010 * kMs).pli);
  // A sender that is silent for 5 s has nothing to show.
  EXPECT_FALSE(repair_.TakeRequests(9'010 * kMs).pli);
}

TEST_F(VideoRepairTest, AsksForTheFirstKeyFrameSooner) {
  Arrive(1, 10 * kMs);
  EXPECT_TRUE(repair_.TakeRequests(200 * kMs).pli);
  Arrive(2, 250 * kMs, {.key_frame = true, .first = true});
  EXPECT_FALSE(repair_.TakeRequests(400 * kMs).pli);  // it is on its way
}

TEST(RtpPacketHistoryTest, SendsAgainOnceARoundTrip) {
  RtpPacketHistory history;
  history.SetRoundTripTime(95 * kMs);
  for (int64_t i = 0; i < 3; ++i) history.OnSent(VideoPacket(i, kWholeKeyFrame), kTimeZero);
  EXPECT_FALSE(history.TakeForRetransmission(3, kTimeZero));
  const auto packet = history.TakeForRetransmission(1, 50 * kMs);
  ASSERT_TRUE(packet);
  EXPECT_EQ(packet->kind, PacketKind::kRetransmission);
  EXPECT_EQ(packet->payload_bytes, 1002u);
  EXPECT_EQ(packet->repaired_sequence_number, 1);
  EXPECT_TRUE(packet->frame_part.key_frame);
  EXPECT_FALSE(history.TakeForRetransmission(1, 500 * kMs)) << "it waits for the pacer";
  history.OnSent(VideoPacket(1, kWholeKeyFrame, PacketKind::kRetransmission), 500 * kMs);
  EXPECT_FALSE(history.TakeForRetransmission(1, 599 * kMs));
  EXPECT_TRUE(history.TakeForRetransmission(1, 600 * kMs));
}

TEST(RtpPacketHistoryTest, KeepsWhatMayBeAskedForAndNoMore) {
  RtpPacketHistory history;
  for (int64_t i = 0; i < 20'000; ++i) history.OnSent(VideoPacket(i), i * kMs / 100);
  EXPECT_FALSE(history.TakeForRetransmission(10'399, 200 * kMs));
  EXPECT_TRUE(history.TakeForRetransmission(10'400, 200 * kMs));
  for (int64_t i = 20'000; i < 20'010; ++i) history.OnSent(VideoPacket(i), 10 * kSecond);
  EXPECT_FALSE(history.TakeForRetransmission(19'999, 10 * kSecond));
}

// Round trips below 20 ms are without FEC, but for key frames.
constexpr double kWithoutFecMs = 4;

json Video(int64_t rate_bps, double loss, double one_way_delay_ms = kWithoutFecMs) {
  json scenario = Steady(8'000'000, 40);
  scenario["forward"]["one_way_delay_ms"] = one_way_delay_ms;
  scenario["reverse"] = {{"one_way_delay_ms", one_way_delay_ms}};
  if (loss > 0) scenario["forward"]["loss"] = {{"kind", "bernoulli"}, {"ratio", loss}};
  scenario["flows"][0]["controller"] = "fixed";
  scenario["flows"][0]["fixed_rate_bps"] = rate_bps;
  scenario["flows"][0]["media"] = {{"kind", "video"}, {"max_rate_bps", 8'000'000}, {"audio_rate_bps", 0}};
  return scenario;
}

struct Frames {
  std::vector<double> delays_ms;
  size_t never_shown = 0;
};
Frames FramesOf(const nlohmann::ordered_json& flow) {
  const auto& series = flow["series"]["frames"];
  Frames frames;
  for (size_t i = 0; i < series["bytes"].size(); ++i) {
    if (series["complete_time_us"][i].is_null()) {
      ++frames.never_shown;
    } else {
      frames.delays_ms.push_back(
          (series["complete_time_us"][i].get<double>() - series["capture_time_us"][i].get<double>()) / 1e3);
    }
  }
  return frames;
}

TEST(RepairedVideoTest, WithoutLossNothingIsAskedFor) {
  const auto flow = RunScenario(Video(2'000'000, 0), "rule")["flows"][0];
  EXPECT_EQ(flow["nack_count"], 0);
  EXPECT_EQ(flow["pli_count"], 0);
  EXPECT_EQ(flow["retransmitted_packets_sent"], 0);
}

TEST(RepairedVideoTest, WhatIsLostIsSentAgainAtTheMediasExpense) {
  const auto clean = RunScenario(Video(2'000'000, 0), "rule")["flows"][0];
  const auto lossy = RunScenario(Video(2'000'000, 0.05), "rule")["flows"][0];
  const double share = lossy["retransmitted_packets_sent"].get<double>() / lossy["packets_sent"].get<double>();
  EXPECT_NEAR(share, 0.05, 0.008);
  EXPECT_NEAR(lossy["bytes_sent"].get<double>() / clean["bytes_sent"].get<double>(), 1.0, 0.02);
  const Frames frames = FramesOf(lossy);
  // Those at the start, whose key frame was lost, at the end, and where a key frame overtook a repair.
  EXPECT_LE(frames.never_shown, 25u);
  EXPECT_GT(frames.delays_ms.size(), 1'150u);
}

// libwebrtc's sender does not follow REMB there, whatever the receiver's controller reports.
TEST(RepairedVideoTest, HeavyLossHoldsTheSenderBack) {
  for (const bool filler : {false, true}) {
    json scenario = Video(2'000'000, 0.08);
    if (filler) scenario["flows"][0].erase("media");
    const auto some = RunScenario(scenario, "rule")["flows"][0];
    EXPECT_NEAR(MeanOver(some, "target_bps", 30, 40), 2e6, 5e4);
    scenario["forward"]["loss"]["ratio"] = 0.2;
    const auto much = RunScenario(scenario, "rule")["flows"][0];
    EXPECT_NEAR(MeanOver(much, "target_bps", 5, 10), 2e6, 5e4);
    EXPECT_LT(MeanOver(much, "target_bps", 39, 40), 1.2e6);
  }
}

TEST(RepairedVideoTest, FillerIsNotRepaired) {
  json scenario = Video(2'000'000, 0.05);
  scenario["flows"][0].erase("media");
  const auto flow = RunScenario(scenario, "rule")["flows"][0];
  EXPECT_FALSE(flow.contains("nack_count"));
  EXPECT_LE(FramesOf(flow).never_shown, 3u);
}

TEST(RepairedVideoTest, ARepairTakesTheRoundTrip) {
  // With FEC, it is for those of which it cannot bring back all.
  for (const double one_way_delay_ms : {8.0, 150.0}) {
    const Frames frames = FramesOf(RunScenario(Video(2'000'000, 0.08, one_way_delay_ms), "rule")["flows"][0]);
    std::vector<double> repaired_ms;
    for (const double delay_ms : frames.delays_ms) {
      if (delay_ms > 2.9 * one_way_delay_ms) repaired_ms.push_back(delay_ms);
    }
    ASSERT_GT(repaired_ms.size(), 40u) << one_way_delay_ms;
    std::ranges::nth_element(repaired_ms, repaired_ms.begin() + static_cast<std::ptrdiff_t>(repaired_ms.size() / 2));
    const double median_ms = repaired_ms[repaired_ms.size() / 2];
    EXPECT_GT(median_ms, 3 * one_way_delay_ms);
    // The gap shows with the next packet: of the same frame, or of the next one.
    EXPECT_LT(median_ms, 3 * one_way_delay_ms + 45) << one_way_delay_ms;
  }
}

TEST(RepairedVideoTest, FecTakesItsPartOfTheRateAndSavesRoundTrips) {
  const auto clean = RunScenario(Video(2'000'000, 0, 50), "rule")["flows"][0];
  const auto lossy = RunScenario(Video(2'000'000, 0.02, 50), "rule")["flows"][0];
  EXPECT_NEAR(lossy["bytes_sent"].get<double>() / clean["bytes_sent"].get<double>(), 1.0, 0.03);
  const auto media_bytes = [](const nlohmann::ordered_json& flow) {
    double sum = 0;
    for (const auto& bytes : flow["series"]["frames"]["bytes"]) sum += bytes.get<double>();
    return sum;
  };
  const double media_share = media_bytes(lossy) / media_bytes(clean);
  EXPECT_GT(media_share, 0.65);
  EXPECT_LT(media_share, 0.8);
  const Frames frames = FramesOf(lossy);
  const auto late = std::ranges::count_if(frames.delays_ms, [](double delay_ms) { return delay_ms > 145; });
  // A frame has seven packets or more: without FEC, 13 % of the frames would be late.
  EXPECT_LT(static_cast<double>(late), 0.08 * static_cast<double>(frames.delays_ms.size()));
  EXPECT_GT(late, 0);
}

TEST(RepairedVideoTest, WhoDoesNotReportLossGetsNoFec) {
  RecordingObserver with, without;
  json scenario = Video(2'000'000, 0.05, 50);
  RunObserved(scenario, "rule", with);
  scenario["flows"][0]["controller"] = "pcc";
  RunObserved(scenario, "rule", without);
  const auto is_fec = [](const Packet& packet) { return packet.fec.packets > 0; };
  EXPECT_GT(std::ranges::count_if(with.sent, is_fec), 500);
  EXPECT_EQ(std::ranges::count_if(without.sent, is_fec), 0);
}

TEST(RepairedVideoTest, ProtectionComesOnTopOfMediaAtItsLargestRate) {
  json scenario = Video(2'000'000, 0.02, 50);
  scenario["flows"][0]["controller"] = "gcc";
  scenario["flows"][0]["media"]["max_rate_bps"] = 2'000'000;
  const auto flow = RunScenario(scenario, "rule")["flows"][0];
  EXPECT_GT(MeanOver(flow, "target_bps", 20, 40), 2.4e6);
  EXPECT_GT(MeanOver(flow, "send_rate_bps", 20, 40), 2.4e6);
}

TEST(RepairedVideoTest, ARequestThatIsLostIsRepeated) {
  json scenario = Video(2'000'000, 0.03);
  const auto direct = RunScenario(scenario, "rule")["flows"][0];
  scenario["reverse"]["loss"] = {{"kind", "bernoulli"}, {"ratio", 0.3}};
  const auto repeated = RunScenario(scenario, "rule")["flows"][0];
  EXPECT_GT(repeated["nack_count"].get<double>(), 1.2 * direct["nack_count"].get<double>());
  EXPECT_NEAR(repeated["retransmitted_packets_sent"].get<double>(), direct["retransmitted_packets_sent"].get<double>(),
              0.15 * direct["retransmitted_packets_sent"].get<double>());
  EXPECT_LE(FramesOf(repeated).never_shown, 60u);
}

TEST(RepairedVideoTest, AnOutageThatLosesTooMuchEndsWithOneKeyFrame) {
  // 2.9 s of 500 packets each, of which the queue holds 300 ms, so more are missing than are requested, 1000; the key
  // frames of its own are far apart.
  json scenario = Video(4'500'000, 0);
  scenario["forward"]["capacity"] = {{"times_s", {0.0, 10.0, 12.9}}, {"rates_bps", {8'000'000, 0, 8'000'000}}};
  scenario["flows"][0]["media"]["key_frame_interval_s"] = 100.0;
  const auto flow = RunScenario(scenario, "rule")["flows"][0];
  EXPECT_EQ(flow["pli_count"], 1);
  EXPECT_LT(flow["retransmitted_packets_sent"].get<int>(), 40);
  const auto& series = flow["series"]["frames"];
  double last_before_ms = 0, first_after_ms = 0;
  for (size_t i = 0; i < series["bytes"].size(); ++i) {
    if (series["complete_time_us"][i].is_null()) continue;
    const double capture_ms = series["capture_time_us"][i].get<double>() / 1e3;
    if (capture_ms < 11'500) last_before_ms = capture_ms;
    if (capture_ms >= 11'500 && first_after_ms == 0) first_after_ms = capture_ms;
  }
  EXPECT_LT(last_before_ms, 10'700);
  // The outage ends, the queue empties, a packet shows the gap, the request goes back.
  EXPECT_GT(first_after_ms, 12'900);
  EXPECT_LT(first_after_ms, 13'300);
}

TEST(RepairedVideoTest, ARetransmissionIsAPacketOfAStreamOfItsOwn) {
  RecordingObserver recorder;
  RunObserved(Video(2'000'000, 0.05), "rule", recorder);
  std::set<int64_t> lost;
  for (const Packet& packet : recorder.dropped) lost.insert(packet.media_sequence_number);
  uint16_t next = 0;
  std::vector<Packet> originals;
  for (const Packet& packet : recorder.sent) {
    if (packet.is_original_video()) originals.push_back(packet);
    if (packet.rtp.kind != PacketKind::kRetransmission) continue;
    const Packet& original = originals[static_cast<size_t>(packet.media_sequence_number)];
    ASSERT_EQ(packet.rtp.ssrc, SsrcOf(0, PacketKind::kRetransmission));
    ASSERT_NE(packet.rtp.ssrc, original.rtp.ssrc);
    ASSERT_NE(packet.rtp.payload_type, original.rtp.payload_type);
    ASSERT_EQ(packet.rtp.sequence_number, next++);
    ASSERT_EQ(packet.rtp.payload_size, original.rtp.payload_size + 2);
    ASSERT_EQ(packet.rtp.rtp_timestamp, original.rtp.rtp_timestamp);
    ASSERT_EQ(packet.rtp.abs_send_time, AbsSendTime(packet.sent_time));
    ASSERT_TRUE(lost.contains(packet.media_sequence_number));
  }
  EXPECT_GT(next, 300);
}

}  // namespace
}  // namespace weir::sim
