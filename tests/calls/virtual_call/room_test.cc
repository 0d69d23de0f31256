// Rooms: an SFU between publishers and a subscriber, over a simulated path.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "programs/input.h"
#include "test_scenarios.h"
#include "virtual_call/virtual_stack.h"

namespace weir::sim {
namespace {

nlohmann::ordered_json RunRoom(json scenario, const std::string& controller, const CallMedia::Room& room) {
  for (json& flow : scenario["flows"]) flow["media"] = {{"kind", "video"}, {"max_rate_bps", 2'500'000}};
  SimulationJob job = JobOf(scenario, controller);
  job.call.encoder = CallMedia::Encoder::kFake;
  job.call.room = room;
  if (controller == "weir-send") job.model = std::make_shared<ModelFile>(WEIR_SOURCE_DIR "/estimator/models/weir.onnx");
  return RunJob(job, true, MakeVirtualStack);
}

TEST(Room, AFastPathCarriesTheHighestLayerAndEveryFrameIsRendered) {
  for (const std::string controller : {"weir-send", "gcc"}) {
    const auto record = RunRoom(Steady(8'000'000, 10), controller, {.cameras = 1});
    const auto& view = record["flows"][0]["room"];
    EXPECT_EQ(view["forwarded_bps"].back(), view["fitting_bps"].back()) << controller;
    EXPECT_GT(view["forwarded_bps"].back().get<double>(), 1.5e6);
    EXPECT_GT(view["frames_rendered"].get<int>(), 0.97 * 10 * 30) << controller;
    EXPECT_LT(view["frozen_share"].get<double>(), 0.02);
    EXPECT_LT(view["end_to_end_delay_ms_p95"].get<double>(), 150);
    EXPECT_GT(record["flows"][0]["feedback_packets_sent"].get<int>(), 50);
  }
}

TEST(Room, OnlyLayersThatFitAreForwarded) {
  const auto record = RunRoom(Steady(1'000'000, 20), "weir-send", {.cameras = 3});
  const auto& view = record["flows"][0]["room"];
  for (size_t second = 0; second < 20; ++second) {
    EXPECT_GT(view["forwarded_bps"][second].get<double>(), second < 1 ? 0 : 4e5) << second;
    EXPECT_LE(view["forwarded_bps"][second].get<double>(), view["fitting_bps"][second].get<double>()) << second;
  }
  EXPECT_LT(view["frozen_share"].get<double>(), 0.05);
}

TEST(Room, AProbeFindsTheHighestLayerAfterTheCapacityRises) {
  const auto record = RunRoom(PathOf({{0, 300'000}, {10, 3'000'000}}, 25), "weir-send", {.cameras = 1});
  const auto& view = record["flows"][0]["room"];
  EXPECT_LT(view["forwarded_bps"][9].get<double>(), 3e5);
  EXPECT_EQ(view["forwarded_bps"].back(), view["fitting_bps"].back());
  EXPECT_GT(view["padding_bytes"].get<int>(), 0);
}

TEST(Room, LostPacketsAreRetransmitted) {
  json scenario = Steady(4'000'000, 15);
  scenario["forward"]["loss"] = {{"kind", "bernoulli"}, {"ratio", 0.03}};
  const auto record = RunRoom(scenario, "gcc", {.cameras = 1});
  const auto& view = record["flows"][0]["room"];
  EXPECT_GT(view["nacked_packets"].get<int>(), 20);
  EXPECT_GT(view["frames_rendered"].get<int>(), 0.9 * 15 * 30);
}

TEST(Room, AScreenHasFewerFrames) {
  const auto record = RunRoom(Steady(8'000'000, 10), "gcc", {.screens = 1});
  EXPECT_NEAR(record["flows"][0]["room"]["frames_rendered"].get<double>(), 10 * 5, 4);
}

TEST(Room, TheRulesOfLivekitBeginWithTheHighestLayersAndPauseNone) {
  const auto record =
      RunRoom(Steady(600'000, 15), "gcc", {.cameras = 2, .allocation = CallMedia::Room::Allocation::kLivekit});
  const auto& forwarded = record["flows"][0]["room"]["forwarded_bps"];
  EXPECT_GT(forwarded[2].get<double>(), 2e6);
  EXPECT_LT(forwarded[14].get<double>(), 1e6);
  EXPECT_GT(forwarded[14].get<double>(), 2e5);
}

TEST(Room, TheSameSeedGivesTheSameBytes) {
  const json scenario = Steady(1'000'000, 8);
  const std::string once = RunRoom(scenario, "weir-send", {.cameras = 2}).dump();
  RunRoom(scenario, "gcc", {.cameras = 1});
  EXPECT_EQ(RunRoom(scenario, "weir-send", {.cameras = 2}).dump(), once);
}

TEST(Room, OtherControllersAreRefused) {
  EXPECT_THROW(RunRoom(Steady(1'000'000, 5), "scream", {.cameras = 1}), ProgramError);
}

}  // namespace
}  // namespace weir::sim
