#include "program/json_lines.h"

#include <gtest/gtest.h>

namespace weir {
namespace {

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
