// Calls of few frames of many packets, such as a shared screen without speech, with the shipped model.
#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "made_estimator.h"
#include "read_file.h"
#include "test_call.h"
#include "weir/bandwidth_estimator.h"
#include "weir/controllers.h"

namespace weir {
namespace {

constexpr DataRate Kbps(int64_t kbps) { return DataRate::KilobitsPerSecond(kbps); }

std::unique_ptr<ReceiverController> Shipped() {
  static const std::shared_ptr<const PolicyModel> model = PolicyModel::Load(ReadFile(WEIR_SHIPPED_MODEL)).value();
  return MakePolicyController(model);
}

class SparseFramesTest : public testing::TestWithParam<int64_t> {
 protected:
  // Media of 2 Mbps on 20 Mbps.
  TestPath Path() const {
    return {.capacity = Steady(Kbps(20'000)),
            .max_media_rate = [](TimeDelta) { return Kbps(2'000); },
            .frames_per_second = GetParam()};
  }
};

TEST_P(SparseFramesTest, OnAFreePathTheTargetStaysAboveTheMedia) {
  BandwidthEstimator estimator = MadeEstimator({}, Shipped());
  TestCall call(estimator, Path());
  call.RunUntil(TimeDelta::Seconds(120));
  DataRate lowest = DataRate::PlusInfinity();
  for (const TestCall::Target& sent : call.feedback()) {
    if (sent.at > TimeDelta::Seconds(60)) lowest = std::min(lowest, sent.estimate.target_rate);
  }
  EXPECT_GE(lowest, Kbps(2'000));
  EXPECT_GE(estimator.latest().target_rate, Kbps(2'000));
  EXPECT_EQ(estimator.network_state().state, CongestionState::kNormal);
}

TEST_P(SparseFramesTest, AnOutageIsNoticedAfterThreeFrames) {
  BandwidthEstimator estimator = MadeEstimator({}, Shipped());
  TestPath path = Path();
  path.lost = [](TimeDelta time) { return time > TimeDelta::Seconds(60); };
  TestCall call(estimator, std::move(path));
  call.RunUntil(TimeDelta::Seconds(70));
  EXPECT_LT(estimator.latest().target_rate, Kbps(500));
}

INSTANTIATE_TEST_SUITE_P(FramesPerSecond, SparseFramesTest, testing::Values(1, 2, 5, 8));

}  // namespace
}  // namespace weir
