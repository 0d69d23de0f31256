// A custom controller behind the estimator, through the C interface.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>

#include "c_handles.h"
#include "weir.h"

namespace weir {
namespace {

// The argument of a host's callbacks.
struct Host {
  std::function<double(const weir_controller_interval&)> decide = nullptr;
  bool can_start = true;
  weir_controller_start start{};
  int destroyed = 0;
};

Host& HostOf(void* state) { return *static_cast<Host*>(state); }

weir_controller_functions Functions() {
  return {
      .version = WEIR_CONTROLLER_VERSION,
      .interval_us = 50'000,
      .create = [](const weir_controller_start* start) -> void* {
        Host& host = HostOf(start->argument);
        host.start = *start;
        return host.can_start ? &host : nullptr;
      },
      .decide = [](void* state, const weir_controller_interval* interval) { return HostOf(state).decide(*interval); },
      .destroy = [](void* state) { ++HostOf(state).destroyed; }};
}

Owned<weir_controller> CustomController(Host& host) {
  const weir_controller_functions functions = Functions();
  return Created<weir_controller>(weir_controller_create_custom, &functions, static_cast<void*>(&host));
}

// Even packets at 1 Mbps, 10 ms apart; the last estimate.
weir_estimate RunCall(weir_estimator* estimator, int64_t from_us, int64_t to_us) {
  weir_estimate estimate{};
  for (int64_t now_us = from_us; now_us < to_us; now_us += 10'000) {
    weir_packet packet{};
    packet.arrival_time_us = now_us;
    packet.ssrc = 7;
    packet.sequence_number = static_cast<uint16_t>(now_us / 10'000);
    packet.kind = WEIR_PACKET_AUDIO;
    packet.header_bytes = 12;
    packet.payload_bytes = 1238;
    EXPECT_EQ(weir_estimator_on_packet(estimator, &packet), WEIR_OK);
    EXPECT_GE(weir_estimator_on_timeout(estimator, now_us, nullptr), 0);
  }
  EXPECT_EQ(weir_estimator_get_estimate(estimator, &estimate), WEIR_OK);
  return estimate;
}

weir_estimator_counters Counters(const weir_estimator* estimator) {
  weir_estimator_counters counters{};
  EXPECT_EQ(weir_estimator_get_counters(estimator, &counters, sizeof counters), WEIR_OK);
  return counters;
}

TEST(CCustomControllerTest, DecidesFromThePacketsOfItsInterval) {
  Host host{};
  weir_controller_interval last{};
  weir_controller_packet packet{};
  host.decide = [&](const weir_controller_interval& interval) {
    last = interval;
    if (interval.packet_count > 0) packet = interval.packets[0];
    return 700'000;
  };
  weir_estimator_config config = weir_estimator_default_config();
  config.constraints.min_rate_bps = 100'000;
  config.objective_loss = 0.2f;
  auto estimator = EstimatorWith(CustomController(host), config);
  EXPECT_EQ(weir_estimator_on_round_trip_time(estimator.get(), 40'000, 0), WEIR_OK);
  const weir_estimate estimate = RunCall(estimator.get(), 0, 3'000'000);
  EXPECT_EQ(host.start.min_bps, 100'000);
  EXPECT_EQ(host.start.start_bps, 300'000);
  EXPECT_EQ(host.start.max_bps, 50'000'000);
  EXPECT_NEAR(host.start.objective.loss, 0.2 / 1.1, 1e-6);
  EXPECT_EQ(last.packet_count, 5u);
  EXPECT_EQ(last.round_trip_time_us, 40'000);
  EXPECT_EQ(last.target_bps, 700'000);
  EXPECT_EQ(packet.ssrc, 7u);
  EXPECT_EQ(packet.payload_bytes, 1238u);
  EXPECT_EQ(packet.kind, WEIR_PACKET_AUDIO);
  EXPECT_EQ(packet.abs_send_time, -1);
  EXPECT_EQ(estimate.target_rate_bps, 700'000);
  EXPECT_NEAR(static_cast<double>(Counters(estimator.get()).decisions), 60, 2);
  EXPECT_EQ(host.destroyed, 0);
  estimator.reset();
  EXPECT_EQ(host.destroyed, 1);
}

TEST(CCustomControllerTest, TheGuardBoundsItsTarget) {
  Host host{};
  host.decide = [](const weir_controller_interval&) { return 40e6; };
  const auto estimator = EstimatorWith(CustomController(host));
  EXPECT_LT(RunCall(estimator.get(), 0, 3'000'000).target_rate_bps, 10'000'000);
}

TEST(CCustomControllerTest, AFaultLeavesTheRuleInForceUntilItWorksAgain) {
  for (const bool throws : {false, true}) {
    Host host{};
    bool works = true;
    host.decide = [&](const weir_controller_interval&) {
      if (!works && throws) throw std::runtime_error("broken");
      return works ? 500'000 : NAN;
    };
    const auto estimator = EstimatorWith(CustomController(host));
    EXPECT_EQ(RunCall(estimator.get(), 0, 2'000'000).target_rate_bps, 500'000);
    works = false;
    EXPECT_STREQ(RunCall(estimator.get(), 2'000'000, 4'000'000).reason, "fallback");
    EXPECT_NEAR(static_cast<double>(Counters(estimator.get()).faults), 40, 2);
    works = true;
    EXPECT_EQ(RunCall(estimator.get(), 4'000'000, 8'000'000).target_rate_bps, 500'000);
  }
}

TEST(CCustomControllerTest, OneThatCannotStartLeavesTheRuleInForce) {
  Host host{};
  host.can_start = false;
  auto estimator = EstimatorWith(CustomController(host));
  EXPECT_STREQ(RunCall(estimator.get(), 0, 2'000'000).reason, "fallback");
  estimator.reset();
  EXPECT_EQ(host.destroyed, 0);
}

TEST(CCustomControllerTest, MayBeInAPoolAndReplaceAnother) {
  Host host{};
  host.decide = [](const weir_controller_interval&) { return 400'000; };
  const auto custom = CustomController(host);
  const weir_named_controller member{"mine", custom.get()};
  const auto pool = Created<weir_controller>(weir_controller_create_pool, "pilot=rule copilots=mine fusion=min",
                                             &member, size_t{1}, nullptr, nullptr);
  const auto estimator = EstimatorWith(pool);
  EXPECT_EQ(RunCall(estimator.get(), 0, 4'000'000).target_rate_bps, 400'000);
  ASSERT_EQ(weir_estimator_set_controller(estimator.get(), BuiltInController("rule").get()), WEIR_OK);
  EXPECT_EQ(host.destroyed, 1);
  ASSERT_EQ(weir_estimator_set_controller(estimator.get(), custom.get()), WEIR_OK);
  EXPECT_EQ(RunCall(estimator.get(), 4'000'000, 8'000'000).target_rate_bps, 400'000);
}

TEST(CCustomControllerTest, RefusesFunctionsThatCannotWork) {
  const auto refuses = [](auto change, const char* message) {
    weir_controller_functions functions = Functions();
    change(functions);
    EXPECT_EQ(CreationError<weir_controller>(weir_controller_create_custom, &functions, nullptr),
              WEIR_ERROR_INVALID_ARGUMENT);
    EXPECT_NE(std::string(weir_last_error()).find(message), std::string::npos) << weir_last_error();
  };
  refuses([](weir_controller_functions& functions) { functions.version = 2; }, "version 2");
  refuses([](weir_controller_functions& functions) { functions.interval_us = 4'999; }, "interval_us is 4999");
  refuses([](weir_controller_functions& functions) { functions.decide = nullptr; }, "NULL");
}

}  // namespace
}  // namespace weir
