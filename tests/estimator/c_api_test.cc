#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "c_handles.h"
#include "made_estimator.h"
#include "test_policies.h"
#include "test_stream.h"
#include "weir.h"
#include "weir/bandwidth_estimator.h"
#include "weir/controllers.h"
#include "weir/policy_executor.h"
#include "weir/pool_controller.h"
#include "weir/remb_sender.h"
#include "weir_mocc.h"

extern "C" int64_t WeirTestRunFromC(void);

namespace weir {
namespace {

TEST(CApiTest, HasAVersion) { EXPECT_STREQ(weir_version(), WEIR_EXPECTED_VERSION); }

TEST(CApiTest, WorksFromC) {
  const int64_t rate_bps = WeirTestRunFromC();
  EXPECT_GT(rate_bps, 1'000'000);
  EXPECT_LT(rate_bps, 2'200'000);
}

TEST(CApiTest, RunsAModelAndWritesRemb) {
  const auto estimator = EstimatorWith(PolicyController(ReadTestModel("rate_bps")));
  EXPECT_EQ(weir_estimator_next_timeout_us(estimator.get()), INT64_MIN);
  const Said said = Stream(estimator.get(), 1'000'000, 6'000'000, 1'000'000);
  // At most every 200 ms, and urgent decreases; at least once a second.
  EXPECT_GE(said.rembs_due, 5);
  EXPECT_LE(said.rembs_due, 30);
  EXPECT_STREQ(said.last.reason, "controller");
  EXPECT_NEAR(static_cast<double>(said.last.target_rate_bps), 1e6 + 400, 2e4);
  std::array<uint8_t, 1040> buffer{};
  const int size = weir_estimator_write_remb(estimator.get(), 7, buffer.data(), buffer.size());
  ASSERT_EQ(size, 24);
  const auto remb = ParseRemb(std::span<const uint8_t>(buffer).first(static_cast<size_t>(size)));
  ASSERT_TRUE(remb);
  EXPECT_EQ(remb->sender_ssrc, 7u);
  EXPECT_EQ(remb->ssrc_count, 1u);
  EXPECT_EQ(remb->ssrcs[0], 0x1234u);
  EXPECT_NEAR(static_cast<double>(remb->rate.bps()), static_cast<double>(said.last.target_rate_bps), 16);
  EXPECT_EQ(weir_estimator_write_remb(estimator.get(), 7, buffer.data(), 23), WEIR_ERROR_BUFFER_TOO_SMALL);
  EXPECT_NE(std::string(weir_last_error()).find("1040"), std::string::npos);
}

TEST(CApiTest, TheWorkerDecides) {
  const auto estimator = EstimatorWith(PolicyController(ReadTestModel("rate_bps"), 1));
  // Answers when all questions before its own are answered.
  const auto after = ProcessWorker()(LoadTestModel("rate_bps"));
  const std::vector<float> observation(after->description().observation_size);
  weir_estimate estimate{};
  int polls = 0;
  for (int64_t now_us = 0; now_us < 5'000'000; now_us += 10'000) {
    estimate = Stream(estimator.get(), now_us, now_us + 10'000, 1'000'000).last;
    polls += weir_estimator_next_timeout_us(estimator.get()) == now_us + 10'000;
    after->Submit(observation, kBalanced, Timestamp::Micros(0));
    while (!after->Take(Timestamp::Micros(0))) std::this_thread::yield();
  }
  const weir_estimator_counters counters = CountersOf(estimator.get());
  EXPECT_GT(counters.decisions, 45u);
  EXPECT_EQ(counters.faults, 0u);
  EXPECT_GT(polls, 20);
  EXPECT_STREQ(estimate.reason, "controller");
  EXPECT_NEAR(static_cast<double>(estimate.target_rate_bps), 1e6 + 400, 2e4);
}

TEST(CApiTest, ObjectiveAndConstraintsTakeEffectDuringACall) {
  const auto estimator = EstimatorWith(PolicyController(ReadTestModel("rate_bps")));
  Stream(estimator.get(), 0, 3'000'000, 1'000'000);
  // Weights of any scale.
  EXPECT_EQ(weir_estimator_set_objective(estimator.get(), 80, 10, 10), WEIR_OK);
  EXPECT_EQ(weir_estimator_on_round_trip_time(estimator.get(), 40'000, 3'000'000), WEIR_OK);
  EXPECT_NEAR(static_cast<double>(Stream(estimator.get(), 3'000'000, 6'000'000, 1'000'000).last.target_rate_bps),
              1e6 + 800, 2e4);
  const weir_target_rate_constraints constraints{50'000, 100'000, 200'000, 0};
  EXPECT_EQ(weir_estimator_set_constraints(estimator.get(), &constraints, 6'000'000), WEIR_OK);
  EXPECT_EQ(Stream(estimator.get(), 6'000'000, 7'000'000, 1'000'000).last.target_rate_bps, 200'000);
}

TEST(CApiTest, AnotherObjectiveInTheCallChangesTheTarget) {
  std::vector<int64_t> rates_bps;
  for (const bool changes : {false, true}) {
    const auto estimator = EstimatorWith(PolicyController(ReadTestModel("rate_bps")));
    Stream(estimator.get(), 0, 3'000'000, 1'000'000);
    const float throughput = changes ? 80 : 50, latency = changes ? 10 : 40;
    EXPECT_EQ(weir_estimator_set_objective(estimator.get(), throughput, latency, 10), WEIR_OK);
    rates_bps.push_back(Stream(estimator.get(), 3'000'000, 6'000'000, 1'000'000).last.target_rate_bps);
  }
  // The model adds 1 kbps times the weight of throughput, which rises from 0.5 to 0.8.
  EXPECT_NEAR(static_cast<double>(rates_bps[1] - rates_bps[0]), 300, 1);
}

TEST(CApiTest, MediaAndRulesOfTheGuardThatAreOff) {
  weir_estimator_config config = weir_estimator_default_config();
  EXPECT_EQ(config.constraints.max_media_rate_bps, 0);
  config.constraints.max_media_rate_bps = 400'000;
  const auto bounded = EstimatorWith(BuiltInController("rule"), config);
  EXPECT_EQ(Stream(bounded.get(), 0, 5'000'000, 1'000'000).last.target_rate_bps, 400'000);
  size_t ecn = 0;
  while (std::string_view(weir_guard_rule_name(ecn)) != "ecn") ++ecn;
  for (const bool off : {false, true}) {
    weir_estimator_config some = weir_estimator_default_config();
    some.guard_off = off ? uint64_t{1} << ecn : 0;
    const auto estimator = EstimatorWith(BuiltInController("rule"), some);
    for (int64_t i = 0; i < 500; ++i) {
      weir_packet packet = CPacket(10'000 * i, static_cast<uint16_t>(i));
      packet.ecn = 3;
      ASSERT_EQ(weir_estimator_on_packet(estimator.get(), &packet), WEIR_OK);
      ASSERT_GE(weir_estimator_on_timeout(estimator.get(), packet.arrival_time_us, nullptr), 0);
    }
    EXPECT_EQ(CountersOf(estimator.get()).guard[ecn] > 0, !off);
  }
  weir_packet packet = CPacket(0, 0);
  packet.ecn = 4;
  EXPECT_EQ(weir_estimator_on_packet(bounded.get(), &packet), WEIR_ERROR_INVALID_ARGUMENT);
  EXPECT_STREQ(weir_last_error(), "a packet's ECN field is above 3");
}

struct Log {
  std::vector<std::string> lines;
  static void Append(void* argument, weir_log_severity severity, const char* message) {
    static_cast<Log*>(argument)->lines.push_back((severity == WEIR_LOG_WARNING ? "W " : "I ") + std::string(message));
  }
};

TEST(CApiTest, LogsAFailingModelAndCountsItsFaults) {
  Log log;
  weir_estimator_config config = weir_estimator_default_config();
  config.log = &Log::Append;
  config.log_argument = &log;
  const auto estimator = EstimatorWith(PolicyController(ReadTestModel("nan_between_1_and_2_mbps")), config);
  Stream(estimator.get(), 0, 3'000'000, 500'000);
  EXPECT_TRUE(log.lines.empty());
  const weir_estimate estimate = Stream(estimator.get(), 3'000'000, 6'000'000, 1'500'000).last;
  ASSERT_EQ(log.lines.size(), 1u);
  EXPECT_EQ(log.lines[0], "W controller 'weir' fails; the fallback has taken over");
  EXPECT_STREQ(estimate.reason, "fallback");
  Stream(estimator.get(), 6'000'000, 9'000'000, 500'000);
  ASSERT_EQ(log.lines.size(), 2u);
  EXPECT_EQ(log.lines[1], "I controller 'weir' is back");
  const weir_estimator_counters counters = CountersOf(estimator.get());
  EXPECT_NEAR(static_cast<double>(counters.faults), 30, 3);
  EXPECT_GT(counters.fallback_decisions, 20u);
  EXPECT_GT(counters.decisions, 50u);
  EXPECT_GT(counters.rembs_due, 8u);
}

TEST(CApiTest, RefusesBadConfigurations) {
  EXPECT_EQ(weir_estimator_create(nullptr, nullptr, nullptr), WEIR_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(CreationError<weir_estimator>(weir_estimator_create, nullptr, nullptr), WEIR_ERROR_INVALID_ARGUMENT);
  const auto rule = BuiltInController("rule");
  const auto refuses = [&](auto change) {
    weir_estimator_config config = weir_estimator_default_config();
    change(config);
    return CreationError<weir_estimator>(weir_estimator_create, rule.get(), &config) == WEIR_ERROR_INVALID_ARGUMENT;
  };
  EXPECT_TRUE(refuses(
      [](weir_estimator_config& config) { config.constraints.min_rate_bps = config.constraints.max_rate_bps + 1; }));
  EXPECT_TRUE(refuses([](weir_estimator_config& config) { config.constraints.min_rate_bps = 0; }));
  EXPECT_TRUE(refuses([](weir_estimator_config& config) { config.constraints.max_rate_bps = INT64_MAX; }));
  EXPECT_TRUE(refuses([](weir_estimator_config& config) { config.constraints.max_media_rate_bps = -1; }));
  // "finite" is always on, and the last bit is of no rule.
  EXPECT_TRUE(refuses([](weir_estimator_config& config) { config.guard_off = 1; }));
  EXPECT_TRUE(refuses([](weir_estimator_config& config) { config.guard_off = uint64_t{1} << 63; }));
  EXPECT_TRUE(refuses([](weir_estimator_config& config) { config.objective_loss = NAN; }));
  EXPECT_TRUE(refuses([](weir_estimator_config& config) { config.decision_limit_us = -1; }));
  EXPECT_TRUE(refuses([](weir_estimator_config& config) { config.size_bytes = 0; }));
}

TEST(CApiTest, AProgramOfAnotherVersionHasFewerFieldsOrMore) {
  weir_estimator_config older{};
  std::memset(&older, 0xff, sizeof older);
  const size_t known = offsetof(weir_estimator_config, guard_off);
  weir_estimator_config_init(&older, known);
  EXPECT_EQ(older.size_bytes, known);
  EXPECT_EQ(older.constraints.start_rate_bps, 300'000);
  EXPECT_EQ(older.guard_off, UINT64_MAX);
  const auto estimator = EstimatorWith(BuiltInController("rule"), older);
  struct {
    weir_estimator_counters counters;
    uint64_t later;
  } newer{{}, 7};
  ASSERT_EQ(weir_estimator_get_counters(estimator.get(), &newer.counters, sizeof newer), WEIR_OK);
  EXPECT_EQ(newer.later, 0u);
  weir_estimator_statistics statistics{};
  statistics.packets_lost = 7;
  const size_t fewer = offsetof(weir_estimator_statistics, packets_received);
  ASSERT_EQ(weir_estimator_get_statistics(estimator.get(), 0, &statistics, fewer), WEIR_OK);
  EXPECT_EQ(statistics.target_rate_bps, 300'000);
  EXPECT_EQ(statistics.packets_lost, 7);
}

TEST(CApiTest, RefusesBadControllers) {
  EXPECT_EQ(CreationError<weir_controller>(weir_controller_create_built_in, nullptr), WEIR_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(CreationError<weir_controller>(weir_controller_create_built_in, "gcc"), WEIR_ERROR_UNKNOWN_CONTROLLER);
  EXPECT_EQ(std::string(weir_last_error()).substr(0, 29), "there is no controller 'gcc';");
  EXPECT_EQ(CreationError<weir_controller>(weir_controller_create_policy, nullptr, 0), WEIR_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(CreationError<weir_controller>(weir_controller_create_custom, nullptr, nullptr),
            WEIR_ERROR_INVALID_ARGUMENT);
  const auto pool_error = [](const char* specification, const weir_named_controller* members, size_t count) {
    return CreationError<weir_controller>(weir_controller_create_pool, specification, members, count, nullptr, nullptr);
  };
  const auto pool = PooledController("pilot=rule copilots=nada");
  const weir_named_controller nested{"weir", pool.get()}, unnamed{nullptr, pool.get()}, absent{"weir", nullptr};
  EXPECT_EQ(pool_error(nullptr, nullptr, 0), WEIR_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(pool_error("pilot=rule", nullptr, 1), WEIR_ERROR_INVALID_ARGUMENT);
  for (const weir_named_controller* member : {&nested, &unnamed, &absent})
    EXPECT_EQ(pool_error("pilot=weir", member, 1), WEIR_ERROR_INVALID_ARGUMENT);
  for (const char* line : {"", "rule", "pilot=gcc", "pilot=weir", "pilot=weir:none", "pilot=rule copilots=rule"})
    EXPECT_EQ(pool_error(line, nullptr, 0), WEIR_ERROR_INVALID_ARGUMENT) << line;
}

// The rates of C++ for the same stream.
std::vector<int64_t> RatesInCpp(const char* line, DataRate rate) {
  auto pool = PoolController::Create(ParsePool(line).value(), [](const std::string& name) {
    return MakeController(
        name, [](const std::string&) -> Result<std::shared_ptr<const PolicyModel>> { return Error{"none"}; },
        TargetRateConstraints{}.start_rate);
  });
  BandwidthEstimator estimator = MadeEstimator({}, std::move(pool.value()));
  std::vector<int64_t> rates;
  TestStream stream(0x1234);
  for (Timestamp now = Timestamp::Micros(0); now < Timestamp::Seconds(20); now += DataSize::Bytes(1250) / rate) {
    PacketArrival packet = stream.Next(now, TimeDelta::Zero(), 1250);
    packet.header_size = 0;
    estimator.OnPacket(packet);
    while (estimator.next_timeout() <= now) {
      if (const auto due = estimator.OnTimeout(now)) rates.push_back(due->target_rate.bps());
    }
  }
  return rates;
}

TEST(CApiTest, APoolsLineGivesTheSameAsInCpp) {
  for (const char* line : {"pilot=nada copilots=rule,fixed fusion=median policy=by_trust",
                           "pilot=rule copilots=nada fusion=mean", "pilot=nada copilots=rule policy=by_objective"}) {
    const auto estimator = EstimatorWith(PooledController(line));
    const std::vector<int64_t> rates = Stream(estimator.get(), 0, 20'000'000, 1'500'000).changed_bps;
    EXPECT_GE(rates.size(), 4u);
    EXPECT_EQ(rates, RatesInCpp(line, DataRate::KilobitsPerSecond(1500))) << line;
  }
}

TEST(CApiTest, APoolHasAUsersFusion) {
  constexpr char kLine[] = "pilot=nada copilots=weir:second,rule fusion=user";
  const auto policy = PolicyController(ReadTestModel("rate_bps"));
  const weir_named_controller second{"weir:second", policy.get()};
  EXPECT_EQ(CreationError<weir_controller>(weir_controller_create_pool, kLine, &second, size_t{1}, nullptr, nullptr),
            WEIR_ERROR_INVALID_ARGUMENT);
  EXPECT_STREQ(weir_last_error(), "fusion=user needs a function, which only a program that links the library can give");
  size_t most = 0;
  const weir_fusion_callback fusion = [](void* argument, int64_t pilot_bps, const int64_t* copilots_bps, size_t count) {
    auto& seen = *static_cast<size_t*>(argument);
    seen = std::max(seen, count);
    return count > 0 ? std::min(pilot_bps, copilots_bps[count - 1]) : pilot_bps;
  };
  const auto estimator =
      EstimatorWith(Created<weir_controller>(weir_controller_create_pool, kLine, &second, size_t{1}, fusion, &most));
  Stream(estimator.get(), 0, 3'000'000, 1'500'000);
  EXPECT_EQ(most, 2u);
}

TEST(CApiTest, ANewControllerGoesOnInTheCall) {
  const auto estimator = EstimatorWith(PolicyController(ReadTestModel("rate_bps")));
  weir_estimate estimate{};
  const weir_packet packet = CPacket(0, 0);
  ASSERT_EQ(weir_estimator_on_packet(estimator.get(), &packet), WEIR_OK);
  for (int64_t now_us = 0; now_us < 1'000'000; now_us += 100'000)
    ASSERT_GE(weir_estimator_on_timeout(estimator.get(), now_us, &estimate), 0);
  const auto second = PolicyController(ReadTestModel("recurrent"));
  EXPECT_EQ(weir_estimator_set_controller(estimator.get(), nullptr), WEIR_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(weir_estimator_set_controller(nullptr, second.get()), WEIR_ERROR_INVALID_ARGUMENT);
  ASSERT_EQ(weir_estimator_set_controller(estimator.get(), second.get()), WEIR_OK) << weir_last_error();
  // The recurrent model asks for a Mbps more at each decision; without packets the first asks for 400 bps.
  ASSERT_EQ(weir_estimator_get_estimate(estimator.get(), &estimate), WEIR_OK);
  const int64_t before_bps = estimate.target_rate_bps;
  for (int64_t now_us = 1'000'000; now_us < 3'000'000; now_us += 100'000)
    ASSERT_GE(weir_estimator_on_timeout(estimator.get(), now_us, &estimate), 0);
  ASSERT_EQ(weir_estimator_get_estimate(estimator.get(), &estimate), WEIR_OK);
  EXPECT_GT(estimate.target_rate_bps, before_bps);
}

TEST(CApiTest, DropsLateDecisions) {
  const auto policy = PolicyController(ReadTestModel("rate_bps"));
  weir_estimator_config config = weir_estimator_default_config();
  // A millisecond goes by between any two looks at it.
  int64_t wall_us = 0;
  config.clock_argument = &wall_us;
  config.clock = [](void* argument) { return *static_cast<int64_t*>(argument) += 1000; };
  for (const int64_t limit_us : {999, 1000, 0}) {
    config.decision_limit_us = limit_us;
    const auto estimator = EstimatorWith(policy, config);
    weir_estimate estimate{};
    for (int64_t now_us = 0; now_us <= 1'000'000; now_us += 100'000)
      ASSERT_GE(weir_estimator_on_timeout(estimator.get(), now_us, &estimate), 0);
    const weir_estimator_counters counters = CountersOf(estimator.get());
    EXPECT_EQ(counters.faults, limit_us == 999 ? 10u : 0u);
    EXPECT_EQ(counters.late_decisions > 0, limit_us == 999);
  }
}

TEST(CApiTest, NullAndNonsenseAreErrors) {
  const auto estimator = EstimatorWith(BuiltInController("rule"));
  weir_estimate estimate{};
  weir_packet packet = CPacket(0, 0);
  uint8_t byte = 0;
  weir_estimator_destroy(nullptr);
  EXPECT_EQ(weir_estimator_next_timeout_us(nullptr), INT64_MAX);
  EXPECT_EQ(weir_estimator_omits_losses(nullptr), 0);
  EXPECT_EQ(weir_estimator_on_packet(nullptr, &packet), WEIR_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(weir_estimator_on_packet(estimator.get(), nullptr), WEIR_ERROR_INVALID_ARGUMENT);
  packet.kind = 4;
  EXPECT_EQ(weir_estimator_on_packet(estimator.get(), &packet), WEIR_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(weir_estimator_on_timeout(nullptr, 0, &estimate), WEIR_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(weir_estimator_on_timeout(estimator.get(), INT64_MAX, &estimate), WEIR_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(weir_estimator_get_estimate(nullptr, &estimate), WEIR_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(weir_estimator_set_objective(estimator.get(), 1, 0, 0), WEIR_ERROR_INVALID_ARGUMENT);
  const weir_target_rate_constraints reversed{2, 2, 1, 0};
  EXPECT_EQ(weir_estimator_set_constraints(estimator.get(), &reversed, 0), WEIR_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(weir_estimator_set_constraints(estimator.get(), nullptr, 0), WEIR_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(weir_estimator_on_round_trip_time(estimator.get(), 0, 0), WEIR_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(weir_estimator_on_round_trip_time(estimator.get(), 3'600'000'000, 0), WEIR_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(weir_estimator_write_remb(nullptr, 1, &byte, 1), WEIR_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(weir_write_remote_estimate(1, nullptr), WEIR_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(weir_write_remote_estimate(-1, &byte), WEIR_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(weir_estimator_write_remb(estimator.get(), 1, nullptr, 9), WEIR_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(weir_estimator_get_counters(estimator.get(), nullptr, 8), WEIR_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(weir_mocc_get_sending_rate_bps(nullptr), 0);
  EXPECT_EQ(weir_mocc_interval_us(nullptr), 0);
  EXPECT_EQ(weir_mocc_report_status(nullptr, nullptr), WEIR_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(weir_mocc_register(nullptr, 1, 1, 1), WEIR_ERROR_INVALID_ARGUMENT);
}

TEST(CApiTest, StatisticsAndStreamsThatEnd) {
  const auto estimator = EstimatorWith(BuiltInController("rule"));
  weir_estimator_statistics statistics{};
  EXPECT_EQ(weir_estimator_get_statistics(estimator.get(), INT64_MAX, &statistics, sizeof statistics),
            WEIR_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(weir_estimator_get_statistics(estimator.get(), 0, nullptr, 0), WEIR_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(weir_estimator_get_statistics(nullptr, 0, &statistics, sizeof statistics), WEIR_ERROR_INVALID_ARGUMENT);
  ASSERT_EQ(weir_estimator_get_statistics(estimator.get(), 0, &statistics, sizeof statistics), WEIR_OK);
  EXPECT_STREQ(statistics.reason, "start");
  EXPECT_EQ(statistics.packets_received, 0);

  Stream(estimator.get(), 1'000'000, 3'000'000, 1'000'000);
  ASSERT_EQ(weir_estimator_get_statistics(estimator.get(), 3'000'000, &statistics, sizeof statistics), WEIR_OK);
  EXPECT_GT(statistics.target_rate_bps, 0);
  EXPECT_NEAR(static_cast<double>(statistics.receive_rate_bps), 1e6, 5e4);
  EXPECT_EQ(statistics.packets_received, 200);
  EXPECT_EQ(statistics.bytes_received, 250'000);
  EXPECT_EQ(statistics.packets_with_delay, 200);

  std::array<uint8_t, 1040> buffer{};
  EXPECT_EQ(weir_estimator_write_remb(estimator.get(), 7, buffer.data(), buffer.size()), 24);
  EXPECT_EQ(weir_estimator_remove_stream(estimator.get(), 0x1234), WEIR_OK);
  EXPECT_EQ(weir_estimator_write_remb(estimator.get(), 7, buffer.data(), buffer.size()), 20);
  EXPECT_EQ(weir_estimator_remove_stream(nullptr, 0x1234), WEIR_ERROR_INVALID_ARGUMENT);
}

// ---- MOCC ----

// Without the guard, so that rates are the model's.
Owned<weir_mocc> CreateMocc(const std::string& model_name) {
  weir_estimator_config config = weir_estimator_default_config();
  config.guard = 0;
  return Created<weir_mocc>(weir_mocc_create, LoadedModel(ReadTestModel(model_name)).get(), &config);
}

weir_mocc_status Status(int64_t throughput_bps) {
  weir_mocc_status status{};
  status.interval_us = 100'000;
  status.sending_ratio = 1;
  status.latency_ratio = 1;
  status.throughput_bps = throughput_bps;
  status.packets_acknowledged = throughput_bps / 96'000;
  status.base_latency_us = 50'000;
  return status;
}

TEST(MoccTest, DecidesFromReports) {
  const auto mocc = CreateMocc("rate_bps");
  EXPECT_EQ(weir_mocc_interval_us(mocc.get()), 100'000);
  EXPECT_EQ(weir_mocc_get_sending_rate_bps(mocc.get()), 300'000);
  const weir_mocc_status status = Status(250'000);
  EXPECT_EQ(weir_mocc_report_status(mocc.get(), &status), WEIR_OK);
  EXPECT_EQ(weir_mocc_get_sending_rate_bps(mocc.get()), 250'500);
  EXPECT_EQ(weir_mocc_register(mocc.get(), 0.8f, 0.1f, 0.1f), WEIR_OK);
  EXPECT_EQ(weir_mocc_report_status(mocc.get(), &status), WEIR_OK);
  EXPECT_EQ(weir_mocc_get_sending_rate_bps(mocc.get()), 250'800);
}

TEST(MoccTest, RelativeActionsBuildOnTheRateInForce) {
  const auto mocc = CreateMocc("relative");
  // Action -2 at 2 Mbps.
  const weir_mocc_status status = Status(2'000'000);
  EXPECT_EQ(weir_mocc_report_status(mocc.get(), &status), WEIR_OK);
  EXPECT_NEAR(static_cast<double>(weir_mocc_get_sending_rate_bps(mocc.get())), 300e3 / 1.05, 2);
  EXPECT_EQ(weir_mocc_report_status(mocc.get(), &status), WEIR_OK);
  EXPECT_NEAR(static_cast<double>(weir_mocc_get_sending_rate_bps(mocc.get())), 300e3 / 1.05 / 1.05, 2);
}

TEST(MoccTest, AFailingModelLeavesASafeRate) {
  const auto mocc = CreateMocc("nan_between_1_and_2_mbps");
  weir_mocc_status status = Status(5'000'000);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(weir_mocc_report_status(mocc.get(), &status), WEIR_OK);
  EXPECT_GT(weir_mocc_get_sending_rate_bps(mocc.get()), 2'000'000);
  status = Status(1'500'000);
  EXPECT_EQ(weir_mocc_report_status(mocc.get(), &status), WEIR_ERROR_POLICY_FAULT);
  EXPECT_EQ(weir_mocc_get_sending_rate_bps(mocc.get()), 1'500'000);
}

TEST(MoccTest, RefusesNonsense) {
  const auto mocc = CreateMocc("rate_bps");
  const auto reject = [&](auto change) {
    weir_mocc_status status = Status(1'000'000);
    change(status);
    EXPECT_EQ(weir_mocc_report_status(mocc.get(), &status), WEIR_ERROR_INVALID_ARGUMENT);
  };
  reject([](weir_mocc_status& s) { s.interval_us = 0; });
  reject([](weir_mocc_status& s) { s.interval_us = INT64_MAX; });
  reject([](weir_mocc_status& s) { s.sending_ratio = NAN; });
  reject([](weir_mocc_status& s) { s.sending_ratio = -1; });
  reject([](weir_mocc_status& s) { s.latency_ratio = 0.5; });
  reject([](weir_mocc_status& s) { s.latency_gradient = INFINITY; });
  reject([](weir_mocc_status& s) { s.throughput_bps = -1; });
  reject([](weir_mocc_status& s) { s.throughput_bps = INT64_MAX; });
  reject([](weir_mocc_status& s) { s.packets_lost = -1; });
  reject([](weir_mocc_status& s) { s.base_latency_us = INT64_MIN; });
  reject([](weir_mocc_status& s) { s.base_latency_us = 0; });
  reject([](weir_mocc_status& s) { s.packets_acknowledged = 0; });
  reject([](weir_mocc_status& s) { s.max_latency_us = -1; });
  EXPECT_STREQ(weir_last_error(), "the status's max_latency is not finite or out of its range");
  EXPECT_EQ(weir_mocc_get_sending_rate_bps(mocc.get()), 300'000);
  EXPECT_EQ(weir_mocc_report_status(mocc.get(), nullptr), WEIR_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(weir_mocc_register(mocc.get(), 0, 1, 1), WEIR_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(CreationError<weir_mocc>(weir_mocc_create, nullptr, nullptr), WEIR_ERROR_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace weir
