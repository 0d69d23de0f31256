#include "registry.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>

#include "controllers/field_trials.h"
#include "weir/controllers.h"
#include "weir/objective.h"

namespace weir {
namespace {

constexpr DataRate kRate = DataRate::KilobitsPerSecond(500);

TEST(RegistryTest, MakesEveryControllerThatIsBuiltInAndNoOther) {
  for (const RegisteredController& one : kControllers) {
    SCOPED_TRACE(one.name);
    const auto made = MakeBuiltInController(one.name, kRate);
    ASSERT_EQ(made != nullptr, one.built_in);
    EXPECT_TRUE(!made || made->name() == one.name);
  }
  EXPECT_FALSE(MakeBuiltInController("", kRate));
  EXPECT_FALSE(MakeBuiltInController("Rule", kRate));
}

TEST(RegistryTest, WhatIsBuiltInIsSimulatedAndEverythingRunsSomewhere) {
  for (const RegisteredController& one : kControllers) {
    SCOPED_TRACE(one.name);
    EXPECT_TRUE(one.simulated || one.in_calls);
    EXPECT_TRUE(one.simulated || !one.built_in);
  }
}

// Names are options, keys of JSON and parts of CSS and file names, as they are.
TEST(RegistryTest, NamesArePlainAndEachThereOnce) {
  const auto check = [](const auto& rows) {
    std::set<std::string_view> seen;
    for (const auto& row : rows) {
      SCOPED_TRACE(row.name);
      EXPECT_TRUE(seen.insert(row.name).second);
      EXPECT_FALSE(row.name.empty());
      EXPECT_EQ(row.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-"), std::string_view::npos);
    }
  };
  check(kControllers);
  check(kObjectivePresets);
}

TEST(RegistryTest, PresetsAreObjectivesUnderTheirNames) {
  for (const ObjectivePresetEntry& entry : kObjectivePresets) {
    SCOPED_TRACE(entry.name);
    EXPECT_EQ(ObjectivePreset(entry.name), entry.objective);
    const auto& [throughput, latency, loss] = entry.objective;
    const auto normalized = NormalizedObjective(throughput, latency, loss);
    ASSERT_TRUE(normalized);
    EXPECT_FLOAT_EQ(normalized->throughput, throughput);
  }
  EXPECT_EQ(kObjectivePresets[0].objective, Objective());
}

struct Row {
  std::string_view name;
};

TEST(NamesTest, ListsFindsAndComparesThem) {
  static constexpr Row kRows[] = {{"a"}, {"b"}, {"c"}};
  EXPECT_EQ(ListNames(kRows), "a, b, c");
  EXPECT_EQ(ListNames(kRows, " and "), "a, b and c");
  EXPECT_EQ(FindRow(kRows, "b"), &kRows[1]);
  EXPECT_EQ(FindRow(kRows, "d"), nullptr);
  constexpr std::string_view kSame[] = {"c", "a", "b"};
  constexpr std::string_view kFewer[] = {"c", "a"};
  constexpr std::string_view kOther[] = {"c", "a", "d"};
  static_assert(HaveSameNames(kRows, kSame) && HaveSameNames(kSame, kRows));
  static_assert(!HaveSameNames(kRows, kFewer) && !HaveSameNames(kFewer, kRows) && !HaveSameNames(kRows, kOther));
}

TEST(FieldTrialsTest, FollowTheNameOfAController) {
  EXPECT_EQ(WithoutFieldTrials("gcc:A/B/"), "gcc");
  EXPECT_EQ(WithoutFieldTrials("gcc"), "gcc");
  const auto trials = FieldTrialsOf("gcc:WebRTC-Bwe-LossBasedBweV2/Enabled:false/A/B,c:1.5|2/");
  ASSERT_TRUE(trials) << trials.error();
  EXPECT_EQ(ToString(trials.value()), "A/B,c:1.5|2/WebRTC-Bwe-LossBasedBweV2/Enabled:false/");
  EXPECT_TRUE(FieldTrialsOf("gcc").value().empty());
}

TEST(FieldTrialsTest, ScreamKeepsTheTrialThatMakesIt) {
  EXPECT_EQ(ToString(FieldTrialsOf("scream:A/B/").value()), "A/B/WebRTC-Bwe-ScreamV2/mode:always/");
  EXPECT_EQ(ToString(FieldTrialsOf("scream:WebRTC-Bwe-ScreamV2/mode:always,BetaLoss:0.8/").value()),
            "WebRTC-Bwe-ScreamV2/mode:always,BetaLoss:0.8/");
  EXPECT_FALSE(FieldTrialsOf("scream:WebRTC-Bwe-ScreamV2/Enabled/"));
}

TEST(FieldTrialsTest, RefusesWhatLibwebrtcWouldAbortOn) {
  for (const char* const text : {"A", "A/", "A/B", "/B/", "A//", "A/B/C", "A/B/A/C/", "A/B C/", "A/B=1/", "A/\"/"})
    EXPECT_FALSE(FieldTrialsOf("gcc:" + std::string(text))) << text;
  EXPECT_FALSE(FieldTrialsOf("nada:A/B/"));
  EXPECT_FALSE(FieldTrialsOf("gccc"));
}

}  // namespace
}  // namespace weir
