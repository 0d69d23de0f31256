#include "recording_executor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <utility>
#include <vector>

namespace weir::peer {
namespace {

using nlohmann::ordered_json;

constexpr Timestamp At(int64_t ms) { return Timestamp::Millis(ms); }

// Answers with a rate that the test sets; nothing while it is 0.
class FakeExecutor final : public PolicyExecutor {
 public:
  explicit FakeExecutor(float* rate) : rate_(rate) {
    description_.features.fields = {*FindIntervalStatisticsField("receive_rate_bps"),
                                    *FindIntervalStatisticsField("delay_noise_s"),
                                    *FindIntervalStatisticsField("loss_ratio")};
    description_.features.history = 2;
    description_.observation_size = description_.features.size();
    description_.action_size = 1;
    description_.action.kind = ActionKind::kRate;
  }
  const ModelDescription& description() const override { return description_; }
  void Submit(std::span<const float>, const Objective&, Timestamp) override {}
  std::optional<PolicyAnswer> Take(Timestamp) override {
    if (*rate_ == 0) return std::nullopt;
    return PolicyAnswer{.fault = *rate_ < 0 ? PolicyFault::kRuntimeError : PolicyFault::kNone, .action = {rate_, 1}};
  }
  void Reset() override {}

 private:
  ModelDescription description_;
  float* const rate_;
};

class RecordingExecutorTest : public testing::Test {
 protected:
  RecordingExecutor Make(double exploration) {
    return RecordingExecutor(std::make_unique<FakeExecutor>(&rate_), exploration, /*seed=*/1,
                             [this](ordered_json line) { lines_.push_back(std::move(line)); });
  }
  // Two intervals of rate and loss, newest first, and the noise of the path.
  const std::vector<float> observation_{1e6f, 0.5f, 2e6f, 0.25f, 0.125f};
  float rate_ = 1e6f;
  std::vector<ordered_json> lines_;
};

TEST_F(RecordingExecutorTest, ALineHasTheNewestIntervalAndTheAction) {
  RecordingExecutor executor = Make(0);
  ASSERT_TRUE(RecordingExecutor::Takes(executor.description()));
  executor.Submit(observation_, Objective{0.5, 0.25, 0.25}, At(100));
  EXPECT_TRUE(lines_.empty());
  ASSERT_EQ(executor.Take(At(100))->action.front(), 1e6f);
  executor.Submit(observation_, {}, At(200));
  executor.Take(At(200));
  ASSERT_EQ(lines_.size(), 2u);
  EXPECT_EQ(lines_[0].dump(), R"({"type":"decision","time_us":100000,"reset":true,"objective":[0.5,0.25,0.25],)"
                              R"("observation":[1000000.0,0.5,0.125],"policy_action":1000000.0,"action":1000000.0})");
  EXPECT_FALSE(lines_[1]["reset"]);
  executor.Reset();
  executor.Submit(observation_, {}, At(300));
  executor.Take(At(300));
  EXPECT_TRUE(lines_[2]["reset"]);
}

TEST_F(RecordingExecutorTest, NoiseIsNormalOnTheLogarithmOfTheRate) {
  RecordingExecutor executor = Make(0.2);
  constexpr int kDecisions = 4000;
  double sum = 0, squares = 0;
  for (int i = 0; i < kDecisions; ++i) {
    executor.Submit(observation_, {}, At(100 * i));
    const float action = executor.Take(At(100 * i))->action.front();
    EXPECT_EQ(lines_.back()["action"], action);
    EXPECT_EQ(lines_.back()["policy_action"], 1e6f);
    const double noise = std::log(action / 1e6);
    sum += noise;
    squares += noise * noise;
  }
  EXPECT_NEAR(sum / kDecisions, 0, 0.01);
  EXPECT_NEAR(std::sqrt(squares / kDecisions), 0.2, 0.01);
}

TEST_F(RecordingExecutorTest, DecisionsWithoutAnActionAreRecordedToo) {
  RecordingExecutor executor = Make(0.2);
  rate_ = 0;
  executor.Submit(observation_, {}, At(100));
  EXPECT_FALSE(executor.Take(At(150)));
  EXPECT_TRUE(lines_.empty());
  rate_ = -1;
  // In place of the one in flight.
  executor.Submit(observation_, {}, At(200));
  EXPECT_EQ(executor.Take(At(200))->fault, PolicyFault::kRuntimeError);
  executor.Submit(observation_, {}, At(300));
  executor.Reset();
  ASSERT_EQ(lines_.size(), 3u);
  for (const ordered_json& line : lines_) EXPECT_TRUE(line["action"].is_null());
  EXPECT_EQ(lines_[2]["time_us"], 300'000);
}

TEST_F(RecordingExecutorTest, ModelsOfOtherFormatsAreNotTaken) {
  ModelDescription description = FakeExecutor(&rate_).description();
  description.action.kind = ActionKind::kDiscrete;
  EXPECT_FALSE(RecordingExecutor::Takes(description));
  description = FakeExecutor(&rate_).description();
  description.format = ModelFormat::kMmsys2024;
  EXPECT_FALSE(RecordingExecutor::Takes(description));
}

}  // namespace
}  // namespace weir::peer
