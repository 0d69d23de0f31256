#include "weir/pool/disagreement.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace weir {
namespace {

DataRate Kbps(int64_t rate) { return DataRate::KilobitsPerSecond(rate); }

class DisagreementTest : public testing::Test {
 protected:
  // For two seconds.
  void Hold(DataRate advice, const std::vector<DataRate>& others) {
    for (int i = 0; i < 20; ++i) disagreement_.Add(advice, others, 0.1);
  }

  Disagreement disagreement_;
};

TEST_F(DisagreementTest, IsTheDistanceToTheNearestEitherWay) {
  Hold(Kbps(4000), {Kbps(1000), Kbps(500)});
  EXPECT_NEAR(disagreement_.powers_of_two(), 2 * (1 - std::exp(-2.0)), 1e-9);
  disagreement_ = {};
  Hold(Kbps(125), {Kbps(1000), Kbps(500)});
  EXPECT_NEAR(disagreement_.powers_of_two(), 2 * (1 - std::exp(-2.0)), 1e-9);
}

TEST_F(DisagreementTest, ThereIsNoneAmongTheOthersOrWithoutThem) {
  Hold(Kbps(700), {Kbps(1000), Kbps(500)});
  Hold(Kbps(700), {});
  EXPECT_EQ(disagreement_.powers_of_two(), 0);
}

TEST_F(DisagreementTest, ExtremesByTurnsDoNotCancelOut) {
  for (int i = 0; i < 20; ++i) {
    Hold(Kbps(8000), {Kbps(1000)});
    Hold(Kbps(125), {Kbps(1000)});
  }
  EXPECT_NEAR(disagreement_.powers_of_two(), 3, 0.01);
}

TEST_F(DisagreementTest, IsForgottenInSeconds) {
  Hold(Kbps(8000), {Kbps(1000)});
  for (int i = 0; i < 3; ++i) Hold(Kbps(1000), {Kbps(1000)});
  EXPECT_LT(disagreement_.powers_of_two(), 0.01);
}

}  // namespace
}  // namespace weir
