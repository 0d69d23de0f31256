// The jitter buffer against hand-made arrivals, and against deliveries in slots.
#include "media/jitter_buffer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "media/audio_buffer.h"
#include "nanoseconds.h"
#include "test_scenarios.h"

namespace weir::sim {
namespace {

using Frame = FrameRecorder::Frame;
using AudioPacket = FrameRecorder::AudioPacket;

constexpr int kFrames = 900;
constexpr Ns kFrameInterval = kSecond / 30;
// Time for the buffer to adapt.
constexpr int kSettled = 300;

// Frames of 30 per second, each complete after a delay in ms.
template <class DelayMs>
std::vector<Frame> FramesAfter(DelayMs delay_ms, Ns interval = kFrameInterval) {
  std::vector<Frame> frames;
  for (int i = 0; i < kFrames; ++i) {
    const Ns captured = interval * i;
    frames.push_back({.capture_time = captured,
                      .complete_time = captured + Ns(static_cast<int64_t>(1e6 * delay_ms(i))),
                      .bytes = 5000});
  }
  return frames;
}

// The delay with which a frame is complete if packets arrive only each `slot_ms`.
double SlotDelayMs(int frame, double slot_ms) {
  const double sent_ms = frame * 1e3 / 30 + 20;
  return std::ceil(sent_ms / slot_ms) * slot_ms - sent_ms + 20;
}

double DelayMs(const Frame& frame, SimTime rendered) { return ToMilliseconds(rendered - frame.capture_time); }

std::vector<SimTime> RenderTimes(const std::vector<Frame>& frames, const std::vector<AudioPacket>& audio,
                                 const PlayoutLimits& limits = {}) {
  std::vector<SimTime> times;
  for (const RenderedFrame& rendered : RenderFrames(frames, audio, limits)) times.push_back(rendered.time);
  return times;
}

// The longest time between two rendered frames from kSettled on.
double LongestGapMs(const std::vector<SimTime>& rendered) {
  double longest_ms = 0;
  for (size_t i = kSettled; i < rendered.size(); ++i)
    longest_ms = std::max(longest_ms, ToMilliseconds(rendered[i] - rendered[i - 1]));
  return longest_ms;
}

TEST(JitterBuffer, FramesOfConstantDelayWaitForHostAndRenderDelay) {
  const std::vector<Frame> frames = FramesAfter([](int) { return 50; });
  const std::vector<SimTime> rendered = RenderTimes(frames, {});
  EXPECT_EQ(DelayMs(frames[0], rendered[0]), 50) << "the first frame does not wait";
  for (size_t i = kSettled; i < frames.size(); ++i) {
    EXPECT_GT(DelayMs(frames[i], rendered[i]), 60) << i;
    EXPECT_LT(DelayMs(frames[i], rendered[i]), 75) << i;
  }
}

TEST(JitterBuffer, DeliveriesInSlotsAreRenderedSmoothly) {
  for (const int slot_ms : {20, 60, 120, 180, 250}) {
    const std::vector<Frame> frames = FramesAfter([&](int i) { return SlotDelayMs(i, slot_ms); });
    const std::vector<SimTime> rendered = RenderTimes(frames, {});
    EXPECT_LT(LongestGapMs(rendered), 60) << slot_ms;
    // The last frames wait for those that came late, and no longer than needed.
    EXPECT_GT(DelayMs(frames.back(), rendered.back()), 0.8 * slot_ms + 20) << slot_ms;
    EXPECT_LT(DelayMs(frames.back(), rendered.back()), 1.2 * slot_ms + 70) << slot_ms;
  }
}

TEST(JitterBuffer, ALateFrameIsRenderedAtOnceAndTheNextOnesAfterIt) {
  const std::vector<Frame> frames = FramesAfter([](int i) { return i == 500 ? 400 : 50; });
  const std::vector<SimTime> rendered = RenderTimes(frames, {});
  EXPECT_EQ(rendered[500], frames[500].complete_time);
  EXPECT_EQ(rendered[505], rendered[500]) << "captured before its arrival";
  EXPECT_TRUE(std::ranges::is_sorted(rendered));
  EXPECT_LT(DelayMs(frames[530], rendered[530]), 200) << "one late frame is no jitter";
}

TEST(JitterBuffer, FramesThatAreNotDecodedAreNeverRendered) {
  std::vector<Frame> frames = FramesAfter([](int) { return 50; });
  frames[400].complete_time = kNever;
  const std::vector<SimTime> rendered = RenderTimes(frames, {});
  EXPECT_EQ(rendered[400], kNever);
  EXPECT_LT(DelayMs(frames[401], rendered[401]), 75);
}

TEST(JitterBuffer, RetransmissionsAreNoJitter) {
  std::vector<Frame> frames = FramesAfter([](int i) { return i % 10 == 0 ? 170 : 50; });
  const double with_jitter_ms = DelayMs(frames[899], RenderTimes(frames, {})[899]);
  for (size_t i = 0; i < frames.size(); i += 10) frames[i].retransmitted = true;
  EXPECT_GT(with_jitter_ms, 90);
  EXPECT_LT(DelayMs(frames[899], RenderTimes(frames, {})[899]), 75);
}

TEST(JitterBuffer, FrameRatesBelowFiveHaveNoJitter) {
  const std::vector<Frame> frames = FramesAfter([](int i) { return i % 2 == 0 ? 150 : 50; }, kSecond / 4);
  const std::vector<SimTime> rendered = RenderTimes(frames, {});
  // The mean arrival plus the delay of rendering.
  EXPECT_NEAR(DelayMs(frames[899], rendered[899]), 110, 5);
}

TEST(JitterBuffer, LargeFramesRaiseTheDelayByUpToTheirTransmissionTime) {
  // A link of 2 Mbps: 4 us a byte, so that a large frame takes 20 ms longer than the others.
  const auto frames_of = [](int64_t large) {
    std::vector<Frame> frames = FramesAfter([](int) { return 50; });
    for (size_t i = 0; i < frames.size(); ++i) {
      frames[i].bytes = i % 10 == 0 ? large : 2000;
      frames[i].complete_time += SimDuration::Micros(4 * frames[i].bytes);
    }
    return frames;
  };
  const std::vector<Frame> even = frames_of(2000), uneven = frames_of(7000);
  const double even_ms = DelayMs(even[891], RenderTimes(even, {})[891]);
  const double added_ms = DelayMs(uneven[891], RenderTimes(uneven, {})[891]) - even_ms;
  EXPECT_GT(added_ms, 4) << "the usual arrival alone is 2 ms later";
  EXPECT_LT(added_ms, 22);
}

TEST(JitterBuffer, ALongerPathDelaysRenderingAndAShorterOneAgainLess) {
  const std::vector<Frame> frames = FramesAfter([](int i) { return i >= 300 && i < 600 ? 250 : 50; });
  const std::vector<SimTime> rendered = RenderTimes(frames, {});
  EXPECT_GT(DelayMs(frames[599], rendered[599]), 260);
  EXPECT_LT(DelayMs(frames[599], rendered[599]), 330);
  EXPECT_LT(DelayMs(frames[899], rendered[899]), 150);
}

TEST(JitterBuffer, VideoWaitsForLateAudio) {
  const std::vector<Frame> frames = FramesAfter([](int) { return 50; });
  std::vector<AudioPacket> audio;
  // One packet of 25 has 300 ms more.
  for (int i = 0; i < 1500; ++i) {
    const Ns captured = 20 * kMs * i;
    audio.push_back({.capture_time = captured, .arrival_time = captured + 50 * kMs + (i % 25 == 0 ? 300 : 0) * kMs});
  }
  std::ranges::stable_sort(audio, {}, &AudioPacket::arrival_time);
  const std::vector<SimTime> rendered = RenderTimes(frames, audio);
  EXPECT_GT(DelayMs(frames.back(), rendered.back()), 300);
  EXPECT_LT(DelayMs(frames.back(), rendered.back()), 420);
  EXPECT_LT(LongestGapMs(rendered), 120) << "each second by 80 ms at most";
}

TEST(JitterBuffer, AnOutageOfHalfAMinuteDelaysAudioNoLongerThanItsPacketsWait) {
  AudioBuffer audio{PlayoutLimits{}.audio_quantile};
  constexpr Ns kPacket = kSecond / 50;
  constexpr Ns kOutageEnd = kSecond * 40;
  // Packets of seconds 10 to 40 arrive at its end, ten times as fast as they were sent.
  for (int i = 0; i < 3000; ++i) {
    const Ns captured = kPacket * i;
    const Ns queued = kOutageEnd + kPacket * (i - 500) / 10;
    const Ns arrived = i < 500 ? captured + Ns(50'000'000) : std::max(captured + Ns(50'000'000), queued);
    audio.OnPacket(captured, arrived);
    if (i == 2200) {
      EXPECT_LT(audio.LatencyMs(), 4100) << "all of the queue has arrived";
    }
  }
  EXPECT_LT(audio.LatencyMs(), 3000);
}

TEST(JitterBuffer, TheWaitForAudioIsTheTimeByWhichFramesAreRenderedLaterThanWithoutAudio) {
  const std::vector<Frame> frames = FramesAfter([](int i) { return i % 7 == 0 ? 90 : 50; });
  std::vector<AudioPacket> audio;
  for (int i = 0; i < 1500; ++i) {
    const Ns captured = 20 * kMs * i;
    audio.push_back({.capture_time = captured, .arrival_time = captured + 50 * kMs + (i % 25 == 0 ? 300 : 0) * kMs});
  }
  std::ranges::stable_sort(audio, {}, &AudioPacket::arrival_time);
  const std::vector<RenderedFrame> rendered = RenderFrames(frames, audio, {}),
                                   without_audio = RenderFrames(frames, {}, {});
  EXPECT_EQ(rendered.front().lip_sync, SimDuration::Zero());
  EXPECT_GT(ToMilliseconds(rendered.back().lip_sync), 150);
  for (size_t i = 0; i < frames.size(); ++i) {
    EXPECT_LT(ToMilliseconds(without_audio[i].lip_sync), 5) << i;
    const double later_ms = ToMilliseconds(rendered[i].time - without_audio[i].time);
    EXPECT_NEAR(ToMilliseconds(rendered[i].lip_sync), later_ms, 25) << i;
  }
}

TEST(JitterBuffer, ALimitEndsTheWaitForAudioAndAShorterMemoryShortensIt) {
  const std::vector<Frame> frames = FramesAfter([](int) { return 50; });
  std::vector<AudioPacket> audio;
  // In one of ten half seconds a packet comes 300 ms late.
  for (int i = 0; i < 1500; ++i) {
    const Ns captured = 20 * kMs * i;
    audio.push_back({.capture_time = captured, .arrival_time = captured + 50 * kMs + (i % 250 == 0 ? 300 : 0) * kMs});
  }
  std::ranges::stable_sort(audio, {}, &AudioPacket::arrival_time);
  const auto delay_ms = [&](const PlayoutLimits& limits) {
    return DelayMs(frames.back(), RenderTimes(frames, audio, limits).back());
  };
  const double unlimited_ms = delay_ms({});
  EXPECT_GT(unlimited_ms, 330);
  EXPECT_NEAR(delay_ms({.video = SimDuration::Millis(150)}), 50 + 150, 15);
  EXPECT_LT(delay_ms({.audio_quantile = 0.8}), unlimited_ms - 50);
}

// libwebrtc's line through arrivals may lead far away: after two punctual frames, 98 come seconds late, almost at once.
TEST(JitterBuffer, NoFrameWaitsForMoreThanTenSeconds) {
  for (const int64_t late_ms : {50, 3000, 9000}) {
    std::vector<Frame> frames;
    for (int i = 0; i < 900; ++i) {
      const Ns captured = 33 * kMs * i;
      const bool is_late = i > 1 && i < 100;
      const Ns complete =
          is_late ? std::max(captured, 3300 * kMs) + (late_ms + i) * kMs : captured + (50 + i % 7) * kMs;
      frames.push_back({.capture_time = captured, .complete_time = complete, .bytes = 5000});
    }
    const std::vector<SimTime> rendered = RenderTimes(frames, {});
    for (size_t i = 0; i < frames.size(); ++i) {
      EXPECT_LT(ToMilliseconds(rendered[i] - std::max(frames[i].complete_time, frames[99].complete_time)), 10'000) << i;
    }
  }
}

TEST(JitterBuffer, PunctualAudioHardlyDelaysVideo) {
  const std::vector<Frame> frames = FramesAfter([](int) { return 50; });
  std::vector<AudioPacket> audio;
  for (int i = 0; i < 1500; ++i)
    audio.push_back({.capture_time = 20 * kMs * i, .arrival_time = 20 * kMs * i + 50 * kMs});
  EXPECT_LT(DelayMs(frames.back(), RenderTimes(frames, audio).back()), 105);
}

TEST(JitterBuffer, WithoutFramesNothingIsRendered) { EXPECT_TRUE(RenderTimes({}, {}).empty()); }

// Deliveries each 180 ms once counted as frozen, as frames were rendered when they arrived.
TEST(RenderedFrames, DeliveriesInSlotsDoNotFreezeReplays) {
  for (const double slot_ms : {20, 60, 120, 180, 250}) {
    json scenario = Steady(20'000'000, 20);
    scenario["forward"]["jitter"] = {{"kind", "slotted"}, {"interval_ms", slot_ms}};
    scenario["flows"][0]["media"] = {{"kind", "video"}};
    const auto flow = RunScenario(scenario, "rule")["flows"][0];
    const auto& frames = flow["series"]["frames"];
    int64_t last_us = 0, longest_us = 0;
    for (size_t i = 0; i < frames["rendered_time_us"].size(); ++i) {
      if (frames["rendered_time_us"][i].is_null()) break;
      const auto rendered_us = frames["rendered_time_us"][i].get<int64_t>();
      EXPECT_GE(rendered_us, frames["complete_time_us"][i].get<int64_t>());
      if (last_us > 5'000'000) longest_us = std::max(longest_us, rendered_us - last_us);
      last_us = rendered_us;
    }
    EXPECT_GT(last_us, 19'500'000) << slot_ms;
    EXPECT_LT(longest_us, 150'000) << slot_ms;
  }
}

}  // namespace
}  // namespace weir::sim
