#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>

#include "fuzz_input.h"
#include "fuzz_targets.h"
#include "read_file.h"
#include "weir.h"
#include "weir_mocc.h"

namespace weir::fuzz {
namespace {

void Check(int result) {
  WEIR_FUZZ_CHECK(result >= WEIR_ERROR_OUT_OF_MEMORY);  // never WEIR_ERROR_INTERNAL
  if (result < 0) WEIR_FUZZ_CHECK(weir_last_error()[0] != '\0');
}

int64_t TakeNumber(FuzzInput& input) { return input.Choose(4) == 0 ? input.TakeEdge() : input.TakeScaled(); }

// A time after `now_us`, mostly soon.
int64_t Later(FuzzInput& input, int64_t now_us) {
  if (input.Choose(16) != 0) return now_us + input.Take<uint16_t>();
  const int64_t time_us = TakeNumber(input);
  return time_us > INT64_MAX / 2 || time_us < INT64_MIN / 2 ? now_us : time_us;
}

void Statistics(const weir_estimator* estimator, int64_t now_us) {
  weir_estimator_statistics statistics{};
  const int result = weir_estimator_get_statistics(estimator, now_us, &statistics, sizeof statistics);
  Check(result);
  if (result != WEIR_OK) return;
  WEIR_FUZZ_CHECK(statistics.target_rate_bps > 0 && statistics.receive_rate_bps >= 0);
  WEIR_FUZZ_CHECK(statistics.loss_ratio >= 0 && statistics.loss_ratio <= 1 && statistics.queueing_delay_us >= 0);
}

weir_model* LoadedModel() {
  static const auto onnx = ReadFile(WEIR_TEST_MODELS "/nan_between_1_and_2_mbps.onnx");
  weir_model* model = nullptr;
  WEIR_FUZZ_CHECK(weir_model_load(onnx.data(), onnx.size(), &model) == WEIR_OK);
  return model;
}

// A custom controller: any target.
double Decide(void* state, const weir_controller_interval* interval) {
  const auto kind = *static_cast<const uint32_t*>(state);
  return kind == 0 ? static_cast<double>(interval->target_bps) * 1.1 : kind == 1 ? 1e300 : -1;
}

// Null where the name is none; the caller destroys it.
weir_controller* TakeController(FuzzInput& input) {
  weir_controller* controller = nullptr;
  const char* const names[] = {"rule", "nada", "fixed", "other"};
  const uint32_t choice = input.Choose(8);
  if (choice < std::size(names)) {
    const int created = weir_controller_create_built_in(names[choice], &controller);
    Check(created);
    WEIR_FUZZ_CHECK((created == WEIR_OK) == (controller != nullptr));
  } else if (choice == 4) {
    static const std::array<uint32_t, 3> kinds{0, 1, 2};
    const weir_controller_functions functions{WEIR_CONTROLLER_VERSION, input.Take<uint32_t>(),
                                              [](const weir_controller_start* start) { return start->argument; },
                                              &Decide, [](void*) {}};
    Check(weir_controller_create_custom(&functions, const_cast<uint32_t*>(&kinds[input.Choose(3)]), &controller));
  } else {
    weir_model* const model = LoadedModel();
    Check(weir_controller_create_policy(model, 0, &controller));
    weir_model_destroy(model);
  }
  return controller;
}

weir_target_rate_constraints TakeConstraints(FuzzInput& input) {
  return {.min_rate_bps = TakeNumber(input),
          .start_rate_bps = TakeNumber(input),
          .max_rate_bps = TakeNumber(input),
          .max_media_rate_bps = TakeNumber(input)};
}

weir_estimator_config TakeConfig(FuzzInput& input) {
  weir_estimator_config config = weir_estimator_default_config();
  if (input.Choose(4) == 0) {
    config.constraints = TakeConstraints(input);
    config.guard_off = input.Take<uint64_t>();
    config.objective_loss = input.Take<float>();
  }
  config.guard = static_cast<int32_t>(input.Choose(2));
  return config;
}

void RunEstimator(FuzzInput& input) {
  weir_controller* const controller = TakeController(input);
  const weir_estimator_config config = TakeConfig(input);
  weir_estimator* estimator = nullptr;
  const int created = weir_estimator_create(controller, &config, &estimator);
  weir_controller_destroy(controller);
  Check(created);
  WEIR_FUZZ_CHECK((created == WEIR_OK) == (estimator != nullptr));
  int64_t now_us = TakeNumber(input) / 4;
  while (estimator != nullptr && !input.empty()) {
    switch (input.Choose(8)) {
      case 0:
      case 1:
      case 2: {
        auto packet = input.Take<weir_packet>();
        if (input.Choose(8) != 0) packet.ecn %= 4;
        if (input.Choose(8) != 0) packet.arrival_time_us = input.Choose(16) == 0 ? input.TakeEdge() : now_us;
        Check(weir_estimator_on_packet(estimator, input.Choose(64) == 0 ? nullptr : &packet));
        break;
      }
      case 3:
      case 4: {
        weir_estimate estimate{};
        now_us = Later(input, now_us);
        const int result = weir_estimator_on_timeout(estimator, now_us, &estimate);
        Check(result);
        // Else a host would call it for ever.
        if (result >= 0) WEIR_FUZZ_CHECK(weir_estimator_next_timeout_us(estimator) > now_us);
        if (result > 0) WEIR_FUZZ_CHECK(estimate.target_rate_bps > 0 && estimate.reason != nullptr);
        break;
      }
      case 5:
        Check(weir_estimator_set_objective(estimator, input.Take<float>(), input.Take<float>(), input.Take<float>()));
        Check(weir_estimator_remove_stream(estimator, input.Take<uint32_t>()));
        Statistics(estimator, now_us);
        break;
      case 6: {
        const weir_target_rate_constraints constraints = TakeConstraints(input);
        Check(
            weir_estimator_set_constraints(estimator, &constraints, input.Choose(4) == 0 ? input.TakeEdge() : now_us));
        Check(weir_estimator_on_round_trip_time(estimator, TakeNumber(input), now_us));
        break;
      }
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

// Times of the send side: none within a minute of the last that are allowed.
constexpr int64_t kMost = (int64_t{1} << 61) - 60'000'000;
int64_t TakeSendSideTime(FuzzInput& input) { return std::clamp(input.TakeEdge(), -kMost, kMost); }

void RunSendSide(FuzzInput& input) {
  weir_controller* const controller = TakeController(input);
  const weir_estimator_config config = TakeConfig(input);
  weir_send_side* send_side = nullptr;
  Check(weir_send_side_create(controller, &config, input.Choose(2) == 0 ? 0 : input.Take<double>(), &send_side));
  weir_controller_destroy(controller);
  int64_t now_us = TakeNumber(input) / 4;
  uint16_t sequence_number = 0;
  weir_probe_cluster cluster{};
  while (send_side != nullptr && !input.empty()) {
    now_us = std::clamp(Later(input, now_us), -kMost, kMost);
    switch (input.Choose(9)) {
      case 0:
      case 1:
      case 2: {
        weir_sent_packet packet{};
        packet.probe_cluster_id = input.Choose(2) == 0 ? 0 : cluster.id;
        packet.send_time_us = input.Choose(16) == 0 ? TakeSendSideTime(input) : now_us;
        packet.size_bytes = input.Choose(16) == 0 ? input.Take<uint32_t>() : 1200;
        packet.sequence_number = input.Choose(32) == 0 ? input.Take<uint16_t>() : sequence_number++;
        packet.kind = static_cast<uint8_t>(input.Choose(5));
        Check(weir_send_side_on_sent_packet(send_side, &packet));
        break;
      }
      case 3:
      case 4: {
        std::array<weir_packet_feedback, 16> reports{};
        const uint32_t count = input.Choose(17);
        for (uint32_t i = 0; i < count; ++i) {
          reports[i].sequence_number = static_cast<uint16_t>(sequence_number - count + i);
          reports[i].fate =
              static_cast<uint16_t>(input.Choose(16) == 0 ? input.Choose(4) : uint32_t{WEIR_PACKET_RECEIVED});
          reports[i].receive_time_us = input.Choose(16) == 0 ? TakeSendSideTime(input) : now_us + input.Take<uint8_t>();
        }
        Check(weir_send_side_on_transport_feedback(send_side, reports.data(), count, now_us));
        break;
      }
      case 5: {
        Check(weir_send_side_set_objective(send_side, input.Take<float>(), input.Take<float>(), 1));
        const weir_target_rate_constraints constraints = TakeConstraints(input);
        Check(weir_send_side_set_constraints(send_side, &constraints,
                                             input.Choose(4) == 0 ? TakeSendSideTime(input) : now_us));
        Check(weir_send_side_on_round_trip_time(send_side, TakeNumber(input), now_us));
        break;
      }
      case 6: {
        Check(weir_send_side_set_desired_rate(send_side, TakeNumber(input), TakeNumber(input)));
        Check(weir_send_side_take_probe_cluster(send_side, &cluster));
        WEIR_FUZZ_CHECK(cluster.id == 0 || (cluster.target_data_rate_bps > 0 && cluster.target_duration_us > 0));
        weir_network_state state{};
        Check(weir_send_side_get_network_state(send_side, &state));
        WEIR_FUZZ_CHECK(state.state >= WEIR_CONGESTION_NORMAL && state.state <= WEIR_CONGESTION_CONGESTED);
        weir_estimator_statistics statistics{};
        Check(weir_send_side_get_statistics(send_side, &statistics, sizeof statistics));
        WEIR_FUZZ_CHECK(statistics.loss_ratio >= 0 && statistics.loss_ratio <= 1);
        break;
      }
      default:
        const int result = weir_send_side_on_timeout(send_side, now_us);
        Check(result);
        if (result >= 0) WEIR_FUZZ_CHECK(weir_send_side_next_timeout_us(send_side) > now_us);
    }
    weir_send_side_rates rates{};
    Check(weir_send_side_get_rates(send_side, &rates));
    WEIR_FUZZ_CHECK(rates.target_rate_bps > 0 && rates.target_rate_bps < INT64_MAX);
    WEIR_FUZZ_CHECK(rates.pacing_rate_bps >= rates.target_rate_bps);
    const int64_t window = rates.congestion_window_bytes;
    WEIR_FUZZ_CHECK(window >= 1500);
    WEIR_FUZZ_CHECK(window == INT64_MAX || window <= std::max<int64_t>(1500, rates.target_rate_bps));
  }
  weir_send_side_destroy(send_side);
}

void RunLayerAllocator(FuzzInput& input) {
  weir_layer_allocator* allocator = nullptr;
  const bool by_default = input.Choose(2) == 0;
  Check(weir_layer_allocator_create(by_default ? 0 : input.Take<double>(), by_default ? 0 : TakeNumber(input),
                                    &allocator));
  std::array<weir_media_stream, 4> streams{};
  size_t count = 0;
  int64_t now_us = TakeNumber(input) / 4;
  while (allocator != nullptr && !input.empty()) {
    if (input.Choose(4) == 0) {
      std::array<weir_media_stream, 4> given{};
      for (weir_media_stream& stream : given) {
        stream.id = input.Choose(8);
        stream.kind = input.Choose(16) == 0 ? input.Take<uint32_t>() : input.Choose(2);
        stream.priority = input.Choose(2) == 0 ? 0 : input.Take<int32_t>();
        stream.may_pause = static_cast<int32_t>(input.Choose(2));
        stream.layer_count = input.Choose(16) == 0 ? input.Take<size_t>() : input.Choose(4);
        int64_t rate_bps = 0;
        for (weir_media_layer& layer : stream.layers) {
          layer.rate_bps = input.Choose(32) == 0 ? TakeNumber(input) : rate_bps += input.Take<uint16_t>() * 32;
        }
      }
      const size_t given_count = input.Choose(5);
      const int set = weir_layer_allocator_set_streams(allocator, given.data(), given_count);
      Check(set);
      if (set == WEIR_OK) {
        streams = given;
        count = given_count;
      }
    }
    now_us = Later(input, now_us);
    std::array<weir_layer_allocation, 4> allocations{};
    const int written =
        weir_layer_allocator_allocate(allocator, TakeNumber(input), now_us, allocations.data(), input.Choose(5));
    Check(written);
    weir_layer_rates rates{};
    Check(weir_layer_allocator_get_rates(allocator, &rates));
    WEIR_FUZZ_CHECK(rates.allocated_rate_bps >= 0 && rates.desired_rate_bps >= rates.allocated_rate_bps);
    WEIR_FUZZ_CHECK(rates.next_rate_bps >= 0);
    if (written >= 0) WEIR_FUZZ_CHECK(written == static_cast<int>(count));
    for (int i = 0; i < written; ++i) {
      WEIR_FUZZ_CHECK(allocations[i].id == streams[i].id && allocations[i].reason != nullptr);
      WEIR_FUZZ_CHECK(allocations[i].layer < static_cast<int>(streams[i].layer_count));
      const bool is_required = streams[i].kind == WEIR_PACKET_AUDIO || streams[i].may_pause == 0;
      WEIR_FUZZ_CHECK(allocations[i].layer >= (is_required ? 0 : -1));
    }
  }
  weir_layer_allocator_destroy(allocator);
}

void RunMocc(FuzzInput& input) {
  const weir_estimator_config config = weir_estimator_default_config();
  weir_model* const model = LoadedModel();
  weir_mocc* mocc = nullptr;
  WEIR_FUZZ_CHECK(weir_mocc_create(model, &config, &mocc) == WEIR_OK);
  weir_model_destroy(model);
  while (!input.empty()) {
    weir_mocc_status status{};
    status.interval_us = TakeNumber(input);
    status.sending_ratio = input.Choose(4) == 0 ? input.Take<double>() : 1;
    status.latency_ratio = input.Choose(4) == 0 ? input.Take<double>() : 1;
    status.latency_gradient = input.Choose(4) == 0 ? input.Take<double>() : 0;
    status.throughput_bps = TakeNumber(input);
    status.packets_acknowledged = TakeNumber(input);
    status.packets_lost = input.Choose(4) == 0 ? input.TakeScaled() : 0;
    status.base_latency_us = TakeNumber(input);
    status.min_latency_us = input.Choose(4) == 0 ? TakeNumber(input) : 0;
    status.max_latency_us = input.Choose(4) == 0 ? TakeNumber(input) : 0;
    Check(weir_mocc_report_status(mocc, &status));
    if (input.Choose(8) == 0) Check(weir_mocc_register(mocc, input.Take<float>(), 1, 1));
    const int64_t rate_bps = weir_mocc_get_sending_rate_bps(mocc);
    WEIR_FUZZ_CHECK(rate_bps >= config.constraints.min_rate_bps && rate_bps <= config.constraints.max_rate_bps);
  }
  weir_mocc_destroy(mocc);
}

}  // namespace

void FuzzCApi(std::span<const uint8_t> bytes) {
  FuzzInput input(bytes);
  switch (input.Choose(8)) {
    case 0:
    case 4:
      return RunMocc(input);
    case 1:
    case 5:
      return RunSendSide(input);
    case 7:
      return RunLayerAllocator(input);
    default:
      return RunEstimator(input);
  }
}

}  // namespace weir::fuzz
