#include "program/json_lines.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <memory>
#include <string>
#include <thread>

namespace weir {
namespace {

std::string ReadAll(int fd) {
  std::string text;
  char chunk[65536];
  for (ssize_t size = 0; (size = read(fd, chunk, sizeof chunk)) > 0;) text.append(chunk, static_cast<size_t>(size));
  return text;
}

TEST(JsonOutput, WritesLinesInOrderWithATime) {
  int fds[2];
  ASSERT_EQ(pipe(fds), 0);
  {
    JsonOutput output(fds[1]);
    output.Write({{"type", "a"}});
    output.Write({{"type", "b"}, {"time_us", 5}});
    output.Write({{"type", "c"}, {"text", "not UTF-8: \xff"}});
  }
  close(fds[1]);
  const std::string text = ReadAll(fds[0]);
  close(fds[0]);
  EXPECT_TRUE(text.starts_with("{\"type\":\"a\",\"time_us\":"));
  EXPECT_NE(text.find("\n{\"type\":\"b\",\"time_us\":5}\n"), std::string::npos);
  EXPECT_TRUE(text.ends_with("}\n"));
}

TEST(JsonOutput, SlowReaderDelaysNobodyAndLearnsWhatItMissed) {
  int fds[2];
  ASSERT_EQ(pipe(fds), 0);
  auto output = std::make_unique<JsonOutput>(fds[1]);
  const std::string filler(1 << 20, 'x');
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 20; ++i) output->Write({{"type", "filler"}, {"text", filler}});
  // Sanitizers on a busy machine need seconds.
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
  std::string text;
  std::thread reader([&] { text = ReadAll(fds[0]); });
  // Once the reader has made room.
  for (int i = 0; i < 5; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    output->Write({{"type", "late"}});
  }
  output.reset();
  close(fds[1]);
  reader.join();
  close(fds[0]);
  EXPECT_LT(text.size(), size_t{20} << 20);
  EXPECT_NE(text.find("lines were dropped"), std::string::npos);
}

TEST(JsonOutput, ReaderThatReadsNothingDoesNotHoldUpTheEnd) {
  int fds[2];
  ASSERT_EQ(pipe(fds), 0);
  const auto begin = std::chrono::steady_clock::now();
  {
    JsonOutput output(fds[1]);
    output.Write({{"type", "filler"}, {"text", std::string(1 << 20, 'x')}});
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(6));
  close(fds[0]);
  close(fds[1]);
}

TEST(JsonOutput, NoticesAFullDiskAndThatTheReaderHasGone) {
  std::signal(SIGPIPE, SIG_IGN);
  int fds[2];
  ASSERT_EQ(pipe(fds), 0);
  close(fds[0]);
  for (const int fd : {open("/dev/full", O_WRONLY | O_CLOEXEC), fds[1]}) {
    JsonOutput output(fd);
    output.Write({{"type", "a"}});
    for (int i = 0; i < 100 && output.good(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_FALSE(output.good());
    close(fd);
  }
}

using Next = LineBuffer::Next;

TEST(LineBuffer, LinesComeHoweverTheBytesCome) {
  LineBuffer buffer(10);
  std::string line;
  for (const char* part : {"on", "e\n\ntw", "o"}) buffer.Append(part);
  ASSERT_EQ(buffer.Take(line), Next::kLine);
  EXPECT_EQ(line, "one");
  ASSERT_EQ(buffer.Take(line), Next::kLine);
  EXPECT_EQ(line, "");
  EXPECT_EQ(buffer.Take(line), Next::kNothing);
  ASSERT_EQ(buffer.TakeLast(line), Next::kLine);
  EXPECT_EQ(line, "two");
  EXPECT_EQ(buffer.TakeLast(line), Next::kNothing);
}

TEST(LineBuffer, ALineThatIsTooLongIsLeftOutAndTheNextIsNot) {
  LineBuffer buffer(3);
  std::string line;
  buffer.Append("1234");
  EXPECT_EQ(buffer.Take(line), Next::kNothing);
  buffer.Append("5678");
  EXPECT_EQ(buffer.Take(line), Next::kNothing);
  buffer.Append("9\nabc\nabcd\nabcd");
  EXPECT_EQ(buffer.Take(line), Next::kTooLong);
  ASSERT_EQ(buffer.Take(line), Next::kLine);
  EXPECT_EQ(line, "abc");
  EXPECT_EQ(buffer.Take(line), Next::kTooLong);
  EXPECT_EQ(buffer.Take(line), Next::kNothing);
  EXPECT_EQ(buffer.TakeLast(line), Next::kTooLong);
}

}  // namespace
}  // namespace weir
