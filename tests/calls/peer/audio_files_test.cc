#include "audio_files.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "programs/input.h"

namespace weir::peer {
namespace {

class AudioFilesTest : public testing::Test {
 protected:
  AudioFilesTest() { close(mkstemp(path_.data())); }
  ~AudioFilesTest() override { unlink(path_.c_str()); }

  void Record(const std::vector<int16_t>& samples, int times = 1) {
    const auto renderer = RecordAudio(path_, [this](const std::string& message) { errors_.push_back(message); });
    for (int i = 0; i < times; ++i) EXPECT_TRUE(renderer->Render(samples));
  }
  std::string Content() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void Write(const std::string& content) const { std::ofstream(path_, std::ios::binary) << content; }

  std::string path_ = testing::TempDir() + "/audio_XXXXXX";
  std::vector<std::string> errors_;
};

TEST_F(AudioFilesTest, WhatWasRecordedIsSentInALoopWithoutAGap) {
  std::vector<int16_t> samples(700);
  for (size_t i = 0; i < samples.size(); ++i) samples[i] = static_cast<int16_t>(40 * i - 14'000);
  Record(samples);
  EXPECT_EQ(Content().size(), 44 + 2 * samples.size());
  const auto capturer = OpenAudioFile(path_);
  webrtc::BufferT<int16_t> frame;
  for (size_t i = 0; i < 5 * 480; ++i) {
    if (i % 480 == 0) capturer->Capture(&frame);
    ASSERT_EQ(frame.size(), 480u);
    ASSERT_EQ(frame[i % 480], samples[i % samples.size()]) << i;
  }
}

TEST_F(AudioFilesTest, ARecordingIsBounded) {
  Record(std::vector<int16_t>(kAudioRateHz, 1), 601);
  EXPECT_EQ(Content().size(), 44 + 2 * kMaxRecordedSamples);
  EXPECT_TRUE(errors_.empty());
}

TEST_F(AudioFilesTest, ARecordingThatCannotBeWrittenIsReported) {
  EXPECT_THROW(RecordAudio("/nowhere/audio.wav", [](const std::string&) {}), ProgramError);
  unlink(path_.c_str());
  path_ = "/dev/full";
  Record(std::vector<int16_t>(480, 1), 100);
  path_.clear();
  EXPECT_EQ(errors_.size(), 1u);
}

TEST_F(AudioFilesTest, AnEmptyRecordingIsAFileWithoutSamples) {
  Record({}, 0);
  EXPECT_EQ(Content().size(), 44u);
  EXPECT_THROW(OpenAudioFile(path_), ProgramError);
}

TEST_F(AudioFilesTest, ATruncatedFileHasTheSamplesThatAreThere) {
  Record(std::vector<int16_t>(480, 7));
  Write(Content().substr(0, 44 + 2 * 100 + 1));
  const auto capturer = OpenAudioFile(path_);
  webrtc::BufferT<int16_t> frame;
  EXPECT_TRUE(capturer->Capture(&frame));
  EXPECT_EQ(frame[479], 7);
}

TEST_F(AudioFilesTest, WhatCannotBeSentIsRefused) {
  Record(std::vector<int16_t>(480, 7));
  const std::string valid = Content();
  // Offsets in the header: format, channels, rate, bits of a sample, and names of its parts.
  for (const size_t at : {0, 8, 12, 20, 22, 24, 34, 36}) {
    std::string changed = valid;
    changed[at] = static_cast<char>(changed[at] + 3);
    Write(changed);
    EXPECT_THROW(OpenAudioFile(path_), ProgramError) << at;
  }
  for (size_t size = 0; size < 46; ++size) {
    Write(valid.substr(0, size));
    EXPECT_THROW(OpenAudioFile(path_), ProgramError) << size;
  }
  EXPECT_THROW(OpenAudioFile("/nowhere.wav"), ProgramError);
}

}  // namespace
}  // namespace weir::peer
