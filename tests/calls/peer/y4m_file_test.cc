#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "frame_source.h"
#include "programs/input.h"

namespace weir::peer {
namespace {

class Y4mFileTest : public testing::Test {
 protected:
  Y4mFileTest() { close(mkstemp(path_.data())); }
  ~Y4mFileTest() override { unlink(path_.c_str()); }

  std::unique_ptr<FrameSource> Open(const std::string& content) {
    std::ofstream(path_, std::ios::binary) << content;
    return OpenY4mFile(path_);
  }
  static std::string Frame(char luma) { return "FRAME\n" + std::string(16, luma) + std::string(8, 'c'); }

  std::string path_ = testing::TempDir() + "/y4m_XXXXXX";
};

TEST_F(Y4mFileTest, RepeatsItsFrames) {
  const auto source = Open("YUV4MPEG2 W4 H4 F30000:1001 Ip A1:1 C420jpeg\n" + Frame('1') + Frame('2'));
  EXPECT_NEAR(source->format().frames_per_second, 29.97, 0.01);
  EXPECT_EQ(source->Frame(0)->DataY()[0], '1');
  EXPECT_EQ(source->Frame(1)->DataY()[5], '2');
  EXPECT_EQ(source->Frame(2)->DataY()[0], '1');
  EXPECT_EQ(source->Frame(2)->DataU()[0], 'c');
}

TEST_F(Y4mFileTest, HalfAFrameAtTheEndIsLeftOut) {
  const auto source = Open("YUV4MPEG2 W4 H4 F30:1\n" + Frame('1') + Frame('2').substr(0, 20));
  EXPECT_EQ(source->Frame(1)->DataY()[0], '1');
}

TEST_F(Y4mFileTest, WhatCannotBeUsedIsRefused) {
  for (const std::string header :
       {"", "RIFF W4 H4 F30:1\n", "YUV4MPEG2 W4 H4 F30:1", "YUV4MPEG2 W4 H4\n", "YUV4MPEG2 W0 H4 F30:1\n",
        "YUV4MPEG2 W4 H-4 F30:1\n", "YUV4MPEG2 W99999 H4 F30:1\n", "YUV4MPEG2 W4 H4 F30:0\n",
        "YUV4MPEG2 W4 H4 F1000:1\n", "YUV4MPEG2 W4 H4 F30:1 C444\n", "YUV4MPEG2 W4 H4 F30:1 C420p10\n"}) {
    EXPECT_THROW(Open(header + Frame('1')), ProgramError) << header;
  }
  EXPECT_THROW(Open("YUV4MPEG2 W4 H4 F30:1\n"), ProgramError);
  EXPECT_THROW(Open("YUV4MPEG2 W4 H4 F30:1\nFRAME Ip\n" + std::string(24, 'x')), ProgramError);
  EXPECT_THROW(OpenY4mFile("/nowhere.y4m"), ProgramError);
}

}  // namespace
}  // namespace weir::peer
