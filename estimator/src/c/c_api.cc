#include "c/c_api.h"

#include <array>
#include <span>
#include <string>
#include <utility>

#include "policy/policy_controller.h"
#include "registry.h"
#include "weir/controllers.h"
#include "worker/policy_worker.h"

namespace weir::internal {
namespace {

// Fixed size: an error must not need memory.
thread_local std::array<char, 512> last_error{};

}  // namespace

int Fail(weir_error error, std::string_view message) noexcept {
  const size_t size = std::min(message.size(), last_error.size() - 1);
  std::copy_n(message.data(), size, last_error.data());
  last_error[size] = '\0';
  return error;
}

int ErrorText::Report(int result) const noexcept {
  if (result >= 0 || text == nullptr || size_bytes == 0) return result;
  const std::string_view message(last_error.data());
  const size_t size = std::min(message.size(), size_bytes - 1);
  std::copy_n(message.data(), size, text);
  text[size] = '\0';
  return result;
}

namespace {

Result<std::shared_ptr<const PolicyModel>> LoadModel(const weir_estimator_config& config, const std::string& name) {
  if (name.empty()) return internal::ModelOf(config.loaded_model, config.model, config.model_size_bytes);
  for (size_t i = 0; config.models != nullptr && i < config.model_count; ++i) {
    const weir_named_model& one = config.models[i];
    if (one.name != nullptr && name == one.name) return internal::ModelOf(one.loaded, one.model, one.model_size_bytes);
  }
  return Error{"no model of this name among `models`"};
}

FusionFunction MakeFusion(const weir_estimator_config& config) {
  if (config.fusion == nullptr) return nullptr;
  return
      [fusion = config.fusion, argument = config.fusion_argument](DataRate pilot, std::span<const DataRate> copilots) {
        std::array<int64_t, kMaxCopilots> rates_bps{};
        std::ranges::transform(copilots, rates_bps.begin(), &DataRate::bps);
        return DataRate::BitsPerSecond(fusion(argument, pilot.bps(), rates_bps.data(), copilots.size()));
      };
}

// A pool's specification, from its line or of one controller; where there is none, `error` has the code.
std::optional<PoolSpecification> ReadPool(const weir_estimator_config& config, int& error) {
  if (config.pool == nullptr) {
    const bool has_model = config.model != nullptr || config.loaded_model != nullptr;
    if ((config.controller != nullptr) == has_model) {
      error = FailArgument("give either a controller's name or a model, or a pool");
      return std::nullopt;
    }
    if (config.controller == nullptr) return PoolSpecification{.pilot = "weir"};
    if (std::ranges::find(kBuiltInControllers, std::string_view(config.controller)) == kBuiltInControllers.end()) {
      error = Fail(WEIR_ERROR_UNKNOWN_CONTROLLER, "there is no controller '" +
                                                      std::string(config.controller).substr(0, 64) + "'; there are " +
                                                      ListNames(kBuiltInControllers, " and "));
      return std::nullopt;
    }
    return PoolSpecification{.pilot = config.controller};
  }
  if (config.controller != nullptr) {
    error = FailArgument("give either a controller's name or a pool, not both");
    return std::nullopt;
  }
  auto pool = ParsePool(config.pool);
  if (pool) return std::move(pool.value());
  error = FailArgument(pool.error());
  return std::nullopt;
}

Result<std::unique_ptr<PoolController>> MakePool(const weir_estimator_config& config,
                                                 const PoolSpecification& specification, DataRate start_rate) {
  const auto make_member = [&](const std::string& name) {
    const auto models = [&config](const std::string& model) { return LoadModel(config, model); };
    return weir::MakeController(name, models, start_rate, config.worker != 0 ? ProcessWorker() : nullptr);
  };
  return PoolController::Create(specification, make_member, {.fusion = MakeFusion(config), .policy = nullptr});
}

DecisionLimit DecisionLimitOf(const weir_estimator_config& config) {
  DecisionLimit limit;
  if (config.clock != nullptr)
    limit.clock = [clock = config.clock, argument = config.clock_argument] {
      return Timestamp::Micros(clock(argument));
    };
  if (config.decision_limit_us > 0) limit.longest = TimeDelta::Micros(config.decision_limit_us);
  return limit;
}

}  // namespace

Result<TargetRateConstraints> MakeConstraints(int64_t min_bps, int64_t start_bps, int64_t max_bps) {
  return Validated({.min_rate = DataRate::BitsPerSecond(min_bps),
                    .start_rate = DataRate::BitsPerSecond(start_bps),
                    .max_rate = DataRate::BitsPerSecond(max_bps)});
}

Result<std::shared_ptr<const PolicyModel>> ModelOf(const weir_model* loaded, const void* model,
                                                   size_t model_size_bytes) {
  if (loaded != nullptr && model != nullptr) return Error{"give either a loaded model or one in memory, not both"};
  if (loaded != nullptr) return loaded->model;
  if (model == nullptr) return Error{"the model is NULL"};
  return PolicyModel::Load({static_cast<const std::byte*>(model), model_size_bytes});
}

ErrorText ErrorTextOf(const weir_estimator_config* config) noexcept {
  const auto given = ReadStruct(config);
  return given ? ErrorText{given->error, given->error_size_bytes} : ErrorText{};
}

int MakeController(const weir_estimator_config* config, std::unique_ptr<PoolController>& controller) {
  const auto given = ReadStruct(config);
  if (!given) return FailArgument(kBadStruct);
  int error = WEIR_ERROR_INTERNAL;
  const auto specification = ReadPool(*given, error);
  if (!specification) return error;
  auto pool = MakePool(*given, *specification, DataRate::BitsPerSecond(given->start_rate_bps));
  // With one model, its fault is the message that the caller needs.
  if (!pool) return Fail(given->pool == nullptr ? WEIR_ERROR_INVALID_MODEL : WEIR_ERROR_INVALID_ARGUMENT, pool.error());
  controller = std::move(pool.value());
  return WEIR_OK;
}

int MakeEstimatorParts(const weir_estimator_config* config, EstimatorParts& parts) {
  const auto given = ReadStruct(config);
  if (!given) return FailArgument(kBadStruct);
  const auto constraints = MakeConstraints(given->min_rate_bps, given->start_rate_bps, given->max_rate_bps);
  if (!constraints) return FailArgument(constraints.error());
  const auto objective =
      NormalizedObjective(given->objective_throughput, given->objective_latency, given->objective_loss);
  if (!objective) return FailArgument(kBadObjective);
  if (given->decision_limit_us < 0) return FailArgument("the decision limit must not be below 0");
  if (const int error = MakeController(config, parts.controller); error != WEIR_OK) return error;
  parts.config = {.constraints = constraints.value(),
                  .objective = *objective,
                  .guard = given->guard != 0,
                  .decision_limit = DecisionLimitOf(*given)};
  return WEIR_OK;
}

}  // namespace weir::internal

const char* weir_version(void) noexcept { return WEIR_VERSION; }

const char* weir_last_error(void) noexcept { return weir::internal::last_error.data(); }

int weir_model_load(const void* model, size_t model_size_bytes, weir_model** out, char* error,
                    size_t error_size_bytes) noexcept {
  using weir::internal::Fail;
  using weir::internal::FailArgument;
  const weir::internal::ErrorText text{error, error_size_bytes};
  if (out == nullptr) return text.Report(FailArgument("the pointer for the model is NULL"));
  *out = nullptr;
  if (model == nullptr) return text.Report(FailArgument("the model is NULL"));
  return text.Report(weir::internal::Guarded([&] {
    auto loaded = weir::internal::ModelOf(nullptr, model, model_size_bytes);
    if (!loaded) return Fail(WEIR_ERROR_INVALID_MODEL, loaded.error());
    *out = new weir_model{std::move(loaded.value())};
    return static_cast<int>(WEIR_OK);
  }));
}

void weir_model_destroy(weir_model* model) noexcept { delete model; }

int weir_estimator_config_init(weir_estimator_config* config, size_t struct_size) noexcept {
  if (!weir::internal::InitConfig(config, struct_size)) return weir::internal::FailArgument(weir::internal::kBadStruct);
  config->objective_throughput = weir::kBalanced.throughput;
  config->objective_latency = weir::kBalanced.latency;
  config->objective_loss = weir::kBalanced.loss;
  config->guard = 1;
  return WEIR_OK;
}
