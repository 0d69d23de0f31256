// The estimator's part of the C interface.
#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "c_api_estimator.h"
#include "c_api_model.h"
#include "c_api_support.h"
#include "weir/bandwidth_estimator.h"
#include "weir/controllers/built_in_controllers.h"
#include "weir/pool/controller_pool.h"
#include "weir/pool/library_members.h"
#include "weir/pool/pool_specification.h"
#include "weir/registry/names.h"
#include "weir/remb_sender.h"

using weir::DataRate;
using weir::TimeDelta;
using weir::Timestamp;
using weir::internal::Fail;
using weir::internal::FailArgument;
using weir::internal::Guarded;
using weir::internal::kBadConstraints;
using weir::internal::kBadObjective;
using weir::internal::kBadTime;
using weir::internal::MakeConstraints;
using weir::internal::OnHandle;
using weir::internal::ReadStruct;
using weir::internal::WriteStruct;

struct weir_estimator {
  weir::BandwidthEstimator estimator;
  weir::RembSender remb_sender = {};
  weir_log_callback log = nullptr;
  void* log_argument = nullptr;
  weir::internal::ErrorText error;

  void LogSuspension(bool suspended) const {
    if (log == nullptr || suspended == estimator.pilot_suspended()) return;
    const weir::ControllerPool& pool = estimator.pool();
    const std::string& name = pool.members()[pool.selection().pilot].name;
    if (suspended) {
      log(log_argument, WEIR_LOG_INFO, ("controller '" + name + "' is back").c_str());
    } else {
      log(log_argument, WEIR_LOG_WARNING, ("controller '" + name + "' fails; the fallback has taken over").c_str());
    }
  }
};

namespace {

constexpr const char* kBadStruct = "a struct is NULL, or its struct_size is wrong";

weir::Result<std::shared_ptr<const weir::PolicyModel>> LoadModel(const weir_estimator_config& config,
                                                                 const std::string& name) {
  if (name.empty()) return weir::internal::ModelOf(config.loaded_model, config.model, config.model_size_bytes);
  for (size_t i = 0; config.models != nullptr && i < config.model_count; ++i) {
    const weir_named_model& one = config.models[i];
    if (one.name != nullptr && name == one.name)
      return weir::internal::ModelOf(one.loaded, one.model, one.model_size_bytes);
  }
  return weir::Error{"no model of this name among `models`"};
}

weir::Fusion::Function MakeFusion(const weir_estimator_config& config) {
  if (config.fusion == nullptr) return nullptr;
  return
      [fusion = config.fusion, argument = config.fusion_argument](DataRate pilot, std::span<const DataRate> copilots) {
        std::array<int64_t, weir::kMaxCopilots> rates_bps{};
        std::ranges::transform(copilots, rates_bps.begin(), &DataRate::bps);
        return DataRate::BitsPerSecond(fusion(argument, pilot.bps(), rates_bps.data(), copilots.size()));
      };
}

// A pool's specification, from the line or of one controller; `error` has the code where there is none.
std::optional<weir::PoolSpecification> ReadPool(const weir_estimator_config& config, int& error) {
  if (config.pool == nullptr) {
    const bool has_model = config.model != nullptr || config.loaded_model != nullptr;
    if ((config.controller != nullptr) == has_model) {
      error = FailArgument("give either a controller's name or a model, or a pool");
      return std::nullopt;
    }
    if (config.controller == nullptr) return weir::PoolSpecification{.pilot = "weir"};
    if (std::ranges::find(weir::kBuiltInControllers, std::string_view(config.controller)) ==
        weir::kBuiltInControllers.end()) {
      error = Fail(WEIR_ERROR_UNKNOWN_CONTROLLER, "there is no controller '" +
                                                      std::string(config.controller).substr(0, 64) + "'; there are " +
                                                      weir::ListNames(weir::kBuiltInControllers, " and "));
      return std::nullopt;
    }
    return weir::PoolSpecification{.pilot = config.controller};
  }
  if (config.controller != nullptr) {
    error = FailArgument("give either a controller's name or a pool, not both");
    return std::nullopt;
  }
  auto pool = weir::ParsePool(config.pool);
  if (pool) return std::move(pool.value());
  error = FailArgument(pool.error());
  return std::nullopt;
}

weir::Result<weir::ControllerPool> MakePool(const weir_estimator_config& config,
                                            const weir::PoolSpecification& specification, DataRate start_rate) {
  const auto make_member = [&](const std::string& name) {
    const auto models = [&config](const std::string& model) { return LoadModel(config, model); };
    return weir::MakeLibraryMember(name, models, start_rate);
  };
  return weir::ControllerPool::Create(specification, make_member, {.fusion = MakeFusion(config), .policy = nullptr});
}

weir::DecisionLimit DecisionLimitOf(const weir_estimator_config& config) {
  weir::DecisionLimit limit;
  if (config.clock != nullptr)
    limit.clock = [clock = config.clock, argument = config.clock_argument] {
      return Timestamp::Micros(clock(argument));
    };
  if (config.decision_limit_us > 0) limit.longest = TimeDelta::Micros(config.decision_limit_us);
  return limit;
}

int SetModel(weir_estimator& estimator, const char* member, std::shared_ptr<const weir::PolicyModel> model) {
  const std::string name = member == nullptr ? "weir" : member;
  auto made = weir::MakeModelMember(name, std::move(model));
  if (!made) return Fail(WEIR_ERROR_INVALID_MODEL, made.error());
  const auto error = estimator.estimator.ReplaceMember(name, std::move(made.value()));
  return error ? FailArgument(error->message) : static_cast<int>(WEIR_OK);
}

weir_estimate ToC(const weir::Estimate& estimate) {
  // The names are literals, hence terminated.
  return {0, estimate.at_time.us(), estimate.target_rate.bps(), weir::ToString(estimate.reason).data()};
}

}  // namespace

weir::internal::ErrorText weir::internal::ErrorTextOf(const weir_estimator_config* config) noexcept {
  const auto given = ReadStruct(config);
  return given ? ErrorText{given->error, given->error_size_bytes} : ErrorText{};
}

int weir::internal::MakeEstimatorParts(const weir_estimator_config* config, std::optional<EstimatorParts>& parts) {
  const auto given = ReadStruct(config);
  if (!given) return FailArgument(kBadStruct);
  const auto constraints = MakeConstraints(given->min_rate_bps, given->start_rate_bps, given->max_rate_bps);
  if (!constraints) return FailArgument(kBadConstraints);
  const auto objective =
      weir::NormalizedObjective(given->objective_throughput, given->objective_latency, given->objective_loss);
  if (!objective) return FailArgument(kBadObjective);
  int error = WEIR_ERROR_INTERNAL;
  const auto specification = ReadPool(*given, error);
  if (!specification) return error;
  auto pool = MakePool(*given, *specification, constraints->start_rate);
  // With one model, its fault is what the caller has to know.
  if (!pool) return Fail(given->pool == nullptr ? WEIR_ERROR_INVALID_MODEL : WEIR_ERROR_INVALID_ARGUMENT, pool.error());
  if (given->decision_limit_us < 0) return FailArgument("the decision limit must not be below 0");
  parts.emplace(weir::BandwidthEstimatorConfig{.constraints = *constraints,
                                               .objective = *objective,
                                               .guard = given->guard != 0,
                                               .decision_limit = DecisionLimitOf(*given)},
                std::move(pool.value()));
  return WEIR_OK;
}

int weir_estimator_config_init(weir_estimator_config* config, size_t struct_size) noexcept {
  if (!weir::internal::InitConfig(config, struct_size)) return FailArgument(kBadStruct);
  config->objective_throughput = weir::kBalanced.throughput;
  config->objective_latency = weir::kBalanced.latency;
  config->objective_loss = weir::kBalanced.loss;
  config->guard = 1;
  return WEIR_OK;
}

int weir_estimator_create(const weir_estimator_config* config, weir_estimator** out) noexcept {
  if (out == nullptr) return FailArgument("the pointer for the estimator is NULL");
  *out = nullptr;
  const weir::internal::ErrorText text = weir::internal::ErrorTextOf(config);
  return text.Told(Guarded([&] {
    std::optional<weir::internal::EstimatorParts> parts;
    if (const int error = weir::internal::MakeEstimatorParts(config, parts); error != WEIR_OK) return error;
    *out = new weir_estimator{
        .estimator = weir::BandwidthEstimator(parts->config, std::move(parts->pool)),
        .log = config->log,
        .log_argument = config->log_argument,
        .error = text,
    };
    return static_cast<int>(WEIR_OK);
  }));
}

void weir_estimator_destroy(weir_estimator* estimator) noexcept { delete estimator; }

int weir_estimator_on_packet(weir_estimator* estimator, const weir_packet* packet) noexcept {
  return OnHandle(estimator, [&] {
    const auto given = ReadStruct(packet);
    if (!given) return FailArgument(kBadStruct);
    if (given->kind > WEIR_PACKET_RETRANSMISSION) return FailArgument("the packet's kind is unknown");
    estimator->estimator.OnPacket({
        .arrival_time = Timestamp::Micros(given->arrival_time_us),
        .ssrc = given->ssrc,
        .sequence_number = given->sequence_number,
        .payload_type = given->payload_type,
        .kind = static_cast<weir::PacketKind>(given->kind),
        .has_abs_send_time = given->has_abs_send_time != 0,
        .abs_send_time = given->abs_send_time,
        .rtp_timestamp = given->rtp_timestamp,
        .rtp_clock_rate = given->rtp_clock_rate_hz,
        .header_size = given->header_bytes,
        .payload_size = given->payload_bytes,
        .padding_size = given->padding_bytes,
    });
    return static_cast<int>(WEIR_OK);
  });
}

int weir_estimator_on_packet_fate_unknown(weir_estimator* estimator, uint32_t ssrc, uint16_t sequence_number) noexcept {
  return OnHandle(estimator, [&] {
    estimator->estimator.OnPacketFateUnknown(ssrc, sequence_number);
    return static_cast<int>(WEIR_OK);
  });
}

int weir_estimator_remove_stream(weir_estimator* estimator, uint32_t ssrc) noexcept {
  return OnHandle(estimator, [&] {
    estimator->estimator.RemoveStream(ssrc);
    return static_cast<int>(WEIR_OK);
  });
}

int64_t weir_estimator_next_timeout_us(const weir_estimator* estimator) noexcept {
  if (estimator == nullptr) return INT64_MAX;
  return std::min(estimator->estimator.next_timeout(), estimator->remb_sender.next_timeout(estimator->estimator)).us();
}

int weir_estimator_on_timeout(weir_estimator* estimator, int64_t now_us, weir_estimate* estimate) noexcept {
  return OnHandle(estimator, [&] {
    if (estimate != nullptr && estimate->struct_size < sizeof(*estimate)) return FailArgument(kBadStruct);
    const Timestamp now = Timestamp::Micros(now_us);
    if (!IsTime(now)) return FailArgument(kBadTime);
    const bool suspended = estimator->estimator.pilot_suspended();
    const auto changed = estimator->estimator.OnTimeout(now);
    estimator->LogSuspension(suspended);
    const bool remb_due = estimator->remb_sender.OnTimeout(estimator->estimator, now).has_value();
    if ((changed || remb_due) && estimate != nullptr) WriteStruct(ToC(estimator->estimator.latest()), estimate);
    return (changed ? WEIR_ESTIMATE_CHANGED : 0) | (remb_due ? WEIR_REMB_DUE : 0);
  });
}

int weir_estimator_latest(const weir_estimator* estimator, weir_estimate* estimate) noexcept {
  return OnHandle(estimator, [&] {
    return WriteStruct(ToC(estimator->estimator.latest()), estimate) ? static_cast<int>(WEIR_OK)
                                                                     : FailArgument(kBadStruct);
  });
}

int weir_estimator_set_objective(weir_estimator* estimator, float throughput, float latency, float loss) noexcept {
  return OnHandle(estimator, [&] {
    const auto objective = weir::NormalizedObjective(throughput, latency, loss);
    if (!objective) return FailArgument(kBadObjective);
    estimator->estimator.SetObjective(*objective);
    return static_cast<int>(WEIR_OK);
  });
}

int weir_estimator_set_pool(weir_estimator* estimator, const char* pool) noexcept {
  return OnHandle(estimator, [&] {
    if (pool == nullptr) return FailArgument("the pool is NULL");
    const auto specification = weir::ParsePool(pool);
    if (!specification) return FailArgument(specification.error());
    const auto error = estimator->estimator.SetPool(specification.value());
    return error ? FailArgument(error->message) : static_cast<int>(WEIR_OK);
  });
}

int weir_estimator_replace_model(weir_estimator* estimator, const char* member, const void* model,
                                 size_t model_size_bytes) noexcept {
  return OnHandle(estimator, [&] {
    if (model == nullptr) return FailArgument("the model is NULL");
    auto loaded = weir::internal::ModelOf(nullptr, model, model_size_bytes);
    if (!loaded) return Fail(WEIR_ERROR_INVALID_MODEL, loaded.error());
    return SetModel(*estimator, member, std::move(loaded.value()));
  });
}

int weir_estimator_set_model(weir_estimator* estimator, const char* member, const weir_model* model) noexcept {
  return OnHandle(estimator, [&] {
    if (model == nullptr) return FailArgument("the model is NULL");
    return SetModel(*estimator, member, model->model);
  });
}

int weir_estimator_pool_size(const weir_estimator* estimator) noexcept {
  return OnHandle(estimator, [&] { return static_cast<int>(estimator->estimator.pool().members().size()); });
}

int weir_estimator_get_pool_member(const weir_estimator* estimator, size_t index, weir_pool_member* out) noexcept {
  return OnHandle(estimator, [&] {
    const weir::ControllerPool& pool = estimator->estimator.pool();
    if (index >= pool.members().size()) return FailArgument("the pool has no member of this index");
    const weir::MemberState& member = pool.members()[index];
    const weir_pool_member values{.struct_size = 0,
                                  .name = member.name.c_str(),
                                  .role = ToString(pool.role(index)).data(),
                                  .rate_bps = member.rate ? member.rate->bps() : 0,
                                  .trust = member.trust};
    return WriteStruct(values, out) ? static_cast<int>(WEIR_OK) : FailArgument(kBadStruct);
  });
}

int weir_estimator_set_constraints(weir_estimator* estimator, int64_t min_rate_bps, int64_t start_rate_bps,
                                   int64_t max_rate_bps, int64_t now_us) noexcept {
  return OnHandle(estimator, [&] {
    const auto constraints = MakeConstraints(min_rate_bps, start_rate_bps, max_rate_bps);
    if (!constraints) return FailArgument(kBadConstraints);
    const Timestamp now = Timestamp::Micros(now_us);
    if (!IsTime(now)) return FailArgument(kBadTime);
    return estimator->estimator.SetConstraints(*constraints, now) ? static_cast<int>(WEIR_OK)
                                                                  : FailArgument(kBadConstraints);
  });
}

int weir_estimator_on_round_trip_time(weir_estimator* estimator, int64_t round_trip_time_us, int64_t now_us) noexcept {
  return OnHandle(estimator, [&] {
    const Timestamp now = Timestamp::Micros(now_us);
    if (!IsTime(now)) return FailArgument(kBadTime);
    if (round_trip_time_us <= 0 || round_trip_time_us > 60'000'000) {
      return FailArgument("round_trip_time_us must be above 0 and at most a minute");
    }
    estimator->estimator.OnRoundTripTime(TimeDelta::Micros(round_trip_time_us), now);
    return static_cast<int>(WEIR_OK);
  });
}

int weir_estimator_write_remb(const weir_estimator* estimator, uint32_t sender_ssrc, uint8_t* buffer,
                              size_t buffer_size_bytes) noexcept {
  return OnHandle(estimator, [&] {
    if (buffer == nullptr) return FailArgument("the buffer is NULL");
    weir::Remb remb = weir::RembFor(estimator->estimator);
    remb.sender_ssrc = sender_ssrc;
    const size_t size = weir::WriteRemb(remb, {buffer, buffer_size_bytes});
    return size > 0 ? static_cast<int>(size)
                    : Fail(WEIR_ERROR_BUFFER_TOO_SMALL, "the buffer is too small for the REMB; 1040 bytes always do");
  });
}

const char* weir_guard_rule_name(size_t index) noexcept {
  constexpr size_t kPrefix = std::string_view("guard_").size();
  return index < weir::GuardRules().size() ? weir::GuardRules()[index].reason.data() + kPrefix : nullptr;
}

int weir_estimator_get_counters(const weir_estimator* estimator, weir_estimator_counters* counters) noexcept {
  return OnHandle(estimator, [&] {
    const weir::EstimatorCounters now = estimator->estimator.counters();
    weir_estimator_counters values{
        .struct_size = 0,
        .decisions = now.decisions,
        .policy_faults = now.policy_faults,
        .fallback_decisions = now.fallback_decisions,
        .feedbacks = estimator->remb_sender.sent(),
        .packets_duplicate = now.arrivals.duplicates,
        .packets_reordered = now.arrivals.reordered,
        .packets_invalid = now.arrivals.invalid,
        .stream_restarts = now.arrivals.restarts,
        .ssrc_evictions = now.arrivals.ssrc_evictions,
        .pilot_changes = now.pilot_changes,
        .fusion_faults = now.fusion_faults,
        .late_decisions = now.late_decisions,
        .guard = {},
    };
    std::ranges::copy(now.guard, values.guard);
    return WriteStruct(values, counters) ? static_cast<int>(WEIR_OK) : FailArgument(kBadStruct);
  });
}

int weir_estimator_get_statistics(const weir_estimator* estimator, int64_t now_us,
                                  weir_estimator_statistics* statistics) noexcept {
  return OnHandle(estimator, [&] {
    const Timestamp now = Timestamp::Micros(now_us);
    if (!IsTime(now)) return FailArgument(kBadTime);
    const weir::EstimatorStatistics all = estimator->estimator.Statistics(now);
    const weir_estimator_statistics values{
        .struct_size = 0,
        .target_rate_bps = all.target_rate.bps(),
        .reason = weir::ToString(all.reason).data(),
        .receive_rate_bps = all.last_second.receive_rate.bps(),
        .queueing_delay_us = all.last_second.queueing_delay.us(),
        .loss_ratio = all.last_second.loss_ratio,
        .packets_received = all.total.packets,
        .bytes_received = all.total.size.bytes(),
        .packets_lost = all.total.packets_lost,
        .packets_fate_unknown = static_cast<int64_t>(all.packets_fate_unknown),
        .total_queueing_delay_us = all.total.queueing_delay.us(),
        .packets_with_delay = all.total.packets_with_delay,
        .clock_restarts = static_cast<int64_t>(all.clock_restarts),
        .path_kind = all.path_kind,
    };
    return WriteStruct(values, statistics) ? static_cast<int>(WEIR_OK) : FailArgument(kBadStruct);
  });
}
