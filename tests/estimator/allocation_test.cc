// The packet path and the timer allocate nothing after warm-up, and a failed allocation is an error.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string>

#include "arrival/arrival_statistics.h"
#include "controllers/fixed_controller.h"
#include "controllers/nada_controller.h"
#include "controllers/rule_controller.h"
#include "counted_allocations.h"
#include "made_estimator.h"
#include "test_pool.h"
#include "test_stream.h"
#include "weir.h"
#include "weir/bandwidth_estimator.h"
#include "weir/remb_sender.h"

namespace weir {
namespace {

TEST(AllocationTest, TheCounterCounts) {
  const int64_t before = CountedAllocations();
  // Volatile: the compiler may remove an allocation that nothing uses.
  int* volatile seen = new int(1);
  delete seen;
  EXPECT_EQ(CountedAllocations(), before + 1);
}

class PoolAllocationTest : public testing::TestWithParam<FusionKind> {};

TEST_P(PoolAllocationTest, NoneAfterWarmUp) {
  BandwidthEstimator estimator =
      MadeEstimator({}, PoolOf(ControllersOf(std::make_unique<RuleController>(), std::make_unique<NadaController>(),
                                             std::make_unique<FixedController>(DataRate::KilobitsPerSecond(500))),
                               {.pilot = {}, .fusion = GetParam(), .policy = PilotPolicyKind::kByTrust},
                               {.fusion = [](DataRate pilot, std::span<const DataRate>) { return pilot; }}));
  TestStream stream;
  Timestamp now = Timestamp::Seconds(1);
  RembSender sender;
  int64_t rembs = 0;
  const auto run = [&](size_t packets) {
    for (size_t i = 0; i < packets; ++i) {
      now += TimeDelta::Millis(3);
      if (i % 97 == 0) stream.Skip(2);
      estimator.OnPacket(stream.Next(now, TimeDelta::Millis(25 + static_cast<int64_t>(i % 40))));
      estimator.OnPacket(TestStream(static_cast<uint32_t>(i + 2)).Next(now));
      while (sender.next_timeout(estimator) <= now) rembs += sender.OnTimeout(estimator, now).remb_due;
    }
  };
  // Until there are as many streams as are ever known.
  run(2 * ArrivalStatistics::kMaxSsrcs);
  const int64_t before = CountedAllocations();
  run(20'000);
  EXPECT_EQ(CountedAllocations(), before);
  EXPECT_GT(rembs, 60);
}

// Through the C interface it is an error, whichever it is, and nothing is left half made.
TEST(AllocationTest, ThatFailsIsAnErrorInC) {
  int failed = 0;
  for (int64_t allowed = 0; allowed < 1000; ++allowed) {
    weir_controller* controller = nullptr;
    weir_estimator* estimator = nullptr;
    FailAllocationsAfter(allowed);
    int created = weir_controller_create_built_in("nada", &controller);
    if (created == WEIR_OK) created = weir_estimator_create(controller, nullptr, &estimator);
    FailAllocationsAfter(-1);
    weir_controller_destroy(controller);
    if (created == WEIR_OK) {
      weir_estimator_destroy(estimator);
      EXPECT_EQ(failed, allowed);
      EXPECT_GE(failed, 3);
      return;
    }
    ++failed;
    ASSERT_EQ(created, WEIR_ERROR_OUT_OF_MEMORY) << allowed;
    ASSERT_EQ(estimator, nullptr) << allowed;
    ASSERT_STREQ(weir_last_error(), "out of memory");
  }
  FAIL() << "it never had enough";
}
INSTANTIATE_TEST_SUITE_P(Fusions, PoolAllocationTest,
                         testing::Values(FusionKind::kPilotOnly, FusionKind::kMax, FusionKind::kMin,
                                         FusionKind::kMedian, FusionKind::kMean, FusionKind::kClosest,
                                         FusionKind::kUser),
                         [](const auto& info) { return std::string(ToString(info.param)); });

}  // namespace
}  // namespace weir
