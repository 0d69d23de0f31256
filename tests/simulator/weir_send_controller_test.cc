// weir-send in whole simulations.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "endpoints/simulation_job.h"
#include "programs/input.h"
#include "test_scenarios.h"

namespace weir::sim {
namespace {

class WeirSendControllerTest : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Feedback, WeirSendControllerTest, testing::Values("weir-send", "weir-send-ccfb"),
                         [](const auto& tested) {
                           return std::string(tested.index == 0 ? "TransportWide" : "Rfc8888");
                         });

// The sender obeys the congestion window: a queue of 300 ms holds all that it sends before it notices.
TEST_P(WeirSendControllerTest, OverflowsNoQueueWhereThePathStops) {
  SimulationJob job = JobOf(PathOf({{0, 1'000'000}, {15, 0}, {17, 1'000'000}}, 25), GetParam());
  job.model = std::make_shared<ModelFile>(std::string(WEIR_TEST_MODELS) + "/steering.onnx");
  const auto flow = RunJob(job, true)["flows"][0];
  EXPECT_EQ(flow["packets_lost"], 0);
  EXPECT_GT(MeanOver(flow, "target_bps", 10, 15), 700e3);
}

// Bursts of libwebrtc's 40 ms would overflow it.
TEST_P(WeirSendControllerTest, KeepsVideoWithinAQueueOfSixPacketsOnALongRoundTrip) {
  json scenario = Steady(4'000'000, 40);
  scenario["forward"]["one_way_delay_ms"] = 300.0;
  scenario["forward"]["queue"] = {{"packets", 6}};
  scenario["flows"][0]["media"] = {{"kind", "video"}};
  SimulationJob job = JobOf(scenario, GetParam());
  job.model = std::make_shared<ModelFile>(std::string(WEIR_TEST_MODELS) + "/steering.onnx");
  const auto flow = RunJob(job, true)["flows"][0];
  EXPECT_LT(flow["packets_lost"].get<double>(), 0.02 * flow["packets_sent"].get<double>());
  EXPECT_GT(MeanOver(flow, "target_bps", 20, 40), 1e6);
}

TEST_P(WeirSendControllerTest, RefusesAModelWithAFeatureThatTheSenderDoesNotFill) {
  SimulationJob job = JobOf(Steady(1'000'000, 5), GetParam());
  job.model = std::make_shared<ModelFile>(std::string(WEIR_TEST_MODELS) + "/with_retransmission_share.onnx");
  try {
    RunJob(job, false);
    FAIL() << "runs";
  } catch (const ProgramError& error) {
    EXPECT_STREQ(error.what(),
                 "the model cannot be used at the sender, which lacks the model's feature retransmission_share");
  }
  job.controller = "weir";
  EXPECT_NO_THROW(RunJob(job, false));
}

// Marks say what delays do not: the L4S queue is about a millisecond long.
nlohmann::ordered_json FlowsOverL4sQueue(json scenario) {
  scenario["forward"]["queue_discipline"] = "dualpi2";
  SimulationJob job = JobOf(scenario, "weir-send-ccfb");
  job.model = std::make_shared<ModelFile>(std::string(WEIR_TEST_MODELS) + "/steering.onnx");
  return RunJob(job, true)["flows"];
}

TEST(WeirSendControllerEcnTest, FillsALinkWithAnL4sQueueAndLosesNothing) {
  const auto flow = FlowsOverL4sQueue(Steady(10'000'000, 40))[0];
  EXPECT_EQ(flow["packets_lost"], 0);
  EXPECT_GT(MeanOver(flow, "target_bps", 20, 40), 9e6);
  EXPECT_LT(MeanOver(flow, "target_bps", 20, 40), 10.5e6);
}

TEST(WeirSendControllerEcnTest, TwoFlowsBecomeEqualWhicheverBegan) {
  json scenario = Steady(10'000'000, 60);
  scenario["flows"].push_back(RtpFlow("later"));
  scenario["flows"][1]["start_s"] = 15;
  const auto flows = FlowsOverL4sQueue(scenario);
  for (const auto& flow : flows) {
    EXPECT_GT(MeanOver(flow, "receive_rate_bps", 40, 60), 3.5e6);
    EXPECT_LT(MeanOver(flow, "receive_rate_bps", 40, 60), 6.5e6);
  }
}

}  // namespace
}  // namespace weir::sim
