// Weir's own evaluator against ONNX Runtime, model by model. WEIR_PARITY_OBSERVATIONS=1000000 tries as many
// observations on each instead of the few that a test run needs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arrival/arrival_statistics.h"
#include "arrival/interval_accumulator.h"
#include "counted_allocations.h"
#include "onnx/model_session.h"
#include "onnx/onnx_inspection.h"
#include "onnx/onnx_model.h"
#include "policy/feature_history.h"
#include "policy/policy.h"
#include "test_models.h"
#include "test_stream.h"

namespace weir {
namespace {

constexpr float kTolerance = 1e-5f;

int Observations() {
  const char* const wanted = std::getenv("WEIR_PARITY_OBSERVATIONS");
  return wanted == nullptr ? 2'000 : std::atoi(wanted);
}

// Both evaluators of one file.
struct Pair {
  explicit Pair(std::span<const std::byte> bytes) : model(internal::ParseOnnxModel(bytes).value()) {
    EXPECT_FALSE(internal::FindOnnxObjection(model));
    auto dense = internal::MakeDenseNetwork(model);
    auto loaded = internal::LoadInOnnxRuntime(bytes, model);
    EXPECT_TRUE(dense && loaded) << (dense ? "" : dense.error()) << (loaded ? "" : loaded.error());
    if (dense) ours = std::move(dense.value());
    if (loaded) theirs = std::move(loaded.value());
  }

  internal::OnnxModel model;
  std::unique_ptr<internal::ModelEvaluator> ours, theirs;
};

// Features over the whole range that models are tried on at load: some 0, the others of all orders of magnitude.
class RandomObservations {
 public:
  explicit RandomObservations(const ModelDescription& description) : description_(description) {}

  void Write(std::span<float> observation) {
    for (size_t i = 0; i < observation.size(); ++i) {
      const FeatureRange range = description_.features.at(i).quantity.load_check;
      const double magnitude = range.high * std::pow(10.0, -8.0 * uniform_(random_));
      const bool negative = range.low < 0 && uniform_(random_) < 0.5;
      observation[i] = uniform_(random_) < 0.125 ? 0.0f : static_cast<float>(negative ? -magnitude : magnitude);
    }
  }
  double Uniform() { return uniform_(random_); }

 private:
  const ModelDescription& description_;
  std::mt19937 random_{7};
  std::uniform_real_distribution<double> uniform_{0, 1};
};

// Compares the two on what is written into the inputs; the largest difference of an output, relative to itself where it
// is beyond 1.
class Comparison {
 public:
  explicit Comparison(const Pair& pair)
      : model_(pair.model),
        ours_(std::move(pair.ours->MakeSession().value())),
        theirs_(std::move(pair.theirs->MakeSession().value())) {}

  // `write` gets the name of each input.
  void Run(const std::function<void(std::string_view, std::span<float>)>& write) {
    for (size_t i = 0; i < model_.inputs.size(); ++i) {
      write(model_.inputs[i].name, ours_->input(i));
      std::ranges::copy(ours_->input(i), theirs_->input(i).begin());
    }
    ASSERT_FALSE(ours_->Run());
    ASSERT_FALSE(theirs_->Run());
    for (size_t i = 0; i < model_.outputs.size(); ++i) {
      const std::span<const float> ours = ours_->output(i), theirs = theirs_->output(i);
      ASSERT_EQ(ours.size(), theirs.size());
      for (size_t j = 0; j < ours.size(); ++j) {
        const float difference = std::fabs(ours[j] - theirs[j]) / std::max(1.0f, std::fabs(theirs[j]));
        // Not a number counts as large.
        if (!(difference <= worst_)) worst_ = difference;
      }
    }
  }
  float worst() const { return worst_; }

 private:
  const internal::OnnxModel& model_;
  std::unique_ptr<internal::ModelSession> ours_, theirs_;
  float worst_ = 0;
};

struct Model {
  const char* name;
  std::vector<std::byte> (*read)(const std::string& name);
};

class DenseNetworkTest : public testing::TestWithParam<Model> {
 protected:
  void SetUp() override {
    auto model = PolicyModel::Load(bytes_);
    ASSERT_TRUE(model) << model.error();
    model_ = model.value();
    EXPECT_FALSE(model_->needs_onnxruntime());
    if (*OnnxRuntimeVersion() == '\0') return;
    pair_.emplace(bytes_);
    ASSERT_TRUE(pair_->ours && pair_->theirs);
  }

  const std::vector<std::byte> bytes_ = GetParam().read(GetParam().name);
  std::shared_ptr<const PolicyModel> model_;
  std::optional<Pair> pair_;
};

TEST_P(DenseNetworkTest, AnswersAsOnnxRuntimeOnRandomObservations) {
  if (!pair_) GTEST_SKIP() << "there is no ONNX Runtime to compare with";
  Comparison comparison(*pair_);
  RandomObservations observations(DescriptionOf(*model_));
  for (int n = 0; n < Observations(); ++n) {
    comparison.Run([&](std::string_view name, std::span<float> input) {
      if (name == "observation") return observations.Write(input);
      for (float& value : input) value = static_cast<float>(observations.Uniform());
    });
    ASSERT_LE(comparison.worst(), kTolerance) << "observation " << n;
  }
  RecordProperty("worst", std::to_string(comparison.worst()));
}

// Observations of a call: a path whose capacity steps, with queues, losses and pauses of the sender.
TEST_P(DenseNetworkTest, AnswersAsOnnxRuntimeOnACall) {
  if (!pair_) GTEST_SKIP() << "there is no ONNX Runtime to compare with";
  Comparison comparison(*pair_);
  const ModelDescription& description = DescriptionOf(*model_);
  FeatureHistory history(description.features);
  IntervalAccumulator accumulator;
  ArrivalStatistics arrivals;
  std::mt19937 random(3);
  std::uniform_real_distribution<float> uniform(0, 1);
  TestStream stream;
  Timestamp now = Timestamp::Seconds(1);
  accumulator.Start(now);
  const Timestamp start = now;
  TimeDelta queue = TimeDelta::Zero();
  for (int n = 0; n < Observations(); ++n) {
    const int packets = n % 50 < 3 ? 0 : static_cast<int>(1 + 40 * uniform(random));
    for (int i = 0; i < packets; ++i) {
      if (uniform(random) < 0.02f) stream.Skip(1);
      queue = std::max(TimeDelta::Zero(), queue + TimeDelta::Micros(static_cast<int64_t>(8'000 * uniform(random)) -
                                                                    (n / 20 % 2 == 0 ? 3'000 : 5'000)));
      const Timestamp at = now + TimeDelta::Micros(100'000 * i / packets);
      if (const auto arrival = arrivals.OnPacket(stream.Next(at, TimeDelta::Millis(25) + queue)))
        accumulator.OnArrival(*arrival);
    }
    now += description.interval;
    history.Add(accumulator.Take(now, DataRate::KilobitsPerSecond(100 + n % 4'000)));
    comparison.Run([&](std::string_view name, std::span<float> input) {
      if (name == "observation") {
        std::ranges::copy(history.observation(), input.begin());
        return;
      }
      for (float& value : input) value = uniform(random);
    });
    ASSERT_LE(comparison.worst(), kTolerance) << "after " << (now - start).seconds() << " s";
  }
  RecordProperty("worst", std::to_string(comparison.worst()));
}

TEST_P(DenseNetworkTest, AllocatesNothing) {
  Policy policy(model_);
  const std::vector<float> observation(policy.description().observation_size, 0.5f);
  std::vector<float> action(policy.description().action_size);
  const int64_t before = CountedAllocations();
  for (int n = 0; n < 10; ++n) EXPECT_EQ(policy.Run(observation, kBalanced, action), PolicyFault::kNone);
  EXPECT_EQ(CountedAllocations(), before);
}

TEST_P(DenseNetworkTest, AnswersTogetherAsAlone) {
  constexpr size_t kCalls = 7;
  const ModelDescription& description = DescriptionOf(*model_);
  RandomObservations observations(description);
  std::vector<Policy> together, alone;
  for (size_t i = 0; i < kCalls; ++i) {
    together.emplace_back(model_);
    alone.emplace_back(model_);
  }
  for (size_t count = 1; count <= kCalls; ++count) {
    std::vector<std::vector<float>> seen(count, std::vector<float>(description.observation_size));
    std::vector<std::vector<float>> actions(count, std::vector<float>(description.action_size));
    std::vector<PolicyDecision> decisions;
    for (size_t i = 0; i < count; ++i) {
      observations.Write(seen[i]);
      decisions.push_back(
          {.policy = &together[i], .observation = seen[i], .objective = kLatency, .action = actions[i]});
    }
    Policy::RunTogether(decisions);
    for (size_t i = 0; i < count; ++i) {
      std::vector<float> action(description.action_size);
      EXPECT_EQ(alone[i].Run(seen[i], kLatency, action), decisions[i].fault);
      EXPECT_EQ(actions[i], action);
    }
  }
}

std::vector<std::byte> ReadShipped(const std::string&) { return ReadFile(WEIR_SHIPPED_MODEL); }

INSTANTIATE_TEST_SUITE_P(Models, DenseNetworkTest,
                         testing::Values(Model{"shipped", &ReadShipped}, Model{"mocc_sized", &ReadTestModel},
                                         Model{"without_preference", &ReadTestModel}, Model{"rate_bps", &ReadTestModel},
                                         Model{"log_rate", &ReadTestModel}, Model{"relative", &ReadTestModel},
                                         Model{"discrete", &ReadTestModel}, Model{"recurrent", &ReadTestModel},
                                         Model{"tanh_of_joined", &ReadTestModel},
                                         Model{"dense_million", &ReadTestModel}),
                         [](const auto& info) { return std::string(info.param.name); });

class OtherModelTest : public testing::TestWithParam<const char*> {};

TEST_P(OtherModelTest, IsComputedByOnnxRuntime) {
  if (*OnnxRuntimeVersion() == '\0') GTEST_SKIP() << "there is no ONNX Runtime";
  auto model = PolicyModel::Load(ReadTestModel(GetParam()));
  ASSERT_TRUE(model) << model.error();
  EXPECT_TRUE(model.value()->needs_onnxruntime());
}

INSTANTIATE_TEST_SUITE_P(Models, OtherModelTest,
                         testing::Values("foreign_operator", "tree", "tree_packed", "deepest_tree", "muses_sized",
                                         "lstm_sized", "every_operator_11", "every_operator_21"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace weir
