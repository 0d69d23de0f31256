#include "receive_side_switch.h"

#include <array>
#include <utility>
#include <vector>

#include "modules/congestion_controller/include/remote_bitrate_estimator_factory.h"
#include "rate_controllers.h"
#include "receive_side_settings.h"
#include "switched_remote_bitrate_estimator.h"
#include "weir/controllers.h"
#include "weir/pool_controller.h"
#include "weir/supervised_controller.h"

namespace weir {
namespace {

using adapter::ReceiveSideSettings;
using adapter::SharedReceiveSideSettings;

constexpr std::array<std::string_view, 3> kModeNames{"gcc", "weir", "shadow"};

class EstimatorFactory final : public webrtc::RemoteBitrateEstimatorFactory {
 public:
  explicit EstimatorFactory(std::shared_ptr<SharedReceiveSideSettings> settings) : settings_(std::move(settings)) {}

  std::unique_ptr<webrtc::RemoteBitrateEstimatorFromFactory> Create(
      const webrtc::Environment& environment, webrtc::RemoteBitrateObserver* observer,
      adapter::RembOutlet::RtcpSender rtcp_sender) override {
    return std::make_unique<adapter::SwitchedRemoteBitrateEstimator>(settings_, observer, std::move(rtcp_sender),
                                                                     environment);
  }
  // True in every mode, because a running call may be switched to shadow.
  bool WantsTransportSequenceNumbers() const override { return true; }
  std::optional<webrtc::RembSdp> Sdp() const override {
    const ReceiveSideSettings settings = settings_->Get();
    if (!settings.changes_sdp || settings.mode != ReceiveSideMode::kWeir) return std::nullopt;
    return webrtc::RembSdp{.start_bitrate_kbps = static_cast<int>(kStartRateOfReceiver.bps() / 1000),
                           .max_bitrate_kbps = static_cast<int>(kMaxRateOfReceiver.bps() / 1000)};
  }

 private:
  const std::shared_ptr<SharedReceiveSideSettings> settings_;
};

}  // namespace

std::string_view ToString(ReceiveSideMode mode) {
  const auto index = static_cast<size_t>(mode);
  return index < kModeNames.size() ? kModeNames[index] : "unknown";
}

std::optional<ReceiveSideMode> ParseReceiveSideMode(std::string_view name) {
  for (size_t i = 0; i < kModeNames.size(); ++i) {
    if (kModeNames[i] == name) return static_cast<ReceiveSideMode>(i);
  }
  return std::nullopt;
}

Result<ControllerFactory> PolicyAlone(std::span<const std::byte> model, const PolicyExecutorFactory& make_executor,
                                      const FeatureSet& features) {
  const auto loaded = PolicyModel::Load(model);
  if (!loaded) return Error{loaded.error()};
  if (auto error = CheckFeatures(DescriptionOf(*loaded.value()).features, features, "at this end")) return *error;
  return ControllerFactory(
      [model = loaded.value(), make_executor] { return MakePolicyController(model, make_executor); });
}

ControllerFactory RuleAlone() {
  return [] { return SupervisedController::Of(nullptr); };
}

Result<ControllerFactory> PoolOf(std::string_view specification,
                                 const std::map<std::string, std::vector<std::byte>>& models,
                                 const PolicyExecutorFactory& make_executor) {
  const auto parsed = ParsePool(specification);
  if (!parsed) return Error{parsed.error()};
  // Once, for all calls.
  std::map<std::string, Result<std::shared_ptr<const PolicyModel>>> loaded;
  for (const auto& [name, model] : models) loaded.emplace(name, PolicyModel::Load(model));
  auto make = [pool = parsed.value(), loaded = std::move(loaded), make_executor] {
    const auto find_model = [&loaded](const std::string& name) -> Result<std::shared_ptr<const PolicyModel>> {
      const auto found = loaded.find(name);
      if (found == loaded.end()) return Error{"there is no model for it"};
      return found->second;
    };
    return PoolController::Create(pool, [&](const std::string& name) -> Result<std::unique_ptr<ReceiverController>> {
      if (name == "gcc-remb") return MakeGccRembController();
      return MakeController(name, find_model, TargetRateConstraints{}.start_rate, make_executor);
    });
  };
  if (const auto tried = make(); !tried) return Error{tried.error()};
  return ControllerFactory([make]() -> std::unique_ptr<ReceiverController> {
    auto pool = make();
    if (!pool) return RuleAlone()();
    return std::move(pool.value());
  });
}

ReceiveSideSwitch::ReceiveSideSwitch(ReceiveSideSwitchConfig config)
    : settings_(std::make_shared<SharedReceiveSideSettings>(ReceiveSideSettings{std::move(config)})),
      factory_(std::make_shared<EstimatorFactory>(settings_)) {}

Result<std::shared_ptr<ReceiveSideSwitch>> ReceiveSideSwitch::Create(ReceiveSideSwitchConfig config) {
  const Result<TargetRateConstraints> valid = Validated(config.constraints);
  if (!valid) return Error{valid.error()};
  if (auto error = CheckObjective(config.objective)) return std::move(*error);
  config.constraints = valid.value();
  if (!config.controller) config.controller = RuleAlone();
  return std::shared_ptr<ReceiveSideSwitch>(new ReceiveSideSwitch(std::move(config)));
}

void ReceiveSideSwitch::Install() { webrtc::SetRemoteBitrateEstimatorFactory(factory_); }

void ReceiveSideSwitch::SetMode(ReceiveSideMode mode) {
  settings_->Update([&](ReceiveSideSettings& settings) { settings.mode = mode; });
}

ReceiveSideMode ReceiveSideSwitch::mode() const { return settings_->Get().mode; }

std::optional<Error> ReceiveSideSwitch::SetObjective(const Objective& objective) {
  if (auto error = CheckObjective(objective)) return error;
  settings_->Update([&](ReceiveSideSettings& settings) { settings.objective = objective; });
  return std::nullopt;
}

std::optional<Error> ReceiveSideSwitch::SetConstraints(const TargetRateConstraints& constraints) {
  const Result<TargetRateConstraints> valid = Validated(constraints);
  if (!valid) return Error{valid.error()};
  settings_->Update([&](ReceiveSideSettings& settings) { settings.constraints = valid.value(); });
  return std::nullopt;
}

void ReceiveSideSwitch::SetController(ControllerFactory controller) {
  settings_->Update([&](ReceiveSideSettings& settings) {
    settings.controller = std::move(controller);
    ++settings.controllers;
  });
}

std::optional<Error> ReceiveSideSwitch::ConfigurePool(std::string_view specification) {
  const auto pool = ParsePool(specification);
  if (!pool) return Error{pool.error()};
  settings_->Update([&](ReceiveSideSettings& settings) { settings.pool = pool.value(); });
  return std::nullopt;
}

void ReceiveSideSwitch::SetPacketKind(int payload_type, PacketKind kind) {
  if (payload_type < 0 || payload_type >= static_cast<int>(adapter::kPayloadTypes)) return;
  settings_->Update(
      [&](ReceiveSideSettings& settings) { settings.packet_kinds[static_cast<size_t>(payload_type)] = kind; });
}

void ReceiveSideSwitch::RepeatRemb() {
  settings_->Update([](ReceiveSideSettings& settings) { ++settings.repeats; });
}

void ReceiveSideSwitch::Uninstall() { webrtc::SetRemoteBitrateEstimatorFactory(nullptr); }

}  // namespace weir
