#include "endpoints/controller_table.h"

#include <gtest/gtest.h>

#include <set>
#include <string_view>

#include "field_trials.h"
#include "weir/names.h"

namespace weir::sim {
namespace {

// Names are options, keys of JSON and parts of CSS and file names.
TEST(ControllerTableTest, NamesArePlainAndUnique) {
  std::set<std::string_view> names;
  for (const SimulatedController& row : SimulatedControllers()) {
    SCOPED_TRACE(row.name);
    EXPECT_TRUE(names.insert(row.name).second);
    EXPECT_FALSE(row.name.empty());
    EXPECT_EQ(row.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-"), std::string_view::npos);
  }
}

TEST(ControllerTableTest, EachRowHasOneFactory) {
  for (const SimulatedController& row : SimulatedControllers()) {
    SCOPED_TRACE(row.name);
    EXPECT_NE(row.at_receiver == nullptr, row.at_sender == nullptr);
    EXPECT_TRUE(row.from_feedback == nullptr || row.at_sender != nullptr);
  }
}

TEST(ControllerTableTest, EveryControllerWithFieldTrialsIsInTheTable) {
  for (const FieldTrialController& controller : kFieldTrialControllers) {
    const SimulatedController* const row = FindRow(SimulatedControllers(), controller.name);
    ASSERT_NE(row, nullptr) << controller.name;
    EXPECT_NE(row->at_sender, nullptr) << controller.name;
  }
}

}  // namespace
}  // namespace weir::sim
