// Filler against its arithmetic, video against the figures of RFC 8593.
#include "media/media_source.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "core/event.h"
#include "endpoints/rtp_format.h"
#include "media/video_source.h"
#include "simulation_fixture.h"

namespace weir::sim {
namespace {

constexpr uint32_t kOverhead = 24;

struct TimedPacket {
  SimTime time;
  MediaPacket media;
};

std::vector<TimedPacket> TakeUntil(MediaSource& source, SimTime until) {
  std::vector<TimedPacket> packets;
  while (source.next_packet_time() < until) {
    const SimTime time = source.next_packet_time();
    packets.push_back({time, source.TakePacket(time)});
  }
  return packets;
}

double RateBps(const std::vector<TimedPacket>& packets, SimDuration duration, PacketKind kind) {
  double bits = 0;
  for (const TimedPacket& packet : packets) {
    if (packet.media.kind == kind) bits += (packet.media.payload_bytes + kOverhead) * 8.0;
  }
  return bits * 1e9 / static_cast<double>(duration.ns());
}

TEST(FillerSourceTest, FollowsTheTargetExactlyAndEvenly) {
  for (const int64_t rate_bps : {30'000, 300'000, 1'000'000, 50'000'000}) {
    FillerSource source(kOverhead, DataRate::KilobitsPerSecond(50'000));
    source.SetTargetRate(DataRate::BitsPerSecond(rate_bps), kTimeZero);
    source.SetActive(true, kTimeZero);
    const auto packets = TakeUntil(source, 60 * kSecond);
    EXPECT_NEAR(RateBps(packets, 60 * kSecond, PacketKind::kVideo), static_cast<double>(rate_bps), 0.001 * rate_bps);
    const SimDuration gap = packets[1].time - packets[0].time;
    for (size_t i = 1; i < packets.size(); ++i) ASSERT_EQ(packets[i].time - packets[i - 1].time, gap);
    EXPECT_LE(gap, 34 * kMs);
  }
}

TEST(FillerSourceTest, PayloadsShrinkRatherThanComeRarely) {
  FillerSource source(kOverhead, DataRate::KilobitsPerSecond(50'000));
  source.SetTargetRate(DataRate::KilobitsPerSecond(120), kTimeZero);
  source.SetActive(true, kTimeZero);
  EXPECT_EQ(source.TakePacket(kTimeZero).payload_bytes, 500 - kOverhead);  // 120 kbit/s in 30 packets a second
  source.SetTargetRate(DataRate::KilobitsPerSecond(1'000), kTimeZero);
  EXPECT_EQ(source.TakePacket(kTimeZero).payload_bytes, 1200u);
}

TEST(FillerSourceTest, ANewTargetCountsWithinAGap) {
  FillerSource source(kOverhead, DataRate::KilobitsPerSecond(50'000));
  source.SetTargetRate(DataRate::BitsPerSecond(1224 * 8 * 10), kTimeZero);  // a packet every 100 ms
  source.SetActive(true, kTimeZero);
  source.TakePacket(kTimeZero);
  // At that rate packets are smaller, one every 33.3 ms. What is still to be earned is kept in whole bits.
  constexpr double kBitsNs = 2e9 / (1224 * 8 * 10);
  const SimDuration gap = source.next_packet_time() - kTimeZero;
  EXPECT_NEAR(static_cast<double>(gap.ns()), 33.3e6, 0.1e6);
  source.SetTargetRate(DataRate::BitsPerSecond(1224 * 8 * 20), kTimeZero + 0.5 * gap);
  EXPECT_NEAR(static_cast<double>(source.next_packet_time().ns()), 0.75 * static_cast<double>(gap.ns()), kBitsNs);
  source.SetTargetRate(DataRate::Zero(), kTimeZero + 0.5 * gap);
  EXPECT_EQ(source.next_packet_time(), kNever);
  source.SetTargetRate(DataRate::BitsPerSecond(1224 * 8 * 10), kSecond);
  EXPECT_NEAR(static_cast<double>((source.next_packet_time() - kSecond).ns()), 0.5 * static_cast<double>(gap.ns()),
              kBitsNs);
}

TEST(FillerSourceTest, KeepsToItsMaximumAndToItsPauses) {
  FillerSource source(kOverhead, DataRate::KilobitsPerSecond(500));
  source.SetTargetRate(DataRate::KilobitsPerSecond(9'000), kTimeZero);
  EXPECT_EQ(source.next_packet_time(), kNever);
  source.SetActive(true, kTimeZero);
  EXPECT_NEAR(RateBps(TakeUntil(source, 10 * kSecond), 10 * kSecond, PacketKind::kVideo), 500e3, 1e3);
  source.SetActive(false, 10 * kSecond);
  EXPECT_EQ(source.next_packet_time(), kNever);
  source.SetActive(true, 20 * kSecond);
  EXPECT_EQ(source.next_packet_time(), 20 * kSecond);
}

class VideoSourceTest : public testing::Test {
 protected:
  VideoSource Make(int64_t rate_bps, uint64_t seed = 1) {
    VideoSource source(media_, media_.max_rate, kOverhead, RandomStream(seed, 0));
    source.SetTargetRate(DataRate::BitsPerSecond(rate_bps), kTimeZero);
    source.SetActive(true, kTimeZero);
    return source;
  }
  // Bytes of each frame.
  static std::vector<uint32_t> Frames(const std::vector<TimedPacket>& packets) {
    std::vector<uint32_t> sizes;
    SimTime last = SimTime::Nanos(-1);
    for (const TimedPacket& packet : packets) {
      if (packet.media.kind != PacketKind::kVideo) continue;
      if (packet.time != last) sizes.push_back(0);
      last = packet.time;
      sizes.back() += packet.media.payload_bytes;
    }
    return sizes;
  }
  MediaSpec media_{.kind = MediaSpec::Kind::kVideo,
                   .max_rate = DataRate::KilobitsPerSecond(2'500),
                   .frames_per_second = 30,
                   .key_frame_interval = 10 * kSecond,
                   .audio_rate = DataRate::BitsPerSecond(32'000),
                   .audio_packets_per_second = 50,
                   .video_pauses = {}};
};

TEST_F(VideoSourceTest, KeepsToRateAndFrameRate) {
  for (const double frames_per_second : {25.0, 30.0, 60.0}) {
    media_.frames_per_second = frames_per_second;
    VideoSource source = Make(1'500'000);
    const auto packets = TakeUntil(source, 60 * kSecond);
    const double video_bps = RateBps(packets, 60 * kSecond, PacketKind::kVideo);
    const double audio_bps = RateBps(packets, 60 * kSecond, PacketKind::kAudio);
    EXPECT_GT(video_bps + audio_bps, 0.95 * 1.5e6);
    EXPECT_LT(video_bps + audio_bps, 1.05 * 1.5e6);
    // 32 kbit/s of Opus and its headers, 50 packets a second.
    EXPECT_NEAR(audio_bps, 32e3 + 50 * kOverhead * 8, 1e3);
    const auto frames = Frames(packets);
    EXPECT_NEAR(static_cast<double>(frames.size()), 60 * frames_per_second, 0.03 * 60 * frames_per_second);
    for (const TimedPacket& packet : packets) ASSERT_LE(packet.media.payload_bytes, kMaxPayloadBytes);
  }
}

TEST_F(VideoSourceTest, FrameSizesVaryAsTheModelSays) {
  media_.key_frame_interval = 1000 * kSecond;
  VideoSource source = Make(1'500'000);
  auto frames = Frames(TakeUntil(source, 100 * kSecond));
  frames.erase(frames.begin(), frames.begin() + 8);  // the first key frame's burst
  double mean = 0, absolute_deviation = 0;
  for (const uint32_t size : frames) mean += size / static_cast<double>(frames.size());
  for (const uint32_t size : frames) {
    absolute_deviation += std::abs(size / mean - 1) / static_cast<double>(frames.size());
  }
  // The mean absolute deviation of a Laplace distribution is its scale, 0.1.
  EXPECT_GT(absolute_deviation, 0.09);
  EXPECT_LT(absolute_deviation, 0.11);
}

TEST_F(VideoSourceTest, KeyFramesAreBurstsThatSmallFramesMakeUpFor) {
  media_.key_frame_interval = 2 * kSecond;
  VideoSource source = Make(2'000'000);
  const auto frames = Frames(TakeUntil(source, 20 * kSecond));
  const double mean = static_cast<double>(std::accumulate(frames.begin(), frames.end(), int64_t{0})) /
                      static_cast<double>(frames.size());
  int key_frames = 0;
  for (const uint32_t size : frames) key_frames += size > 2.5 * mean;
  EXPECT_GE(key_frames, 9);
  EXPECT_LE(key_frames, 10);
  double burst = 0;
  for (size_t i = 0; i < 8; ++i) burst += frames[i];
  EXPECT_NEAR(burst / (8 * mean), 1.0, 0.15);
}

TEST_F(VideoSourceTest, EasyContentTakesLessThanTheTarget) {
  media_.audio_rate = DataRate::Zero();
  media_.minimum_output_share = 0.4;
  VideoSource source = Make(2'000'000);
  const auto packets = TakeUntil(source, 120 * kSecond);
  const double share = RateBps(packets, 120 * kSecond, PacketKind::kVideo) / 2e6;
  EXPECT_GT(share, 0.62);
  EXPECT_LT(share, 0.78);
  EXPECT_NEAR(static_cast<double>(Frames(packets).size()), 120 * 30.0, 120 * 30 * 0.03);
}

TEST_F(VideoSourceTest, DropsFramesRatherThanMakeThemSmallerThanAnEncoderCan) {
  media_.audio_rate = DataRate::Zero();
  media_.key_frame_interval = 1000 * kSecond;
  for (const auto& [rate_bps, frames_per_second] : {std::pair{30'000, 7.5}, {61'200, 15.0}, {200'000, 30.0}}) {
    VideoSource source = Make(rate_bps);
    const auto packets = TakeUntil(source, 60 * kSecond);
    const auto frames = Frames(packets);
    EXPECT_NEAR(static_cast<double>(frames.size()) / 60, frames_per_second, 0.3) << rate_bps;
    const double mean_bytes = std::accumulate(frames.begin(), frames.end(), 0.0) / static_cast<double>(frames.size());
    EXPECT_GT(mean_bytes, 450) << rate_bps;
    EXPECT_NEAR(8 * mean_bytes * frames_per_second, std::max(30e3, rate_bps / 1.02), 0.05 * rate_bps) << rate_bps;
  }
}

TEST_F(VideoSourceTest, StallsSkipFrames) {
  media_.audio_rate = DataRate::Zero();
  media_.stall_probability = 0.1;
  VideoSource source = Make(2'000'000);
  // A tenth of the frames is followed by 1 to 6 skipped ones, 3.5 on average.
  EXPECT_NEAR(static_cast<double>(Frames(TakeUntil(source, 120 * kSecond)).size()), 120 * 30 / 1.35, 120 * 30 * 0.04);
}

TEST_F(VideoSourceTest, HasTheSameContentWhateverTheSenderDoes) {
  media_.audio_rate = DataRate::Zero();
  media_.key_frame_interval = 1000 * kSecond;
  media_.minimum_output_share = 0.2;
  media_.stall_probability = 0.05;
  VideoSource steady = Make(2'400'000);
  VideoSource held = Make(600'000);
  TakeUntil(steady, 10 * kSecond);
  TakeUntil(held, 5 * kSecond);
  held.HoldFrames(true, 5 * kSecond);
  held.HoldFrames(false, 8 * kSecond);
  TakeUntil(held, 10 * kSecond);
  for (int64_t second = 11; second <= 60; ++second) {
    const double ratio = RateBps(TakeUntil(steady, second * kSecond), kSecond, PacketKind::kVideo) /
                         RateBps(TakeUntil(held, second * kSecond), kSecond, PacketKind::kVideo);
    EXPECT_NEAR(ratio, 4, 0.8) << second;
  }
}

TEST_F(VideoSourceTest, DropsOneFrameOfSoMany) {
  media_.audio_rate = DataRate::Zero();
  for (const int64_t interval : {2, 3, 5}) {
    VideoSource source = Make(2'000'000);
    source.SetFrameDropInterval(interval);
    const double kept = 1 - 1.0 / static_cast<double>(interval);
    EXPECT_NEAR(static_cast<double>(Frames(TakeUntil(source, 60 * kSecond)).size()), 60 * 30 * kept, 20) << interval;
  }
}

TEST_F(VideoSourceTest, EncodesNoFrameWhileTheyAreHeldAndAFreshOneThen) {
  media_.audio_rate = DataRate::Zero();
  VideoSource source = Make(1'500'000);
  TakeUntil(source, kSecond);
  source.HoldFrames(true, kSecond);
  EXPECT_EQ(source.next_packet_time(), kNever);
  source.HoldFrames(false, 3 * kSecond);
  const auto packets = TakeUntil(source, 4 * kSecond);
  ASSERT_FALSE(packets.empty());
  EXPECT_GE(packets.front().media.capture_time, 3 * kSecond);
  EXPECT_LT(packets.front().media.capture_time, 3 * kSecond + 40 * kMs);
  EXPECT_NEAR(static_cast<double>(Frames(packets).size()), 30, 2);
}

TEST_F(VideoSourceTest, TheEncoderLagsBehindItsTarget) {
  media_.audio_rate = DataRate::Zero();
  VideoSource source = Make(1'000'000);
  TakeUntil(source, kSecond);
  source.SetTargetRate(DataRate::KilobitsPerSecond(500), kSecond);
  TakeUntil(source, kSecond + 100 * kMs);
  // Changed by the first request; the second has to wait for 200 ms after that.
  source.SetTargetRate(DataRate::KilobitsPerSecond(2'000), kSecond + 100 * kMs);
  for (const uint32_t size : Frames(TakeUntil(source, kSecond + 190 * kMs))) EXPECT_LT(size, 2 * 500e3 / 8 / 30);
  TakeUntil(source, kSecond + 330 * kMs);
  const auto frames = TakeUntil(source, 9 * kSecond + 330 * kMs);
  EXPECT_NEAR(RateBps(frames, 8 * kSecond, PacketKind::kVideo), 2e6, 0.05 * 2e6);
}

TEST_F(VideoSourceTest, ASlowEncoderMayBeginAboveItsTarget) {
  media_.audio_rate = DataRate::Zero();
  media_.rise_time_constant_s = 1.5;
  media_.fall_time_constant_s = 0.5;
  media_.initial_rate = DataRate::KilobitsPerSecond(100'000);  // above what the encoder can do
  VideoSource source = Make(300'000);
  const double before = RateBps(TakeUntil(source, 200 * kMs), 200 * kMs, PacketKind::kVideo);
  EXPECT_GT(before, 0.6 * static_cast<double>(media_.max_rate.bps()));
  TakeUntil(source, 4 * kSecond);
  EXPECT_NEAR(RateBps(TakeUntil(source, 12 * kSecond), 8 * kSecond, PacketKind::kVideo), 0.3e6, 0.05e6);
}

TEST_F(VideoSourceTest, ASlowEncoderFollowsWithItsTimeConstantsAndWithoutBursts) {
  media_.audio_rate = DataRate::Zero();
  media_.rise_time_constant_s = 1.5;
  media_.fall_time_constant_s = 0.5;
  // The frame sizes of many encoders at one time give the rate.
  constexpr uint64_t kEncoders = 400;
  std::vector<VideoSource> sources;
  sources.reserve(kEncoders);
  for (uint64_t seed = 1; seed <= kEncoders; ++seed) sources.push_back(Make(1'000'000, seed));
  for (VideoSource& source : sources) TakeUntil(source, kSecond);
  double before = 1'000'000 - kOverhead * 8.0 * 30 * 4;
  SimTime now = kSecond;
  const auto share_of_the_way = [&](double target_kbps, SimDuration duration) {
    double bytes = 0;
    for (VideoSource& source : sources) {
      source.SetTargetRate(DataRate::BitsPerSecondF(target_kbps * 1e3), now);
      const auto frames = Frames(TakeUntil(source, now + duration));
      for (const uint32_t size : frames) EXPECT_LT(size, 1.8 * std::max(before, target_kbps * 1e3) / 8 / 30);
      bytes += frames.back();
    }
    now += duration;
    const double after = bytes / kEncoders * 8 * 30;
    const double share = std::log(after / before) / std::log(target_kbps * 1e3 / before);
    before = after;
    return share;
  };
  EXPECT_NEAR(share_of_the_way(2'000, 1'500 * kMs), 1 - std::exp(-1), 0.05);
  EXPECT_NEAR(share_of_the_way(200, 500 * kMs), 1 - std::exp(-1), 0.05);
}

TEST_F(VideoSourceTest, PausesBetweenFramesWhileAudioGoesOn) {
  media_.audio_packets_per_second = 2;
  media_.audio_rate = DataRate::BitsPerSecond(1280);
  media_.video_pauses = {{2 * kSecond, 5 * kSecond}, {5 * kSecond, 6 * kSecond}, {20 * kSecond, 30 * kSecond}};
  VideoSource source = Make(1'500'000);
  const auto packets = TakeUntil(source, 25 * kSecond);
  std::array<int, 25> video{}, audio{};
  for (const TimedPacket& packet : packets) {
    const auto second = static_cast<size_t>(packet.time.ns() / kSecond.ns());
    ++(packet.media.kind == PacketKind::kAudio ? audio : video)[second];
    if (packet.media.kind != PacketKind::kAudio) continue;
    EXPECT_GE(packet.media.payload_bytes, 68u);
    EXPECT_LE(packet.media.payload_bytes, 92u);
  }
  for (size_t second = 0; second < video.size(); ++second) {
    const bool paused = (second >= 2 && second < 6) || second >= 20;
    EXPECT_EQ(video[second] == 0, paused) << second;
    EXPECT_EQ(audio[second], 2) << second;
  }
  const auto resumed = std::find_if(packets.begin(), packets.end(), [](const TimedPacket& packet) {
    return packet.media.kind == PacketKind::kVideo && packet.time >= 2 * kSecond;
  });
  ASSERT_NE(resumed, packets.end());
  EXPECT_EQ(resumed->time, 6 * kSecond);
  EXPECT_TRUE(resumed->media.frame_part.key_frame);
}

TEST_F(VideoSourceTest, ACallThatBeginsMutedShowsItsFirstFrameLater) {
  media_.video_pauses = {{kTimeZero, 3 * kSecond}};
  VideoSource source = Make(1'500'000);
  for (const TimedPacket& packet : TakeUntil(source, 3 * kSecond - 1)) {
    EXPECT_EQ(packet.media.kind, PacketKind::kAudio);
  }
  EXPECT_GT(Frames(TakeUntil(source, 4 * kSecond)).size(), 25u);
}

TEST_F(VideoSourceTest, KeepsToItsMaximum) {
  media_.max_rate = DataRate::KilobitsPerSecond(800);
  VideoSource source = Make(50'000'000);
  const auto packets = TakeUntil(source, 60 * kSecond);
  EXPECT_GT(RateBps(packets, 60 * kSecond, PacketKind::kVideo), 0.95 * 800e3);
  EXPECT_LT(RateBps(packets, 60 * kSecond, PacketKind::kVideo), 1.05 * 800e3);
}

}  // namespace
}  // namespace weir::sim
