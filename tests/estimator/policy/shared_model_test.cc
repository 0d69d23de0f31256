// One loaded model, and many threads that each have estimators of their own over it. Under ThreadSanitizer (`make
// tsan`) any write that they share is a failure; without it, an answer that depends on who else computes is.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "c_handles.h"
#include "made_estimator.h"
#include "test_call.h"
#include "test_models.h"
#include "weir.h"
#include "weir/bandwidth_estimator.h"
#include "weir/controllers.h"
#include "weir/policy_controller.h"

namespace weir {
namespace {

constexpr int kThreads = 4;
constexpr int kCallsPerThread = 5;

using Model = std::shared_ptr<const PolicyModel>;

void OnThreads(const std::function<void()>& work) {
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int i = 0; i < kThreads; ++i) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
}

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
  OnThreads([&] {
    for (int i = 0; i < kCallsPerThread; ++i) EXPECT_EQ(Rates(shipped, recurrent), alone);
  });
}

// The rate of the C interface after two replacements; errors belong to the calling thread.
int64_t RateThroughC(const std::vector<std::byte>& first, const std::vector<std::byte>& second) {
  const auto estimator = EstimatorWith(PolicyController(first));
  const auto replace = [&](const std::vector<std::byte>& onnx) {
    return weir_estimator_set_controller(estimator.get(), PolicyController(onnx).get());
  };
  weir_estimate estimate{};
  for (int64_t now_us = 0; now_us < 3'000'000; now_us += 10'000) {
    const weir_packet packet = CPacket(now_us, static_cast<uint16_t>(now_us / 10'000));
    EXPECT_EQ(weir_estimator_on_packet(estimator.get(), &packet), WEIR_OK);
    EXPECT_GE(weir_estimator_on_timeout(estimator.get(), now_us, &estimate), 0);
    if (now_us == 1'000'000) {
      EXPECT_EQ(CreationError<weir_model>(weir_model_load, "no model", size_t{8}), WEIR_ERROR_INVALID_MODEL);
      EXPECT_EQ(replace(second), WEIR_OK);
    }
    if (now_us == 2'000'000) {
      EXPECT_EQ(replace(first), WEIR_OK);
    }
  }
  EXPECT_EQ(weir_estimator_get_estimate(estimator.get(), &estimate), WEIR_OK);
  return estimate.target_rate_bps;
}

TEST(SharedModelTest, HandlesOfTheCInterfaceAreIndependent) {
  const auto first = ReadFile(WEIR_SHIPPED_MODEL);
  const auto second = ReadTestModel("rate_bps");
  const int64_t alone_bps = RateThroughC(first, second);
  EXPECT_GT(alone_bps, 0);
  OnThreads([&] {
    for (int i = 0; i < 2; ++i) EXPECT_EQ(RateThroughC(first, second), alone_bps);
  });
}

}  // namespace
}  // namespace weir
