#include "programs/input.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "programs/json.h"

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
    } catch (const ProgramError& error) {
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

TEST(ObjectiveInput, JsonIsDividedByItsSum) {
  EXPECT_FLOAT_EQ(ParseObjective({1, 2, 1}, "objective").latency, 0.5f);
  // Those of a scenario, whose sum is 1, stay as they are.
  EXPECT_EQ(ParseObjective({0.5, 0.4, 0.1}, "objective"), kBalanced);
  EXPECT_EQ(ParseObjective({0.8, 0.1, 0.1}, "objective"), kThroughput);
  EXPECT_EQ(ParseObjective({0.1, 0.8, 0.1}, "objective"), kLatency);
  for (const char* text : {"1", "[0.5,0.5]", "[0.5,0.5,0]", "[0.5,0.4,\"0.1\"]", "[0.5,0.6,-0.1]", "[1e300,1,1]"}) {
    EXPECT_THROW(ParseObjective(nlohmann::json::parse(text), "objective"), ProgramError) << text;
  }
}

std::string ErrorOf(std::string_view text) {
  try {
    ParseJson(text, "here");
  } catch (const ProgramError& error) {
    return error.what();
  }
  return "";
}

TEST(JsonText, WhatIsNoJsonIsRefusedAndNamed) {
  EXPECT_EQ(ErrorOf("{\"a\":"), "here: not JSON, at byte 6");
  EXPECT_NE(ErrorOf("").find("not JSON"), std::string::npos);
  EXPECT_NE(ErrorOf("\"\xff\"").find("not JSON"), std::string::npos);
}

TEST(JsonText, WhatIsNestedTooDeeplyIsRefused) {
  const auto nested = [](size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_EQ(ErrorOf(nested(256)), "");
  EXPECT_EQ(ErrorOf(nested(257)), "here: nested deeper than 256 levels");
  EXPECT_EQ(ErrorOf(std::string(100'000, '[')), "here: nested deeper than 256 levels");
}

TEST(JsonText, ANumberBeyondAllNumbersIsRefused) {
  EXPECT_EQ(ErrorOf("[1e999]"), "here: a number in it is larger than any that can be used");
}

TEST(JsonText, AKeyThatIsThereTwiceIsRefused) {
  EXPECT_EQ(ErrorOf(R"({"a": {"x": 1}, "b": {"x": 2}, "c": [{"x": 1}, {"x": 1}]})"), "");
  EXPECT_EQ(ErrorOf(R"({"a": 1, "b": {"x": 1, "y": 2, "x": 3}})"),
            "here: the key \"x\" is there twice in one object; keep one of them");
}

// Minutes, where each object costs another pass over its array.
TEST(JsonText, IsReadInTimeProportionalToItsLength) {
  std::string text = "[{}";
  for (int i = 0; i < 500'000; ++i) text += ",{}";
  EXPECT_EQ(ParseJson(text + "]").size(), 500'001U);
}

TEST(JsonText, WritesWhateverAStringHolds) {
  EXPECT_EQ(JsonText({{"name", "a\xff"}, {"next", 1}}), "{\"name\":\"a\xef\xbf\xbd\",\"next\":1}");
}

}  // namespace
}  // namespace weir
