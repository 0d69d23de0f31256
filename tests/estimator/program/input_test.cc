#include "program/input.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

namespace weir {
namespace {

TEST(InputFile, ReadingEnds) {
  const std::pair<const char*, const char*> cases[] = {
      {"/dev/zero", "/dev/zero: is larger than any model, over 64 MiB"},
      {"/", "cannot read the model / (Is a directory)"},
      {"/nowhere", "cannot read the model /nowhere (No such file"}};
  for (const auto& [path, message] : cases) {
    try {
      ReadInputFile(path, "model");
      ADD_FAILURE() << path;
    } catch (const InputError& error) {
      EXPECT_TRUE(std::string(error.what()).starts_with(message)) << error.what();
    }
  }
}

TEST(PrintableText, HasNothingThatATerminalObeys) {
  const std::pair<std::string, std::string> cases[] = {
      {"plain \xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "plain \xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"},
      {"\x1b[31mred\x1b[0m\a\b\r\n\x7f", "?[31mred?[0m?????"},
      // CSI as one character, in UTF-8 and in a byte; a cut character; one of too many bytes.
      {"\xc2\x9b"
       "2J\x9b"
       "2J",
       "?2J?2J"},
      {"\xc3", "?"},
      {"\xe2\x82", "?"},
      {"\xc0\x9b", "??"},
      {std::string("a\0b", 3), "a?b"}};
  for (const auto& [text, shown] : cases) EXPECT_EQ(Printable(text), shown);
}

TEST(ObjectiveInput, TextIsAPresetOrThreeWeightsOfAnySum) {
  EXPECT_EQ(ParseObjective("latency"), kLatency);
  const auto objective = ParseObjective("1,2,1");
  ASSERT_TRUE(objective);
  EXPECT_FLOAT_EQ(objective->latency, 0.5f);
  for (const char* text : {"", "fast", "1,2", "1,2,0", "1,2,nan", "1,2,1,", "1,2,1x", "-1,1,1", "inf,1,1"}) {
    EXPECT_FALSE(ParseObjective(text)) << text;
  }
}

TEST(ObjectiveInput, JsonIsDividedByItsSumOnlyWhereAnySumIsAllowed) {
  EXPECT_FLOAT_EQ(ParseObjective({1, 2, 1}, "objective", WeightSum::kAny).latency, 0.5f);
  EXPECT_EQ(ParseObjective({0.4, 0.5, 0.1}, "objective", WeightSum::kOne), kBalanced);
  EXPECT_THROW(ParseObjective({0.5, 0.5, 0.5}, "objective", WeightSum::kOne), InputError);
  for (const WeightSum sum : {WeightSum::kAny, WeightSum::kOne}) {
    for (const char* text : {"1", "[0.5,0.5]", "[0.5,0.5,0]", "[0.5,0.4,\"0.1\"]", "[0.5,0.6,-0.1]", "[1e300,1,1]"}) {
      EXPECT_THROW(ParseObjective(nlohmann::json::parse(text), "objective", sum), InputError) << text;
    }
  }
}

}  // namespace
}  // namespace weir
