// One loaded model, and many threads that each have estimators of their own over it. Under ThreadSanitizer (`make
// tsan`) any write that they share is a failure; without it, an answer that depends on who else computes is.
#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

#include "made_estimator.h"
#include "policy/policy_controller.h"
#include "test_call.h"
#include "test_models.h"
#include "weir/bandwidth_estimator.h"
#include "weir/controllers.h"

namespace weir {
namespace {

using Model = std::shared_ptr<const PolicyModel>;

Model Load(const std::vector<std::byte>& bytes) {
  auto model = PolicyModel::Load(bytes);
  EXPECT_TRUE(model) << (model ? "" : model.error());
  return model ? model.value() : nullptr;
}

// Rates of a call that begins with `first` and goes on with `second`, which is made and lost within it.
std::vector<int64_t> Rates(const Model& first, const Model& second) {
  BandwidthEstimator estimator = MadeEstimator({}, MakePolicyController(first));
  TestCall call(estimator, {.capacity = [](TimeDelta) { return DataRate::KilobitsPerSecond(1000); }});
  call.RunUntil(TimeDelta::Seconds(2));
  estimator.SetController(MakePolicyController(second));
  call.RunUntil(TimeDelta::Seconds(4));
  std::vector<int64_t> rates;
  rates.reserve(call.feedback().size());
  for (const auto& target : call.feedback()) rates.push_back(target.estimate.target_rate.bps());
  return rates;
}

TEST(SharedModelTest, ManyThreadsGetTheAnswersOfOne) {
  // Weir computes the shipped one by itself, ONNX Runtime the other.
  const Model shipped = Load(ReadFile(WEIR_SHIPPED_MODEL));
  const Model recurrent = Load(ReadTestModel("recurrent"));
  ASSERT_TRUE(shipped && recurrent);
  const std::vector<int64_t> alone = Rates(shipped, recurrent);
  ASSERT_GT(alone.size(), 10u);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      for (int i = 0; i < 5; ++i) EXPECT_EQ(Rates(shipped, recurrent), alone);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace weir
