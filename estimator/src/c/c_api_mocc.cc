// MOCC's part of the C interface.
#include <memory>
#include <utility>

#include "c_api_support.h"
#include "weir/policy/mocc_sender.h"

using weir::DataRate;
using weir::TimeDelta;
using weir::internal::Fail;
using weir::internal::FailArgument;
using weir::internal::Guarded;

struct weir_mocc {
  weir::MoccSender sender;
};

int weir_mocc_config_init(weir_mocc_config* config, size_t struct_size) noexcept {
  if (!weir::internal::InitConfig(config, struct_size))
    return FailArgument("the config is NULL, or struct_size is wrong");
  return WEIR_OK;
}

int weir_mocc_register(weir_mocc** mocc, const weir_mocc_config* config, float throughput, float latency,
                       float loss) noexcept {
  if (mocc == nullptr) return FailArgument("the pointer for the sender is NULL");
  const auto objective = weir::NormalizedObjective(throughput, latency, loss);
  if (!objective) return FailArgument(weir::internal::kBadObjective);
  return Guarded([&] {
    if (*mocc != nullptr) {
      (*mocc)->sender.Register(*objective);
      return static_cast<int>(WEIR_OK);
    }
    const auto given = weir::internal::ReadStruct(config);
    if (!given || given->model == nullptr)
      return FailArgument("the config or its model is NULL, or its struct_size is wrong");
    const auto constraints =
        weir::internal::MakeConstraints(given->min_rate_bps, given->start_rate_bps, given->max_rate_bps);
    if (!constraints) return FailArgument(weir::internal::kBadConstraints);
    auto policy = weir::Policy::Load({static_cast<const std::byte*>(given->model), given->model_size_bytes});
    if (!policy) return Fail(WEIR_ERROR_INVALID_MODEL, policy.error());
    if (policy.value()->description().format != weir::ModelFormat::kWeir1) {
      return Fail(WEIR_ERROR_INVALID_MODEL,
                  "the model cannot be used: MMSys 2024 models need packets; use weir_estimator_create()");
    }
    *mocc = new weir_mocc{weir::MoccSender(std::move(policy.value()), *objective, *constraints)};
    return static_cast<int>(WEIR_OK);
  });
}

void weir_mocc_destroy(weir_mocc* mocc) noexcept { delete mocc; }

int64_t weir_mocc_interval_us(const weir_mocc* mocc) noexcept {
  return mocc == nullptr ? 0 : mocc->sender.description().interval.us();
}

int weir_mocc_report_status(weir_mocc* mocc, const weir_mocc_status* status) noexcept {
  if (mocc == nullptr) return FailArgument("the handle is NULL");
  const auto given = weir::internal::ReadStruct(status);
  if (!given) return FailArgument("the status is NULL, or its struct_size is wrong");
  return Guarded([&] {
    const auto outcome = mocc->sender.ReportStatus({
        .interval = TimeDelta::Micros(given->interval_us),
        .sending_ratio = given->sending_ratio,
        .latency_ratio = given->latency_ratio,
        .latency_gradient = given->latency_gradient,
        .throughput = DataRate::BitsPerSecond(given->throughput_bps),
        .packets_acknowledged = static_cast<double>(given->packets_acknowledged),
        .packets_lost = static_cast<double>(given->packets_lost),
        .base_latency = TimeDelta::Micros(given->base_latency_us),
    });
    switch (outcome) {
      case weir::MoccSender::Outcome::kDecided:
        return static_cast<int>(WEIR_OK);
      case weir::MoccSender::Outcome::kInvalidStatus:
        return FailArgument("a value of the status is not finite or out of its range");
      case weir::MoccSender::Outcome::kPolicyFault:
        return Fail(WEIR_ERROR_POLICY_FAULT, "the model gave no usable rate; the rate fell to what was acknowledged");
    }
    return Fail(WEIR_ERROR_INTERNAL, "unknown outcome");
  });
}

int64_t weir_mocc_get_sending_rate_bps(const weir_mocc* mocc) noexcept {
  return mocc == nullptr ? 0 : mocc->sender.sending_rate().bps();
}
