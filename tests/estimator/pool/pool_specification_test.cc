#include "weir/pool_specification.h"

#include <gtest/gtest.h>

#include <string>

namespace weir {
namespace {

std::string ErrorOf(const std::string& line) {
  const auto pool = ParsePool(line);
  return pool ? "no error" : pool.error();
}

TEST(PoolSpecificationTest, ReadsAllParts) {
  const auto pool = ParsePool("pilot=weir copilots=nada,weir:models/b.onnx fusion=min policy=by_trust");
  ASSERT_TRUE(pool) << pool.error();
  EXPECT_EQ(pool.value().pilot, "weir");
  EXPECT_EQ(pool.value().copilots, (std::vector<std::string>{"nada", "weir:models/b.onnx"}));
  EXPECT_EQ(pool.value().fusion, FusionKind::kMin);
  EXPECT_EQ(pool.value().policy, PilotPolicyKind::kByTrust);
}

TEST(PoolSpecificationTest, OnlyThePilotMustBeThere) {
  const auto pool = ParsePool("pilot=rule");
  ASSERT_TRUE(pool);
  EXPECT_EQ(pool.value(), (PoolSpecification{.pilot = "rule"}));
}

TEST(PoolSpecificationTest, ItsShortestFormMeansTheSame) {
  for (const char* line : {"pilot=weir", "pilot=a copilots=b,c", "pilot=a copilots=b fusion=closest:1000000",
                           "pilot=a copilots=b fusion=median policy=by_objective", "pilot=a fusion=user policy=user"}) {
    const auto pool = ParsePool(line);
    ASSERT_TRUE(pool) << pool.error();
    EXPECT_EQ(ToString(pool.value()), line);
  }
  const auto untidy = ParsePool("  policy=fixed fusion=max   copilots=b pilot=a ");
  ASSERT_TRUE(untidy);
  EXPECT_EQ(ToString(untidy.value()), "pilot=a copilots=b fusion=max");
}

TEST(PoolSpecificationTest, SaysWhereAndWhatIsWrong) {
  EXPECT_EQ(ErrorOf(""), "pool, character 1: pilot=MEMBER is missing");
  EXPECT_EQ(ErrorOf("copilots=nada"), "pool, character 14: pilot=MEMBER is missing");
  EXPECT_EQ(ErrorOf("pilot=weir pilots=nada"),
            "pool, character 12: \"pilots=nada\" is not known; use pilot=, copilots=, fusion= or policy=");
  EXPECT_EQ(ErrorOf("pilot=weir pilot=nada"), "pool, character 12: pilot is there twice");
  EXPECT_EQ(ErrorOf("pilot=Weir"), "pool, character 7: \"Weir\" is no member's name");
  EXPECT_EQ(ErrorOf("pilot=weir copilots=nada,,rule"), "pool, character 26: \"\" is no member's name");
  EXPECT_EQ(ErrorOf("pilot=weir copilots=nada,"), "pool, character 26: \"\" is no member's name");
  EXPECT_EQ(ErrorOf("pilot=weir:"),
            "pool, character 11: after \":\" printable ASCII without spaces and commas is needed");
  EXPECT_EQ(ErrorOf("copilots=nada,weir pilot=weir"), "pool, character 15: \"weir\" is in the pool twice");
  EXPECT_EQ(ErrorOf("pilot=weir copilots=a,b,a"), "pool, character 25: \"a\" is in the pool twice");
  EXPECT_EQ(ErrorOf("pilot=weir copilots=a,b,c,d,e,f,g,h"), "pool, character 35: there are at most 7 copilots");
  EXPECT_EQ(ErrorOf("pilot=weir fusion=average"),
            "pool, character 19: \"average\" is not known; use pilot, max, min, median, mean, closest or user");
  EXPECT_EQ(ErrorOf("pilot=weir policy=none"),
            "pool, character 19: \"none\" is not known; use fixed, by_objective, by_trust or user");
  EXPECT_EQ(ErrorOf("pilot=weir\tfusion=min"), "pool, character 7: \"weir?fusion=min\" is no member's name");
}

TEST(PoolSpecificationTest, RatesAreBounded) {
  EXPECT_EQ(ErrorOf("pilot=a fusion=closest").substr(0, 18), "pool, character 16");
  EXPECT_EQ(ErrorOf("pilot=a fusion=min:5").substr(0, 18), "pool, character 16");
  for (const char* rate : {"", "0", "-1", "1e6", "1000000000001", "99999999999999999999", "+5", " 5"}) {
    EXPECT_NE(ErrorOf(std::string("pilot=a fusion=closest:") + rate), "no error") << rate;
  }
  EXPECT_EQ(ErrorOf("pilot=a fusion=closest:1000000000000"), "no error");
}

TEST(PoolSpecificationTest, HostileLinesAreBounded) {
  EXPECT_EQ(ErrorOf("pilot=" + std::string(2000, 'a')), "a pool has at most 1024 characters");
  EXPECT_EQ(ErrorOf(std::string("pilot=we\0ir", 11)).substr(0, 17), "pool, character 7");
  EXPECT_LT(ErrorOf("pilot=weir " + std::string(1000, 'x')).size(), 200u);
  EXPECT_FALSE(ParsePool("pilot=weir copilots=w\xc3\xa4hr"));
}

TEST(PoolSpecificationTest, NoControllersNameIsALine) {
  EXPECT_TRUE(IsPoolLine("pilot=weir"));
  EXPECT_FALSE(IsPoolLine("gcc-remb"));
}

}  // namespace
}  // namespace weir
