#include "program/input.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace weir {
namespace {

TEST(InputFile, ReadingEnds) {
  for (const char* const path : {"/dev/zero", "/", "/nowhere"}) {
    EXPECT_THROW(ReadInputFile(path, "model"), InputError) << path;
  }
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
