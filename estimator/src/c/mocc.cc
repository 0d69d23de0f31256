// MOCC's calls in the C interface.
#include <memory>
#include <utility>

#include "c/c_api.h"
#include "policy/mocc_sender.h"

using weir::DataRate;
using weir::TimeDelta;
using weir::internal::Fail;
using weir::internal::FailArgument;
using weir::internal::Guarded;
using weir::internal::OnHandle;

struct weir_mocc {
  weir::MoccSender sender;
  weir::internal::ErrorText error;
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
  if (*mocc != nullptr) {
    return OnHandle(*mocc, [&] {
      if (!objective) return FailArgument(weir::internal::kBadObjective);
      (*mocc)->sender.Register(*objective);
      return static_cast<int>(WEIR_OK);
    });
  }
  const auto given = weir::internal::ReadStruct(config);
  if (!given) return FailArgument("the config is NULL, or its struct_size is wrong");
  const weir::internal::ErrorText text{given->error, given->error_size_bytes};
  return text.Report(Guarded([&] {
    if (!objective) return FailArgument(weir::internal::kBadObjective);
    if (given->model == nullptr && given->loaded_model == nullptr) return FailArgument("the model is NULL");
    const auto constraints =
        weir::internal::MakeConstraints(given->min_rate_bps, given->start_rate_bps, given->max_rate_bps);
    if (!constraints) return FailArgument(constraints.error());
    auto model = weir::internal::ModelOf(given->loaded_model, given->model, given->model_size_bytes);
    if (!model) return Fail(WEIR_ERROR_INVALID_MODEL, model.error());
    if (model.value()->description().format != weir::ModelFormat::kWeir1) {
      return Fail(WEIR_ERROR_INVALID_MODEL,
                  "the model cannot be used: MMSys 2024 models need packets; use weir_estimator_create()");
    }
    auto policy = std::make_unique<weir::Policy>(std::move(model.value()));
    *mocc = new weir_mocc{weir::MoccSender(std::move(policy), *objective, constraints.value()), text};
    return static_cast<int>(WEIR_OK);
  }));
}

void weir_mocc_destroy(weir_mocc* mocc) noexcept { delete mocc; }

int64_t weir_mocc_interval_us(const weir_mocc* mocc) noexcept {
  return mocc == nullptr ? 0 : mocc->sender.description().interval.us();
}

int weir_mocc_report_status(weir_mocc* mocc, const weir_mocc_status* status) noexcept {
  return OnHandle(mocc, [&] {
    const auto given = weir::internal::ReadStruct(status);
    if (!given) return FailArgument("the status is NULL, or its struct_size is wrong");
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
