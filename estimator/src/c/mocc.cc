// MOCC's interface in C.
#include <utility>

#include "../../c/weir_mocc.h"
#include "c/c_api.h"
#include "weir/mocc_sender.h"

using weir::DataRate;
using weir::TimeDelta;
using weir::internal::Fail;
using weir::internal::FailArgument;
using weir::internal::OnHandle;

struct weir_mocc {
  weir::MoccSender sender;
};

int weir_mocc_create(const weir_model* model, const weir_estimator_config* config, weir_mocc** out) noexcept {
  return weir::internal::Create(out, [&](weir_mocc*& mocc) {
    if (model == nullptr) return FailArgument("the model is NULL");
    const auto given = weir::internal::ReadConfig(config);
    if (!given) return FailArgument(given.error());
    const auto constraints = weir::Validated(given.value().constraints);
    if (!constraints) return FailArgument(constraints.error());
    const weir::GuardOptions rules =
        given.value().guard ? given.value().guard_rules : weir::GuardOptions::WithoutRules();
    auto sender = weir::MoccSender::Create(model->model, given.value().objective, constraints.value(), rules);
    if (!sender) return Fail(WEIR_ERROR_INVALID_MODEL, sender.error());
    mocc = new weir_mocc{std::move(sender.value())};
    return static_cast<int>(WEIR_OK);
  });
}

int weir_mocc_register(weir_mocc* mocc, float throughput, float latency, float loss) noexcept {
  return OnHandle(mocc, [&] {
    const auto objective = weir::NormalizedObjective(throughput, latency, loss);
    if (!objective) return FailArgument(weir::internal::kBadObjective);
    mocc->sender.Register(*objective);
    return static_cast<int>(WEIR_OK);
  });
}

void weir_mocc_destroy(weir_mocc* mocc) noexcept { delete mocc; }

int64_t weir_mocc_interval_us(const weir_mocc* mocc) noexcept {
  return mocc == nullptr ? 0 : mocc->sender.interval().us();
}

int weir_mocc_report_status(weir_mocc* mocc, const weir_mocc_status* status) noexcept {
  return OnHandle(mocc, [&] {
    if (status == nullptr) return FailArgument("the status is NULL");
    const auto [outcome, error] = mocc->sender.ReportStatus({
        .interval = TimeDelta::Micros(status->interval_us),
        .sending_ratio = status->sending_ratio,
        .latency_ratio = status->latency_ratio,
        .latency_gradient = status->latency_gradient,
        .throughput = DataRate::BitsPerSecond(status->throughput_bps),
        .packets_acknowledged = static_cast<double>(status->packets_acknowledged),
        .packets_lost = static_cast<double>(status->packets_lost),
        .base_latency = TimeDelta::Micros(status->base_latency_us),
        .min_latency = TimeDelta::Micros(status->min_latency_us),
        .max_latency = TimeDelta::Micros(status->max_latency_us),
    });
    switch (outcome) {
      case weir::MoccSender::Outcome::kDecided:
        return static_cast<int>(WEIR_OK);
      case weir::MoccSender::Outcome::kInvalidStatus:
        return FailArgument(error);
      case weir::MoccSender::Outcome::kPolicyFault:
        return Fail(WEIR_ERROR_POLICY_FAULT, "the model gave no usable rate; the rate fell to what was acknowledged");
    }
    return Fail(WEIR_ERROR_INTERNAL, "unknown outcome");
  });
}

int64_t weir_mocc_get_sending_rate_bps(const weir_mocc* mocc) noexcept {
  return mocc == nullptr ? 0 : mocc->sender.sending_rate().bps();
}
