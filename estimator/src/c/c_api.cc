#include "c/c_api.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <optional>
#include <utility>

#include "c/shipped_model.h"

namespace weir::internal {
namespace {

// Fixed size: reporting an error must not allocate memory.
thread_local std::array<char, 512> last_error{};

// Returns the guard's rules without those in `mask`; nullopt if one of these has no switch.
std::optional<GuardOptions> WithoutRules(uint64_t mask) {
  GuardOptions options;
  for (size_t rule = 0; rule < 64; ++rule) {
    if ((mask >> rule & 1) == 0) continue;
    if (rule >= GuardRules().size() || !options.SwitchOff(GuardRules()[rule].name())) return std::nullopt;
  }
  return options;
}

}  // namespace

int Fail(weir_error error, std::string_view message) noexcept {
  const size_t size = std::min(message.size(), last_error.size() - 1);
  std::copy_n(message.data(), size, last_error.data());
  last_error[size] = '\0';
  return error;
}

TargetRateConstraints ToConstraints(const weir_target_rate_constraints& constraints) {
  const int64_t media_bps = constraints.max_media_rate_bps;
  return {.min_rate = DataRate::BitsPerSecond(constraints.min_rate_bps),
          .start_rate = DataRate::BitsPerSecond(constraints.start_rate_bps),
          .max_rate = DataRate::BitsPerSecond(constraints.max_rate_bps),
          .max_media_rate = media_bps == 0 ? DataRate::PlusInfinity() : DataRate::BitsPerSecond(media_bps)};
}

Result<BandwidthEstimatorConfig> ReadConfig(const weir_estimator_config* config) {
  weir_estimator_config given = weir_estimator_default_config();
  if (config != nullptr) {
    if (config->size_bytes < offsetof(weir_estimator_config, constraints) + sizeof config->constraints)
      return Error{"the configuration has no size; begin with weir_estimator_default_config()"};
    std::memcpy(&given, config, std::min(config->size_bytes, sizeof given));
  }
  const auto objective = NormalizedObjective(given.objective_throughput, given.objective_latency, given.objective_loss);
  if (!objective) return Error{std::string(kBadObjective)};
  const auto rules = WithoutRules(given.guard_off);
  if (!rules) return Error{"guard_off has a rule of the guard that is always on, or that there is not"};
  DecisionLimit limit;
  if (given.clock != nullptr)
    limit.clock = [clock = given.clock, argument = given.clock_argument] { return Timestamp::Micros(clock(argument)); };
  if (given.decision_limit_us != 0) limit.longest = TimeDelta::Micros(given.decision_limit_us);
  return BandwidthEstimatorConfig{.constraints = ToConstraints(given.constraints),
                                  .objective = *objective,
                                  .guard = given.guard != 0,
                                  .guard_rules = *rules,
                                  .decision_limit = std::move(limit)};
}

int WriteStatistics(const BandwidthEstimator& estimator, Timestamp now, weir_estimator_statistics* statistics,
                    size_t size_bytes) {
  const EstimatorStatistics all = estimator.Statistics(now);
  const weir_estimator_statistics values{
      .target_rate_bps = all.target_rate.bps(),
      // The names are literals, hence terminated.
      .reason = ToString(all.reason).data(),
      .receive_rate_bps = all.last_second.receive_rate.bps(),
      .queueing_delay_us = all.last_second.queueing_delay.us(),
      .loss_ratio = all.last_second.loss_ratio,
      .packets_received = all.total.packets,
      .bytes_received = all.total.size.bytes(),
      .packets_lost = all.total.packets_lost,
      .total_queueing_delay_us = all.total.queueing_delay.us(),
      .packets_with_delay = all.total.packets_with_delay,
      .clock_restarts = static_cast<int64_t>(all.clock_restarts),
  };
  return WriteSized(values, statistics, size_bytes);
}

}  // namespace weir::internal

const char* weir_version(void) noexcept { return WEIR_VERSION; }

const char* weir_last_error(void) noexcept { return weir::internal::last_error.data(); }

int weir_model_load(const void* onnx, size_t size_bytes, weir_model** out) noexcept {
  return weir::internal::Create(out, [&](weir_model*& model) {
    if (onnx == nullptr) return weir::internal::FailArgument("the model is NULL");
    auto loaded = weir::PolicyModel::Load({static_cast<const std::byte*>(onnx), size_bytes});
    if (!loaded) return weir::internal::Fail(WEIR_ERROR_INVALID_MODEL, loaded.error());
    model = new weir_model{std::move(loaded.value())};
    return static_cast<int>(WEIR_OK);
  });
}

int weir_model_load_shipped(weir_model** out) noexcept {
  const std::span<const unsigned char> onnx = weir::internal::ShippedModel();
  return weir_model_load(onnx.data(), onnx.size(), out);
}

void weir_model_destroy(weir_model* model) noexcept { delete model; }

void weir_estimator_config_init(weir_estimator_config* config, size_t size_bytes) noexcept {
  const weir::TargetRateConstraints constraints;
  const weir_estimator_config values{.size_bytes = size_bytes,
                                     .constraints = {.min_rate_bps = constraints.min_rate.bps(),
                                                     .start_rate_bps = constraints.start_rate.bps(),
                                                     .max_rate_bps = constraints.max_rate.bps(),
                                                     .max_media_rate_bps = 0},
                                     .objective_throughput = weir::kBalanced.throughput,
                                     .objective_latency = weir::kBalanced.latency,
                                     .objective_loss = weir::kBalanced.loss,
                                     .guard = 1,
                                     .guard_off = 0,
                                     .clock = nullptr,
                                     .clock_argument = nullptr,
                                     .decision_limit_us = 0,
                                     .log = nullptr,
                                     .log_argument = nullptr};
  if (config != nullptr) weir::internal::CopyStruct(&values, sizeof values, config, size_bytes);
}
