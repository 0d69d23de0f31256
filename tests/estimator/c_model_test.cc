// Models that are loaded once and shared, and errors that the call itself returns.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "test_models.h"
#include "weir.h"

namespace weir {
namespace {

struct Destroyer {
  void operator()(weir_model* model) const { weir_model_destroy(model); }
  void operator()(weir_estimator* estimator) const { weir_estimator_destroy(estimator); }
  void operator()(weir_mocc* mocc) const { weir_mocc_destroy(mocc); }
};
template <class Handle>
using Owned = std::unique_ptr<Handle, Destroyer>;

Owned<weir_model> Load(const std::string& name) {
  const std::vector<std::byte> bytes = ReadTestModel(name);
  weir_model* model = nullptr;
  EXPECT_EQ(weir_model_load(bytes.data(), bytes.size(), &model, nullptr, 0), WEIR_OK) << weir_last_error();
  return Owned<weir_model>(model);
}

weir_estimator_config Config(const weir_model* loaded) {
  weir_estimator_config config;
  EXPECT_EQ(weir_estimator_config_init(&config, sizeof(config)), WEIR_OK);
  config.loaded_model = loaded;
  return config;
}

Owned<weir_estimator> Create(const weir_estimator_config& config) {
  weir_estimator* estimator = nullptr;
  EXPECT_EQ(weir_estimator_create(&config, &estimator), WEIR_OK) << weir_last_error();
  return Owned<weir_estimator>(estimator);
}

// The rates that are fed back to an even stream of 1 Mbps in two seconds.
std::vector<int64_t> Rates(weir_estimator* estimator) {
  std::vector<int64_t> rates_bps;
  for (int64_t i = 0; i < 200; ++i) {
    const int64_t now_us = 1'000'000 + i * 10'000;
    weir_packet packet{};
    packet.struct_size = sizeof(packet);
    packet.arrival_time_us = now_us;
    packet.ssrc = 1;
    packet.sequence_number = static_cast<uint16_t>(i);
    packet.has_abs_send_time = 1;
    packet.abs_send_time = static_cast<uint32_t>(now_us * 262'144 / 1'000'000) & 0xffffff;
    packet.payload_bytes = 1250;
    weir_estimator_on_packet(estimator, &packet);
    weir_estimate estimate{sizeof(weir_estimate), 0, 0, nullptr};
    if (weir_estimator_next_timeout_us(estimator) <= now_us &&
        weir_estimator_on_timeout(estimator, now_us, &estimate) > 0)
      rates_bps.push_back(estimate.target_rate_bps);
  }
  return rates_bps;
}

TEST(CModelTest, SharedItDecidesAsLoadedForOneAlone) {
  const std::vector<std::byte> bytes = ReadTestModel("rate_bps");
  weir_estimator_config config = Config(nullptr);
  config.model = bytes.data();
  config.model_size_bytes = bytes.size();
  const std::vector<int64_t> alone = Rates(Create(config).get());
  EXPECT_GE(alone.size(), 3u);

  Owned<weir_model> model = Load("rate_bps");
  const weir_named_model named{"other", nullptr, 0, model.get()};
  weir_estimator_config pool = Config(nullptr);
  pool.pool = "pilot=weir:other copilots=nada";
  pool.models = &named;
  pool.model_count = 1;
  const Owned<weir_estimator> first = Create(Config(model.get())), second = Create(Config(model.get()));
  const Owned<weir_estimator> third = Create(pool);
  // Estimators outlive their model.
  model.reset();
  for (const auto* estimator : {&first, &second, &third}) EXPECT_EQ(Rates(estimator->get()), alone);
}

TEST(CModelTest, TakesThePlaceOfAnotherInTheCall) {
  const Owned<weir_estimator> estimator = Create(Config(Load("rate_bps").get()));
  const Owned<weir_model> recurrent = Load("recurrent");
  const weir_estimator_config config = Config(recurrent.get());
  EXPECT_EQ(weir_estimator_set_controller(estimator.get(), &config), WEIR_OK);
  const weir_estimator_config none = Config(nullptr);
  EXPECT_EQ(weir_estimator_set_controller(estimator.get(), &none), WEIR_ERROR_INVALID_ARGUMENT);
  EXPECT_GE(Rates(estimator.get()).size(), 3u);
}

TEST(CModelTest, ServesMoccToo) {
  weir_mocc_config config;
  ASSERT_EQ(weir_mocc_config_init(&config, sizeof(config)), WEIR_OK);
  const Owned<weir_model> model = Load("relative");
  config.loaded_model = model.get();
  weir_mocc* mocc = nullptr;
  EXPECT_EQ(weir_mocc_register(&mocc, &config, 1, 1, 1), WEIR_OK) << weir_last_error();
  EXPECT_NE(mocc, nullptr);
  weir_mocc_destroy(mocc);
}

// Under ThreadSanitizer too: whoever uses a model only reads it, and the last one frees it.
TEST(CModelTest, ManyThreadsShareOne) {
  Owned<weir_model> model = Load("recurrent");
  const std::vector<int64_t> expected = Rates(Create(Config(model.get())).get());
  std::array<std::vector<int64_t>, 8> rates_bps;
  std::vector<std::thread> threads;
  for (std::vector<int64_t>& mine : rates_bps) {
    const auto estimator = std::make_shared<Owned<weir_estimator>>(Create(Config(model.get())));
    threads.emplace_back([&mine, estimator] { mine = Rates(estimator->get()); });
  }
  model.reset();
  for (std::thread& thread : threads) thread.join();
  for (const std::vector<int64_t>& mine : rates_bps) EXPECT_EQ(mine, expected);
}

TEST(CModelTest, RefusesNonsense) {
  const std::vector<std::byte> bytes = ReadTestModel("rate_bps");
  EXPECT_EQ(weir_model_load(bytes.data(), bytes.size(), nullptr, nullptr, 0), WEIR_ERROR_INVALID_ARGUMENT);
  weir_model* model = reinterpret_cast<weir_model*>(1);
  EXPECT_EQ(weir_model_load(nullptr, 0, &model, nullptr, 0), WEIR_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(model, nullptr);
  weir_model_destroy(nullptr);

  const Owned<weir_model> loaded = Load("rate_bps");
  weir_estimator_config both = Config(loaded.get());
  both.model = bytes.data();
  both.model_size_bytes = bytes.size();
  weir_estimator* estimator = nullptr;
  EXPECT_EQ(weir_estimator_create(&both, &estimator), WEIR_ERROR_INVALID_MODEL);
  EXPECT_STREQ(weir_last_error(), "give either a loaded model or one in memory, not both");
}

TEST(CModelTest, TheCallItselfSaysWhatWentWrong) {
  std::array<char, 64> error{};
  weir_model* model = nullptr;
  EXPECT_EQ(weir_model_load("no model", 8, &model, error.data(), error.size()), WEIR_ERROR_INVALID_MODEL);
  EXPECT_EQ(std::string(weir_last_error()).substr(0, error.size() - 1), error.data());
  EXPECT_GT(std::string(error.data()).size(), 10u);

  weir_estimator_config config = Config(nullptr);
  config.error = error.data();
  config.error_size_bytes = error.size();
  config.controller = "rul";
  weir_estimator* estimator = nullptr;
  EXPECT_EQ(weir_estimator_create(&config, &estimator), WEIR_ERROR_UNKNOWN_CONTROLLER);
  EXPECT_EQ(std::string(error.data()).substr(0, 29), "there is no controller 'rul';");

  config.controller = "rule";
  const Owned<weir_estimator> made = Create(config);
  // A call on another thread, whose error is nobody's business on this one.
  std::thread([&made] { weir_estimator_set_objective(made.get(), 0, 1, 1); }).join();
  EXPECT_STREQ(error.data(), "the objective's weights must be finite and above 0");
  EXPECT_EQ(weir_estimator_set_objective(made.get(), 1, 1, 1), WEIR_OK);
  EXPECT_STREQ(error.data(), "the objective's weights must be finite and above 0");
}

TEST(CModelTest, AnErrorIsCutToTheRoomThatThereIs) {
  std::array<char, 8> error{};
  error.fill('x');
  weir_model* model = nullptr;
  EXPECT_EQ(weir_model_load(nullptr, 0, &model, error.data(), 5), WEIR_ERROR_INVALID_ARGUMENT);
  EXPECT_STREQ(error.data(), "the ");
  EXPECT_EQ(error[5], 'x');
  EXPECT_EQ(weir_model_load(nullptr, 0, &model, error.data(), 0), WEIR_ERROR_INVALID_ARGUMENT);
  EXPECT_STREQ(error.data(), "the ");
}

}  // namespace
}  // namespace weir
