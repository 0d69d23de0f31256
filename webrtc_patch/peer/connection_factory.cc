#include "connection_factory.h"

#include <string>
#include <utility>
#include <vector>

#include "api/audio_codecs/audio_decoder_factory_template.h"
#include "api/audio_codecs/audio_encoder_factory_template.h"
#include "api/audio_codecs/opus/audio_decoder_opus.h"
#include "api/audio_codecs/opus/audio_encoder_opus.h"
#include "api/call/call_factory_interface.h"
#include "api/field_trials_view.h"
#include "api/task_queue/default_task_queue_factory.h"
#include "api/transport/field_trial_based_config.h"
#include "api/video_codecs/builtin_video_decoder_factory.h"
#include "api/video_codecs/builtin_video_encoder_factory.h"
#include "estimate_bounds.h"
#include "libwebrtc_globals.h"
#include "libwebrtc_version.h"
#include "media/engine/webrtc_media_engine.h"
#include "modules/audio_device/include/test_audio_device.h"
#include "modules/congestion_controller/goog_cc/goog_cc_network_control.h"
#include "rtc_base/thread.h"
#include "sender/remb_network_controller.h"

namespace weir::peer {
namespace {

constexpr int kSampleRateHz = 48'000;
constexpr int16_t kAmplitude = 1'000;

// libwebrtc makes its own controller, whatever factory it was given, unless this trial is on.
class WithInjectedController final : public webrtc::FieldTrialsView {
 public:
  explicit WithInjectedController(std::unique_ptr<webrtc::FieldTrialsView> others) : others_(std::move(others)) {}

  std::string Lookup(absl::string_view key) const override {
    return key == "WebRTC-Bwe-InjectedCongestionController" ? "Enabled" : others_->Lookup(key);
  }

 private:
  const std::unique_ptr<webrtc::FieldTrialsView> others_;
};

// Pulses of quiet noise in, nothing out; in real time, so that what arrives is played as in a call.
rtc::scoped_refptr<webrtc::AudioDeviceModule> MakeAudioDevice(webrtc::TaskQueueFactory* task_queues) {
  using webrtc::TestAudioDeviceModule;
  return TestAudioDeviceModule::Create(task_queues,
                                       TestAudioDeviceModule::CreatePulsedNoiseCapturer(kAmplitude, kSampleRateHz),
                                       TestAudioDeviceModule::CreateDiscardRenderer(kSampleRateHz));
}

}  // namespace

ConnectionFactory::ConnectionFactory()
    : network_thread_(rtc::Thread::CreateWithSocketServer()),
      worker_thread_(rtc::Thread::Create()),
      signaling_thread_(rtc::Thread::Create()) {}

ConnectionFactory::~ConnectionFactory() = default;

std::unique_ptr<ConnectionFactory> ConnectionFactory::Create(ConnectionFactoryConfig config) {
  std::unique_ptr<ConnectionFactory> result(new ConnectionFactory);
  result->network_thread_->SetName("network", nullptr);
  result->worker_thread_->SetName("worker", nullptr);
  result->signaling_thread_->SetName("signaling", nullptr);
  if (!result->network_thread_->Start() || !result->worker_thread_->Start() || !result->signaling_thread_->Start())
    return nullptr;

  webrtc::PeerConnectionFactoryDependencies dependencies;
  dependencies.network_thread = result->network_thread_.get();
  dependencies.worker_thread = result->worker_thread_.get();
  dependencies.signaling_thread = result->signaling_thread_.get();
  dependencies.task_queue_factory = webrtc::CreateDefaultTaskQueueFactory();
  dependencies.call_factory = webrtc::CreateCallFactory();
  dependencies.event_log_factory = MakeRtcpObserverFactory(config.rtcp_observer);
  dependencies.network_manager = MakeBoundNetwork(config.bind_address);
  std::unique_ptr<webrtc::FieldTrialsView> trials;
  if (config.network_controller != nullptr || config.controller == ReceiveSideMode::kWeir) {
    trials = std::make_unique<webrtc::FieldTrialBasedConfig>();
    dependencies.network_controller_factory = config.network_controller != nullptr
                                                  ? std::move(config.network_controller)
                                                  : MakeRembNetworkControllerFactory();
  } else {
    trials = MakeGccFieldTrials();
    dependencies.network_controller_factory = MakeGccNetworkControllerFactory();
  }
  dependencies.trials = std::make_unique<WithInjectedController>(std::move(trials));

  cricket::MediaEngineDependencies media;
  media.task_queue_factory = dependencies.task_queue_factory.get();
  media.adm = MakeAudioDevice(media.task_queue_factory);
  // Debian's built-in factories of audio codecs are without Opus.
  media.audio_encoder_factory = webrtc::CreateAudioEncoderFactory<webrtc::AudioEncoderOpus>();
  media.audio_decoder_factory = webrtc::CreateAudioDecoderFactory<webrtc::AudioDecoderOpus>();
  media.video_encoder_factory = webrtc::CreateBuiltinVideoEncoderFactory();
  media.video_decoder_factory = webrtc::CreateBuiltinVideoDecoderFactory();
  media.trials = dependencies.trials.get();
  dependencies.media_engine = cricket::CreateMediaEngine(std::move(media));
  result->factory_ = webrtc::CreateModularPeerConnectionFactory(std::move(dependencies));
  return result->factory_ == nullptr ? nullptr : std::move(result);
}

namespace {

class BoundNetwork final : public rtc::NetworkManagerBase {
 public:
  explicit BoundNetwork(const rtc::IPAddress& address) : address_(address) {}

  void StartUpdating() override {
    // As libwebrtc's own: the first signal comes from the message loop, not from within this call.
    rtc::Thread::Current()->PostTask([this] {
      bool changed = false;
      std::vector<std::unique_ptr<rtc::Network>> networks;
      networks.push_back(
          std::make_unique<rtc::Network>("bound", "bound", address_, kPrefixLength, rtc::ADAPTER_TYPE_ETHERNET));
      networks.back()->set_default_local_address_provider(this);
      networks.back()->AddIP(address_);
      MergeNetworkList(std::move(networks), &changed);
      SignalNetworksChanged();
    });
  }
  void StopUpdating() override {}

 private:
  static constexpr int kPrefixLength = 32;

  const rtc::IPAddress address_;
};

}  // namespace

std::unique_ptr<rtc::NetworkManager> MakeBoundNetwork(const rtc::IPAddress& address) {
  return std::make_unique<BoundNetwork>(address);
}

namespace {

constexpr webrtc::TimeDelta kProcessInterval = webrtc::TimeDelta::Millis(25);

class BoundedGcc final : public webrtc::GoogCcNetworkController {
 public:
  explicit BoundedGcc(webrtc::NetworkControllerConfig config)
      : webrtc::GoogCcNetworkController(std::move(config), webrtc::GoogCcConfig()) {}

  webrtc::NetworkControlUpdate OnTransportPacketsFeedback(webrtc::TransportPacketsFeedback feedback) override {
    webrtc::NetworkControlUpdate update = GoogCcNetworkController::OnTransportPacketsFeedback(feedback);
    adapter::StopLossBasedEstimate(*this);
    return update;
  }
};

class BoundedGccFactory final : public webrtc::NetworkControllerFactoryInterface {
 public:
  std::unique_ptr<webrtc::NetworkControllerInterface> Create(webrtc::NetworkControllerConfig config) override {
    return std::make_unique<BoundedGcc>(std::move(config));
  }
  webrtc::TimeDelta GetProcessInterval() const override { return kProcessInterval; }
};

}  // namespace

std::unique_ptr<webrtc::FieldTrialsView> MakeGccFieldTrials() {
  return std::make_unique<adapter::FieldTrialsOfController>(ParseFieldTrials(adapter::kDefaultGccTrials).value());
}

std::unique_ptr<webrtc::NetworkControllerFactoryInterface> MakeGccNetworkControllerFactory() {
  return std::make_unique<BoundedGccFactory>();
}

}  // namespace weir::peer
