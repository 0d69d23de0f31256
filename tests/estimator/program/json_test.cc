#include "program/json.h"

#include <gtest/gtest.h>

#include <chrono>

#include "program/input.h"

namespace weir {
namespace {

std::string ErrorOf(std::string_view text) {
  try {
    ParseJson(text, "here");
  } catch (const InputError& error) {
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

TEST(JsonText, ReadingTakesTimeInProportionToItsLength) {
  std::string text = "[{}";
  for (int i = 0; i < 500'000; ++i) text += ",{}";
  text += "]";
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(ParseJson(text).size(), 500'001U);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

TEST(JsonText, WritesWhateverAStringHolds) {
  EXPECT_EQ(JsonText({{"name", "a\xff"}, {"next", 1}}), "{\"name\":\"a\xef\xbf\xbd\",\"next\":1}");
}

}  // namespace
}  // namespace weir
