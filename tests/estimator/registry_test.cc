#include "registry.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>

#include "weir/controllers.h"
#include "weir/names.h"
#include "weir/objective.h"

namespace weir {
namespace {

constexpr DataRate kRate = DataRate::KilobitsPerSecond(500);

TEST(RegistryTest, MakesEveryControllerButThePolicyWithoutAModel) {
  EXPECT_EQ(kControllers[0].name, "weir");
  EXPECT_TRUE(kControllers[0].uses_model());
  EXPECT_FALSE(MakeBuiltInController("weir", kRate));
  for (const RegisteredController& row : kBuiltInControllers) {
    SCOPED_TRACE(row.name);
    ASSERT_FALSE(row.uses_model());
    const auto made = MakeBuiltInController(row.name, kRate);
    ASSERT_TRUE(made);
    EXPECT_EQ(made->name(), row.name);
  }
  EXPECT_FALSE(MakeBuiltInController("", kRate));
  EXPECT_FALSE(MakeBuiltInController("Rule", kRate));
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

TEST(NamesTest, ListsAndFindsRows) {
  static constexpr Row kRows[] = {{"a"}, {"b"}, {"c"}};
  EXPECT_EQ(ListNames(kRows), "a, b, c");
  EXPECT_EQ(ListNames(kRows, " and "), "a, b and c");
  EXPECT_EQ(FindRow(kRows, "b"), &kRows[1]);
  EXPECT_EQ(FindRow(kRows, "d"), nullptr);
}

}  // namespace
}  // namespace weir
