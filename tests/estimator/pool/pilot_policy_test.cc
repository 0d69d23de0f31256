#include "pool/pilot_policy.h"

#include <gtest/gtest.h>

#include <vector>

#include "weir/interval_statistics.h"

namespace weir {
namespace {

constexpr Timestamp kStart = Timestamp::Seconds(100);

// A pool of a model, NADA and a rule, of which the line makes the model the pilot and the others copilots under `mean`.
class PilotPolicyTest : public testing::Test {
 protected:
  PilotPolicyTest() {
    for (MemberState& member : members_) member.rate = DataRate::KilobitsPerSecond(500);
  }

  // Calls the policy every 100 ms for `duration`; returns its last selection.
  Selection Ask(PilotPolicy& policy, TimeDelta duration = TimeDelta::Millis(100)) {
    for (const Timestamp end = now_ + duration; now_ < end;) {
      now_ += TimeDelta::Millis(100);
      current_ = policy({.now = now_,
                         .objective = objective_,
                         .target = DataRate::KilobitsPerSecond(500),
                         .statistics = statistics_,
                         .members = members_,
                         .line = line_,
                         .current = current_});
    }
    return current_;
  }

  std::vector<MemberState> members_{{{.name = "weir"}}, {{.name = "nada"}}, {{.name = "rule"}}};
  Selection line_{.pilot = 0, .copilots = 0b110, .fusion = FusionKind::kMean};
  Selection current_ = line_;
  Objective objective_ = kBalanced;
  const IntervalStatistics statistics_;
  Timestamp now_ = kStart;
};

TEST_F(PilotPolicyTest, FixedNeedsNoFunction) {
  EXPECT_FALSE(MakePilotPolicy(PilotPolicyKind::kFixed));
  EXPECT_FALSE(MakePilotPolicy(PilotPolicyKind::kUser));
}

TEST_F(PilotPolicyTest, TheObjectiveChoosesTheFusion) {
  PilotPolicy policy = MakePilotPolicy(PilotPolicyKind::kByObjective);
  EXPECT_EQ(Ask(policy), line_);
  objective_ = kLatency;
  EXPECT_EQ(Ask(policy).fusion, FusionKind::kMin);
  objective_ = kThroughput;
  EXPECT_EQ(Ask(policy).fusion, FusionKind::kMax);
  EXPECT_EQ(Ask(policy).pilot, 0u);
}

TEST_F(PilotPolicyTest, TrustTakesTheSeatAfterHalfASecondAndGivesItBackAfterFive) {
  PilotPolicy policy = MakePilotPolicy(PilotPolicyKind::kByTrust);
  EXPECT_EQ(Ask(policy, TimeDelta::Seconds(10)), line_);
  members_[0].trust = 0.2;
  EXPECT_EQ(Ask(policy, TimeDelta::Millis(500)).pilot, 0u);
  EXPECT_EQ(Ask(policy).pilot, 1u);
  EXPECT_EQ(current_.copilots, 0b110u);
  // In between nothing changes.
  members_[0].trust = 0.45;
  EXPECT_EQ(Ask(policy, TimeDelta::Seconds(20)).pilot, 1u);
  members_[0].trust = 0.7;
  EXPECT_EQ(Ask(policy, TimeDelta::Millis(5000)).pilot, 1u);
  EXPECT_EQ(Ask(policy), line_);
}

TEST_F(PilotPolicyTest, AShortLapseCostsNothing) {
  PilotPolicy policy = MakePilotPolicy(PilotPolicyKind::kByTrust);
  for (int i = 0; i < 20; ++i) {
    members_[0].trust = 0.1;
    EXPECT_EQ(Ask(policy, TimeDelta::Millis(400)).pilot, 0u);
    members_[0].trust = 0.5;
    EXPECT_EQ(Ask(policy).pilot, 0u);
  }
}

TEST_F(PilotPolicyTest, CopilotsFlyTogetherWhereTheLineNamesNoFusion) {
  PilotPolicy policy = MakePilotPolicy(PilotPolicyKind::kByTrust);
  line_.fusion = FusionKind::kPilotOnly;
  EXPECT_EQ(Ask(policy), line_);
  members_[0].trust = 0;
  EXPECT_EQ(Ask(policy, TimeDelta::Seconds(1)).fusion, FusionKind::kMean);
  line_.fusion = FusionKind::kMin;
  EXPECT_EQ(Ask(policy).fusion, FusionKind::kMin);
}

TEST_F(PilotPolicyTest, NobodyWhoCannotFlyGetsTheSeat) {
  PilotPolicy policy = MakePilotPolicy(PilotPolicyKind::kByTrust);
  members_[0].trust = 0;
  members_[1].suspended = true;
  members_[2].rate.reset();
  EXPECT_EQ(Ask(policy, TimeDelta::Seconds(3)).pilot, 0u);
  members_[2].rate = DataRate::KilobitsPerSecond(300);
  EXPECT_EQ(Ask(policy).pilot, 2u);
}

}  // namespace
}  // namespace weir
