#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <string>
#include <string_view>
#include <thread>

#include "command.h"

namespace weir::peer {
namespace {

class LineReaderTest : public testing::Test {
 protected:
  ~LineReaderTest() override {
    close(pipe_[0]);
    close(wake_fd_);
    if (writer_.joinable()) writer_.join();
  }
  // From another thread: a pipe holds less than a line may.
  void WriteAndClose(std::string text) {
    writer_ = std::thread([this, text = std::move(text)] {
      std::string_view rest = text;
      while (!rest.empty()) {
        const ssize_t written = write(pipe_[1], rest.data(), rest.size());
        if (written <= 0) break;
        rest.remove_prefix(static_cast<size_t>(written));
      }
      close(pipe_[1]);
    });
  }

  static std::array<int, 2> OpenPipe() {
    std::array<int, 2> fds{};
    EXPECT_EQ(pipe(fds.data()), 0);
    return fds;
  }

  const std::array<int, 2> pipe_ = OpenPipe();
  const int wake_fd_ = eventfd(0, EFD_NONBLOCK);
  LineReader reader_{pipe_[0], wake_fd_};
  std::string line_;
  std::thread writer_;
};

TEST_F(LineReaderTest, LinesComeOneByOneAndTheLastNeedsNoEnd) {
  WriteAndClose("one\n\ntwo");
  for (const char* expected : {"one", "", "two"}) {
    ASSERT_EQ(reader_.Next(line_), LineReader::Event::kLine);
    EXPECT_EQ(line_, expected);
  }
  EXPECT_EQ(reader_.Next(line_), LineReader::Event::kEndOfFile);
  EXPECT_EQ(reader_.Next(line_), LineReader::Event::kEndOfFile);
}

TEST_F(LineReaderTest, TooLongLinesAreLeftOut) {
  const std::string longest(LineReader::kMaxLineSize, 'a');
  WriteAndClose("x\n" + longest + "b\n" + longest + "\n" + longest + longest);
  EXPECT_EQ(reader_.Next(line_), LineReader::Event::kLine);
  EXPECT_EQ(reader_.Next(line_), LineReader::Event::kTooLong);
  ASSERT_EQ(reader_.Next(line_), LineReader::Event::kLine);
  EXPECT_EQ(line_, longest);
  EXPECT_EQ(reader_.Next(line_), LineReader::Event::kTooLong);
  EXPECT_EQ(reader_.Next(line_), LineReader::Event::kEndOfFile);
}

TEST_F(LineReaderTest, WakesWithoutInput) {
  const uint64_t one = 1;
  ASSERT_EQ(write(wake_fd_, &one, sizeof one), static_cast<ssize_t>(sizeof one));
  EXPECT_EQ(reader_.Next(line_), LineReader::Event::kWoken);
  close(pipe_[1]);
}

}  // namespace
}  // namespace weir::peer
