// Models that are loaded once and shared, and errors that the call itself returns.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "c_handles.h"
#include "test_models.h"
#include "weir.h"

namespace weir {
namespace {

// All rates of an even stream of 1 Mbps in two seconds.
std::vector<int64_t> Rates(const Owned<weir_estimator>& estimator) {
  return Stream(estimator.get(), 1'000'000, 3'000'000, 1'000'000).changed_bps;
}

TEST(CModelTest, SharedItDecidesAsLoadedForOneAlone) {
  const std::vector<int64_t> alone = Rates(EstimatorWith(PolicyController(ReadTestModel("rate_bps"))));
  EXPECT_GE(alone.size(), 3u);

  auto policy = PolicyController(ReadTestModel("rate_bps"));
  const weir_named_controller named{"weir:other", policy.get()};
  const auto pool = Created<weir_controller>(weir_controller_create_pool, "pilot=weir:other copilots=nada", &named,
                                             size_t{1}, nullptr, nullptr);
  const auto first = EstimatorWith(policy), second = EstimatorWith(policy);
  // Estimators and pools outlive the controller, and that its model.
  policy.reset();
  const auto third = EstimatorWith(pool);
  for (const auto* estimator : {&first, &second, &third}) EXPECT_EQ(Rates(*estimator), alone);
}

TEST(CModelTest, RefusesNonsense) {
  const std::vector<std::byte> onnx = ReadTestModel("rate_bps");
  EXPECT_EQ(weir_model_load(onnx.data(), onnx.size(), nullptr), WEIR_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(CreationError<weir_model>(weir_model_load, nullptr, size_t{0}), WEIR_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(CreationError<weir_model>(weir_model_load, "not a model", size_t{11}), WEIR_ERROR_INVALID_MODEL);
  EXPECT_NE(std::string(weir_last_error()).find("not an ONNX model"), std::string::npos);
  const std::vector<std::byte> loop = ReadTestModel("loop");
  EXPECT_EQ(CreationError<weir_model>(weir_model_load, loop.data(), loop.size()), WEIR_ERROR_INVALID_MODEL);
  EXPECT_NE(std::string(weir_last_error()).find("holds a graph"), std::string::npos);
  weir_model_destroy(nullptr);
  weir_controller_destroy(nullptr);
}

// The last error belongs to the thread that failed; a call that succeeds leaves it alone.
TEST(CModelTest, EachThreadHasItsLastError) {
  EXPECT_EQ(weir_model_load("no model", 8, nullptr), WEIR_ERROR_INVALID_ARGUMENT);
  const std::string here = weir_last_error();
  const auto estimator = EstimatorWith(BuiltInController("rule"));
  std::thread([&] {
    EXPECT_STREQ(weir_last_error(), "");
    EXPECT_EQ(weir_estimator_set_objective(estimator.get(), 0, 1, 1), WEIR_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(weir_estimator_set_objective(estimator.get(), 1, 1, 1), WEIR_OK);
    EXPECT_STREQ(weir_last_error(), "the objective's weights must be finite and above 0");
  }).join();
  EXPECT_EQ(weir_last_error(), here);
}

}  // namespace
}  // namespace weir
