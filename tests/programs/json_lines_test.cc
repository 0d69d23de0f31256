#include "programs/json_lines.h"

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
  // A byte of the second line is written once the first line has made room for another.
  std::string text;
  char chunk[4096];
  while (text.find('\n') == std::string::npos || text.back() == '\n') {
    const ssize_t size = read(fds[0], chunk, sizeof chunk);
    ASSERT_GT(size, 0);
    text.append(chunk, static_cast<size_t>(size));
  }
  output->Write({{"type", "late"}});
  std::thread reader([&] { text += ReadAll(fds[0]); });
  output.reset();
  close(fds[1]);
  reader.join();
  close(fds[0]);
  EXPECT_LT(text.size(), size_t{20} << 20);
  EXPECT_NE(text.find("lines were dropped"), std::string::npos);
  EXPECT_NE(text.find("{\"type\":\"late\""), std::string::npos);
}

// In real time: the two seconds after which it gives up are the operating system's.
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
    // The thread that writes notices it.
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(120);
    while (output.good() && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
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
