#include "sender/observing_network_controller.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "api/transport/goog_cc_factory.h"
#include "conversions.h"

namespace weir {
namespace {

using webrtc::NetworkControllerInterface;
using webrtc::NetworkControlUpdate;

constexpr webrtc::TimeDelta kObservationInterval = webrtc::TimeDelta::Seconds(1);

// A controller, and what it wants to be in force.
class Candidate {
 public:
  explicit Candidate(std::unique_ptr<NetworkControllerInterface> controller) : controller_(std::move(controller)) {}

  template <class Message>
  NetworkControlUpdate Deliver(NetworkControlUpdate (NetworkControllerInterface::*method)(Message),
                               const Message& message) {
    NetworkControlUpdate update = (controller_.get()->*method)(message);
    if (update.target_rate) in_force_.target_rate = update.target_rate;
    if (update.pacer_config) in_force_.pacer_config = update.pacer_config;
    if (update.congestion_window) in_force_.congestion_window = update.congestion_window;
    return update;
  }

  // Everything that libwebrtc keeps of a controller's updates, without probes.
  NetworkControlUpdate InForce() const {
    NetworkControlUpdate all = in_force_;
    if (!all.congestion_window) all.congestion_window = webrtc::DataSize::PlusInfinity();
    return all;
  }
  std::optional<DataRate> target() const {
    if (!in_force_.target_rate) return std::nullopt;
    return adapter::FromWebrtc(in_force_.target_rate->target_rate);
  }
  const NetworkControllerInterface& controller() const { return *controller_; }

 private:
  const std::unique_ptr<NetworkControllerInterface> controller_;
  NetworkControlUpdate in_force_;
};

class ObservingNetworkController final : public NetworkControllerInterface {
 public:
  ObservingNetworkController(const ObservingNetworkControllerOptions& options,
                             webrtc::NetworkControllerFactoryInterface& other, webrtc::NetworkControllerConfig config)
      : options_(options), other_(other.Create(config)), weir_(MakeWeir(std::move(config))) {}

  NetworkControlUpdate OnNetworkAvailability(webrtc::NetworkAvailability message) override {
    return DeliverToBoth(&NetworkControllerInterface::OnNetworkAvailability, message);
  }
  NetworkControlUpdate OnNetworkRouteChange(webrtc::NetworkRouteChange message) override {
    return DeliverToBoth(&NetworkControllerInterface::OnNetworkRouteChange, message);
  }
  NetworkControlUpdate OnProcessInterval(webrtc::ProcessInterval message) override {
    now_ = message.at_time;
    return DeliverToBoth(&NetworkControllerInterface::OnProcessInterval, message);
  }
  NetworkControlUpdate OnRemoteBitrateReport(webrtc::RemoteBitrateReport message) override {
    return DeliverToBoth(&NetworkControllerInterface::OnRemoteBitrateReport, message);
  }
  NetworkControlUpdate OnRoundTripTimeUpdate(webrtc::RoundTripTimeUpdate message) override {
    return DeliverToBoth(&NetworkControllerInterface::OnRoundTripTimeUpdate, message);
  }
  NetworkControlUpdate OnSentPacket(webrtc::SentPacket message) override {
    sent_time_ = message.send_time;
    return DeliverToBoth(&NetworkControllerInterface::OnSentPacket, message);
  }
  NetworkControlUpdate OnReceivedPacket(webrtc::ReceivedPacket message) override {
    return DeliverToBoth(&NetworkControllerInterface::OnReceivedPacket, message);
  }
  NetworkControlUpdate OnStreamsConfig(webrtc::StreamsConfig message) override {
    return DeliverToBoth(&NetworkControllerInterface::OnStreamsConfig, message);
  }
  NetworkControlUpdate OnTargetRateConstraints(webrtc::TargetRateConstraints message) override {
    return DeliverToBoth(&NetworkControllerInterface::OnTargetRateConstraints, message);
  }
  NetworkControlUpdate OnTransportLossReport(webrtc::TransportLossReport message) override {
    return DeliverToBoth(&NetworkControllerInterface::OnTransportLossReport, message);
  }
  NetworkControlUpdate OnTransportPacketsFeedback(webrtc::TransportPacketsFeedback message) override {
    return DeliverToBoth(&NetworkControllerInterface::OnTransportPacketsFeedback, message);
  }
  NetworkControlUpdate OnNetworkStateEstimate(webrtc::NetworkStateEstimate message) override {
    return DeliverToBoth(&NetworkControllerInterface::OnNetworkStateEstimate, message);
  }

  bool SupportsEcnAdaptation() const override {
    return (weir_is_in_charge_ ? weir_ : other_).controller().SupportsEcnAdaptation();
  }

 private:
  std::unique_ptr<NetworkControllerInterface> MakeWeir(webrtc::NetworkControllerConfig config) {
    WeirNetworkControllerOptions options = options_.weir;
    options.on_process_interval = [this](const BandwidthEstimator& estimator) { Observe(estimator); };
    // The factory of this controller has validated the options.
    return MakeWeirNetworkControllerFactory(std::move(options)).value()->Create(std::move(config));
  }

  template <class Message>
  NetworkControlUpdate DeliverToBoth(NetworkControlUpdate (NetworkControllerInterface::*method)(Message),
                                     const Message& message) {
    NetworkControlUpdate of_other = other_.Deliver(method, message);
    NetworkControlUpdate of_weir = weir_.Deliver(method, message);
    const bool weir = options_.is_weir_in_charge && options_.is_weir_in_charge();
    if (std::exchange(weir_is_in_charge_, weir) != weir) return (weir ? weir_ : other_).InForce();
    return weir ? of_weir : of_other;
  }

  // Called while Weir handles OnProcessInterval().
  void Observe(const BandwidthEstimator& estimator) {
    if (!options_.on_observation || now_ - observed_time_ < kObservationInterval) return;
    observed_time_ = now_;
    if (now_ - sent_time_ > kObservationInterval) return;
    options_.on_observation({.at_time = Timestamp::Micros(now_.us()),
                             .weir_is_in_charge = weir_is_in_charge_,
                             .other_target = other_.target(),
                             .weir = estimator.Statistics(estimator.latest().at_time)});
  }

  const ObservingNetworkControllerOptions options_;
  Candidate other_;
  Candidate weir_;
  bool weir_is_in_charge_ = false;
  webrtc::Timestamp now_ = webrtc::Timestamp::MinusInfinity();
  webrtc::Timestamp sent_time_ = webrtc::Timestamp::MinusInfinity();
  webrtc::Timestamp observed_time_ = webrtc::Timestamp::MinusInfinity();
};

class ObservingNetworkControllerFactory final : public webrtc::NetworkControllerFactoryInterface {
 public:
  explicit ObservingNetworkControllerFactory(ObservingNetworkControllerOptions options) : options_(std::move(options)) {
    if (options_.other == nullptr) options_.other = std::make_shared<webrtc::GoogCcNetworkControllerFactory>();
  }

  std::unique_ptr<NetworkControllerInterface> Create(webrtc::NetworkControllerConfig config) override {
    return std::make_unique<ObservingNetworkController>(options_, *options_.other, std::move(config));
  }
  // Both get calls at this interval; it is 25 ms for GoogCC and for Weir.
  webrtc::TimeDelta GetProcessInterval() const override { return options_.other->GetProcessInterval(); }

 private:
  ObservingNetworkControllerOptions options_;
};

}  // namespace

Result<std::unique_ptr<webrtc::NetworkControllerFactoryInterface>> MakeObservingNetworkControllerFactory(
    ObservingNetworkControllerOptions options) {
  if (auto error = CheckObjective(options.weir.objective)) return std::move(*error);
  return std::unique_ptr<webrtc::NetworkControllerFactoryInterface>(
      std::make_unique<ObservingNetworkControllerFactory>(std::move(options)));
}

}  // namespace weir
