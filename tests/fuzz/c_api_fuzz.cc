#include <array>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "fuzz_input.h"
#include "fuzz_targets.h"
#include "weir.h"

namespace weir::fuzz {
namespace {

const std::string& Model() {
  static const std::string model = [] {
    std::ifstream file(std::string(WEIR_TEST_MODELS) + "/nan_between_1_and_2_mbps.onnx", std::ios::binary);
    return std::string((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  }();
  return model;
}

void Check(int result) {
  WEIR_FUZZ_CHECK(result >= WEIR_ERROR_OUT_OF_MEMORY);  // never WEIR_ERROR_INTERNAL
  if (result < 0) WEIR_FUZZ_CHECK(weir_last_error()[0] != '\0');
}

// Right size three times of four.
size_t StructSize(FuzzInput& input, size_t right) { return input.Choose(4) != 0 ? right : input.Choose(2) * right / 2; }

void Statistics(FuzzInput& input, const weir_estimator* estimator, int64_t now_us) {
  weir_estimator_statistics statistics{};
  statistics.struct_size = StructSize(input, sizeof(statistics));
  const int result = weir_estimator_get_statistics(estimator, now_us, &statistics);
  Check(result);
  if (result != WEIR_OK) return;
  WEIR_FUZZ_CHECK(statistics.target_rate_bps > 0 && statistics.receive_rate_bps >= 0);
  WEIR_FUZZ_CHECK(statistics.loss_ratio >= 0 && statistics.loss_ratio <= 1 && statistics.queueing_delay_us >= 0);
}

void RunEstimator(FuzzInput& input) {
  weir_estimator_config config;
  WEIR_FUZZ_CHECK(weir_estimator_config_init(&config, sizeof(config)) == WEIR_OK);
  const char* const controllers[] = {"rule", "nada", "fixed", "other", nullptr, nullptr, nullptr, nullptr};
  config.controller = controllers[input.Choose(8)];
  if (config.controller == nullptr) {
    config.model = Model().data();
    config.model_size_bytes = Model().size();
  }
  if (input.Choose(4) == 0) {
    config.min_rate_bps = input.TakeScaled();
    config.start_rate_bps = input.TakeScaled();
    config.max_rate_bps = input.TakeScaled();
    config.objective_loss = input.Take<float>();
  }
  config.guard = static_cast<int32_t>(input.Choose(2));
  weir_estimator* estimator = nullptr;
  const int created = weir_estimator_create(&config, &estimator);
  Check(created);
  WEIR_FUZZ_CHECK((created == WEIR_OK) == (estimator != nullptr));
  int64_t now_us = input.TakeScaled() / 4;
  while (estimator != nullptr && !input.empty()) {
    switch (input.Choose(8)) {
      case 0:
      case 1:
      case 2: {
        auto packet = input.Take<weir_packet>();
        packet.struct_size = StructSize(input, sizeof(packet));
        if (input.Choose(8) != 0) packet.arrival_time_us = now_us;
        Check(weir_estimator_on_packet(estimator, input.Choose(64) == 0 ? nullptr : &packet));
        break;
      }
      case 3:
      case 4: {
        weir_estimate estimate{StructSize(input, sizeof(weir_estimate)), 0, 0, nullptr};
        now_us += input.Choose(16) == 0 ? input.TakeScaled() / 8 : input.Take<uint16_t>();
        const int result = weir_estimator_on_timeout(estimator, now_us, &estimate);
        Check(result);
        if (result > 0) WEIR_FUZZ_CHECK(estimate.target_rate_bps > 0 && estimate.reason != nullptr);
        break;
      }
      case 5:
        Check(weir_estimator_set_objective(estimator, input.Take<float>(), input.Take<float>(), input.Take<float>()));
        Check(weir_estimator_on_packet_fate_unknown(estimator, input.Take<uint32_t>(), input.Take<uint16_t>()));
        Check(weir_estimator_remove_stream(estimator, input.Take<uint32_t>()));
        Statistics(input, estimator, now_us);
        break;
      case 6:
        Check(weir_estimator_set_constraints(estimator, input.TakeScaled(), input.TakeScaled(), input.TakeScaled(),
                                             now_us));
        Check(weir_estimator_on_round_trip_time(estimator, input.TakeScaled(), now_us));
        break;
      case 7: {
        std::array<uint8_t, 64> buffer{};
        const size_t size = input.Choose(65);
        const int written = weir_estimator_write_remb(estimator, input.Take<uint32_t>(), buffer.data(), size);
        Check(written);
        WEIR_FUZZ_CHECK(written <= static_cast<int>(size));
        break;
      }
    }
  }
  weir_estimator_destroy(estimator);
}

void RunMocc(FuzzInput& input) {
  weir_mocc_config config;
  WEIR_FUZZ_CHECK(weir_mocc_config_init(&config, sizeof(config)) == WEIR_OK);
  config.model = Model().data();
  config.model_size_bytes = Model().size();
  weir_mocc* mocc = nullptr;
  WEIR_FUZZ_CHECK(weir_mocc_register(&mocc, &config, 1, 1, 1) == WEIR_OK);
  while (!input.empty()) {
    weir_mocc_status status{};
    status.struct_size = StructSize(input, sizeof(status));
    status.interval_us = input.TakeScaled();
    status.sending_ratio = input.Choose(4) == 0 ? input.Take<double>() : 1;
    status.latency_ratio = input.Choose(4) == 0 ? input.Take<double>() : 1;
    status.latency_gradient = input.Choose(4) == 0 ? input.Take<double>() : 0;
    status.throughput_bps = input.TakeScaled();
    status.packets_acknowledged = input.TakeScaled();
    status.packets_lost = input.Choose(4) == 0 ? input.TakeScaled() : 0;
    status.base_latency_us = input.TakeScaled();
    Check(weir_mocc_report_status(mocc, &status));
    if (input.Choose(8) == 0) Check(weir_mocc_register(&mocc, nullptr, input.Take<float>(), 1, 1));
    const int64_t rate_bps = weir_mocc_get_sending_rate_bps(mocc);
    WEIR_FUZZ_CHECK(rate_bps >= config.min_rate_bps && rate_bps <= config.max_rate_bps);
  }
  weir_mocc_destroy(mocc);
}

}  // namespace

void FuzzCApi(std::span<const uint8_t> bytes) {
  FuzzInput input(bytes);
  if (input.Choose(4) == 0) {
    RunMocc(input);
  } else {
    RunEstimator(input);
  }
}

}  // namespace weir::fuzz
