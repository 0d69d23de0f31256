#include "policy/policy.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "test_policies.h"

namespace weir {
namespace {

std::string LoadError(std::span<const std::byte> model) {
  const auto policy = Policy::Load(model);
  return policy ? "" : policy.error();
}

float RunOnce(Policy& policy, std::vector<float> observation, const Objective& objective = kBalanced) {
  float action = -1;
  EXPECT_EQ(policy.Run(observation, objective, {&action, 1}), PolicyFault::kNone);
  return action;
}

TEST(PolicyTest, DescribesEveryKindOfAction) {
  EXPECT_EQ(LoadTestModel("log_rate")->description().action.kind, ActionKind::kLogRate);
  EXPECT_FALSE(LoadTestModel("log_rate")->description().takes_objective);
  const auto relative = LoadTestModel("relative");
  EXPECT_EQ(relative->description().action.kind, ActionKind::kRelative);
  EXPECT_EQ(relative->description().action.alpha, 0.025);
  const auto discrete = LoadTestModel("discrete");
  EXPECT_EQ(discrete->description().action.kind, ActionKind::kDiscrete);
  EXPECT_EQ(discrete->description().action.multipliers, (std::vector<float>{0.5f, 0.9f, 1.0f, 1.1f}));
  EXPECT_EQ(discrete->description().action_size, 4u);
}

TEST(PolicyTest, RunsOnTheObservationAndTheObjective) {
  const auto policy = LoadTestModel("rate_bps");
  EXPECT_FLOAT_EQ(RunOnce(*policy, {2e6f, 0, 0, 9e6f, 0, 0}, kBalanced), 2e6f + 500);
  EXPECT_FLOAT_EQ(RunOnce(*policy, {2e6f, 0, 0, 9e6f, 0, 0}, kThroughput), 2e6f + 800);
  EXPECT_FLOAT_EQ(RunOnce(*policy, {0, 0, 0, 9e6f, 0, 0}, kLatency), 100);
}

TEST(PolicyTest, KeepsAndResetsRecurrentState) {
  const auto policy = LoadTestModel("recurrent");
  EXPECT_EQ(policy->description().state_size, 2u);
  const std::vector<float> observation(6, 0.5f);
  // The checks at load have left no trace.
  EXPECT_FLOAT_EQ(RunOnce(*policy, observation), 1e6f);
  EXPECT_FLOAT_EQ(RunOnce(*policy, observation), 2e6f);
  EXPECT_FLOAT_EQ(RunOnce(*policy, observation), 3e6f);
  policy->ResetState();
  EXPECT_FLOAT_EQ(RunOnce(*policy, observation), 1e6f);
}

TEST(PolicyTest, RefusesToRunOnWhatIsNotFinite) {
  const auto policy = LoadTestModel("recurrent");
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), -HUGE_VALF}) {
    RunOnce(*policy, std::vector<float>(6, 0.5f));
    std::vector<float> observation(6, 0.5f);
    observation[3] = bad;
    float action = -7;
    EXPECT_EQ(policy->Run(observation, kBalanced, {&action, 1}), PolicyFault::kBadObservation);
    EXPECT_EQ(action, -7);
    // The state is that of a new call.
    EXPECT_FLOAT_EQ(RunOnce(*policy, std::vector<float>(6, 0.5f)), 1e6f);
    policy->ResetState();
  }
}

TEST(PolicyTest, ReportsANonFiniteOutput) {
  const auto policy = LoadTestModel("nan_between_1_and_2_mbps");
  std::vector<float> observation(6, 0.0f);
  float action = -7;
  observation[0] = 1.5e6f;
  EXPECT_EQ(policy->Run(observation, kBalanced, {&action, 1}), PolicyFault::kNonFiniteOutput);
  EXPECT_EQ(action, -7);
  observation[0] = 3e6f;
  EXPECT_NEAR(RunOnce(*policy, observation), std::log(2.0) * 1e6, 10);
}

struct Refusal {
  const char* model;
  // Part of the message.
  const char* reason;
};

class RefusalTest : public testing::TestWithParam<Refusal> {};

TEST_P(RefusalTest, SaysWhy) {
  const std::string error = LoadError(ReadTestModel(GetParam().model));
  if (*OnnxRuntimeVersion() == '\0' && error.find("ONNX Runtime") != std::string::npos)
    GTEST_SKIP() << "ONNX Runtime would say why";
  EXPECT_TRUE(error.starts_with("the model cannot be used: ")) << error;
  EXPECT_NE(error.find(GetParam().reason), std::string::npos) << error;
  EXPECT_TRUE(std::ranges::all_of(error, [](char c) { return c >= 0x20 && c < 0x7f; })) << error;
}

INSTANTIATE_TEST_SUITE_P(
    Policy, RefusalTest,
    testing::Values(
        Refusal{"empty", "is not an ONNX model, or is truncated"},
        Refusal{"text", "is not an ONNX model, or is truncated"},
        Refusal{"truncated", "is not an ONNX model, or is truncated"}, Refusal{"foreign", "not exported for Weir"},
        Refusal{"missing_schema", "no 'weir.schema'"}, Refusal{"newer_schema", "reads schema 1"},
        Refusal{"unknown_feature", "'moon_phase'"}, Refusal{"repeated_feature", "'loss_ratio' twice"},
        Refusal{"wrong_history", "has 6 elements, but its metadata lists 3 features with a history of 3"},
        Refusal{"huge_history", "'weir.history' is '100000'"}, Refusal{"bad_interval", "'weir.interval_ms' is 'fast'"},
        Refusal{"missing_action_kind", "no 'weir.action_kind'"}, Refusal{"unknown_action_kind", "is 'telepathy'"},
        Refusal{"missing_multipliers", "no 'weir.action_multipliers'"},
        Refusal{"multipliers_do_not_fit", "'action' has 3 elements"},
        Refusal{"bounds_reversed", "above 'weir.max_bps'"},
        Refusal{"wrong_input", "no input 'observation'; its inputs are 'pixels', 'objective'"},
        Refusal{"wrong_dtype", "not a float32 tensor"}, Refusal{"no_next_state", "no output 'next_state'"},
        Refusal{"another_output", "its outputs are 'action', 'another'; allowed are 'action' and"},
        Refusal{"golden_mismatch", "golden vector 0 gives"}, Refusal{"golden_missing", "no 'weir.golden'"},
        Refusal{"golden_broken", "not a list of golden vectors"},
        Refusal{"golden_wrong_size", "does not have the sizes"},
        Refusal{"nan_on_zeros", "not finite for an observation of zeros"},
        Refusal{"infinite_on_saturation", "not finite for an observation with saturated features"},
        Refusal{"external_data", "external data"}, Refusal{"custom_domain", "'com.microsoft'"},
        Refusal{"constant_node", "holds a tensor, as in PyTorch's Constant nodes"}),
    [](const auto& info) { return std::string(info.param.model); });

// tests/estimator/hostile_models.py
INSTANTIATE_TEST_SUITE_P(
    Hostile, RefusalTest,
    testing::Values(Refusal{"hidden_graph", "is not an ONNX model"},
                    Refusal{"two_graphs", "field 7 of its ModelProto occurs more"},
                    Refusal{"long_tag", "is not an ONNX model"}, Refusal{"long_size", "is not an ONNX model"},
                    Refusal{"group", "is not an ONNX model"}, Refusal{"field_zero", "is not an ONNX model"},
                    Refusal{"unknown_field", "field 99 of its ModelProto is none"},
                    Refusal{"wrong_wire_type", "field 14 of its ModelProto is not written as"},
                    Refusal{"hidden_location", "field 14 of its TensorProto is out of range"},
                    Refusal{"no_utf8", "field 2 of its StringStringEntryProto is not UTF-8"},
                    Refusal{"cut_utf8", "'weir.action_kind' is 'x????"},
                    Refusal{"metadata_twice", "'weir.history' twice"},
                    Refusal{"metadata_of_commas", "bytes, at most 1048576 are allowed"},
                    Refusal{"loop", "an attribute holds a graph"}, Refusal{"if", "an attribute holds a graph"},
                    Refusal{"random", "'RandomNormalLike' is not allowed"},
                    Refusal{"constant_of_shape", "'ConstantOfShape' is not allowed; a policy may use Abs, Add,"},
                    Refusal{"expand", "'Expand' is not allowed"}, Refusal{"tile", "'Tile' is not allowed"},
                    Refusal{"outer_product", "'MatMul' makes a tensor of more than 1048576 bytes"},
                    Refusal{"broadcast", "'Add' makes a tensor of more than 1048576 bytes"},
                    Refusal{"many_tensors", "'Neg' brings the tensors of one decision above"},
                    Refusal{"many_operations", "'MatMul' brings one decision above"},
                    Refusal{"declared_shape", "declares for 'negative' another shape"},
                    Refusal{"computed_shape", "computes with integers"},
                    Refusal{"unordered", "takes 'negative', which nothing before it computes"},
                    Refusal{"flag", "'keepdims', which is neither 0 nor 1"},
                    Refusal{"transposed", "'transA', which is neither 0 nor 1"},
                    Refusal{"step", "a step that is not from 1 to the size of its axis"},
                    Refusal{"costly", "at most 1000 us are allowed"}),
    [](const auto& info) { return std::string(info.param.model); });

// tests/estimator/tree_models.py
INSTANTIATE_TEST_SUITE_P(
    Trees, RefusalTest,
    testing::Values(Refusal{"tree_version", "is of version 1 of ai.onnx.ml; only version 3"},
                    Refusal{"tree_no_version", "is of version 0 of ai.onnx.ml; only version 3"},
                    Refusal{"tree_versions", "names two versions of the same operators"},
                    Refusal{"tree_standard", "'TreeEnsembleRegressor' is not allowed"},
                    Refusal{"tree_base_values", "the attribute 'base_values', which is not allowed"},
                    Refusal{"tree_two_targets", "has not one target"},
                    Refusal{"tree_average", "has another aggregate than SUM, or a transform"},
                    Refusal{"tree_other_tree", "has more than one tree"},
                    Refusal{"tree_mode", "has nodes that are not BRANCH_LEQ or LEAF"},
                    Refusal{"tree_ids", "has nodes that are not numbered by their places"},
                    Refusal{"tree_feature", "has a feature that its input does not have"},
                    Refusal{"tree_threshold", "has a threshold that is not finite"},
                    Refusal{"tree_cycle", "has a child that is not after its parent"},
                    Refusal{"tree_beyond", "has a child that is not after its parent"},
                    Refusal{"tree_two_parents", "has a node with two parents"},
                    Refusal{"tree_leaf_with_child", "has a leaf with a child"},
                    Refusal{"tree_lengths", "has lists of nodes that differ in length"},
                    Refusal{"tree_target_of_split", "has leaves without an answer, or not in their order"},
                    Refusal{"tree_fewer_targets", "has leaves without an answer, or not in their order"},
                    Refusal{"tree_levels", "has more than 128 levels"},
                    Refusal{"tree_answer", "has an answer that is not finite"}),
    [](const auto& info) { return std::string(info.param.model); });

TEST(PolicyTest, TakesTheDeepestTree) { EXPECT_NE(LoadTestModel("deepest_tree"), nullptr); }

// Numbers that are no normal floats any more take processors 50 times as long: a model could have them only where no
// check at load comes.
TEST(PolicyTest, SubnormalsAreZeros) {
  const auto policy = LoadTestModel("subnormal");
  EXPECT_EQ(RunOnce(*policy, {1e6f, 0, 0, 0, 0, 0}), 0);
  // The host has them still.
  volatile float smallest = std::numeric_limits<float>::min();
  EXPECT_GT(smallest / 2, 0);
}

// The shapes of all its tensors are those that onnx infers; the loader refuses a model whose shapes it sees
// differently.
TEST(PolicyTest, KnowsEveryOperatorInEveryVersion) {
  if (*OnnxRuntimeVersion() == '\0') GTEST_SKIP() << "there is no ONNX Runtime";
  for (const char* opset : {"11", "13", "18", "21"}) {
    const auto policy = LoadTestModel(std::string("every_operator_") + opset);
    ASSERT_NE(policy, nullptr);
    EXPECT_TRUE(std::isfinite(RunOnce(*policy, std::vector<float>(6, 0.5f))));
  }
}

TEST(PolicyTest, IsTestedWithEveryOperatorItAllows) {
  const std::vector<std::byte> model = ReadTestModel("every_operator_11");
  const std::string content(reinterpret_cast<const char*>(model.data()), model.size());
  const std::string error = LoadError(ReadTestModel("tile"));
  const std::string_view before = "a policy may use ";
  std::istringstream names(error.substr(error.find(before) + before.size()));
  int operators = 0;
  for (std::string name; std::getline(names >> std::ws, name, ','); ++operators) {
    std::string field = {0x22, static_cast<char>(name.size())};  // a node's op_type
    field += name;
    EXPECT_NE(content.find(field), std::string::npos) << name;
  }
  EXPECT_EQ(operators, 26);
}

TEST(PolicyTest, RefusesWhatTakesTooLong) {
  const auto policy = Policy::Load(ReadTestModel("mocc_sized"), TimeDelta::Zero());
  ASSERT_FALSE(policy);
  EXPECT_NE(policy.error().find("at most 0 us are allowed"), std::string::npos) << policy.error();
}

TEST(PolicyTest, RefusesWhatIsTooLarge) {
  const std::vector<std::byte> model(PolicyModel::kMaxSize + 1);
  EXPECT_NE(LoadError(model).find("16777217 bytes"), std::string::npos) << LoadError(model);
}

TEST(PolicyTest, RefusesEveryTruncation) {
  const std::vector<std::byte> model = ReadTestModel("rate_bps");
  for (size_t size = 0; size < model.size(); ++size) {
    EXPECT_NE(LoadError(std::span(model).first(size)), "") << "first " << size << " bytes";
  }
}

TEST(PolicyTest, SurvivesDamage) {
  const std::vector<std::byte> model = ReadTestModel("recurrent");
  std::mt19937 random(11);
  int refused = 0;
  for (int i = 0; i < 500; ++i) {
    std::vector<std::byte> damaged = model;
    for (int flips = 0; flips <= i % 3; ++flips)
      damaged[random() % damaged.size()] ^= std::byte{static_cast<uint8_t>(1u << random() % 8)};
    refused += !LoadError(damaged).empty();
  }
  // Most bits matter; those in names and free text do not.
  EXPECT_GT(refused, 250);
  EXPECT_LT(refused, 500);
}

}  // namespace
}  // namespace weir
