#include "connection_factory.h"

#include <string>
#include <utility>
#include <vector>

#include "api/audio_codecs/audio_decoder_factory_template.h"
#include "api/audio_codecs/audio_encoder_factory_template.h"
#include "api/audio_codecs/opus/audio_decoder_opus.h"
#include "api/audio_codecs/opus/audio_encoder_opus.h"
#include "api/create_modular_peer_connection_factory.h"
#include "api/enable_media.h"
#include "api/environment/environment_factory.h"
#include "api/field_trials.h"
#include "api/video_codecs/builtin_video_decoder_factory.h"
#include "api/video_codecs/builtin_video_encoder_factory.h"
#include "rtc_base/thread.h"
#include "sender/remb_network_controller.h"

namespace weir::peer {
namespace {

constexpr int16_t kAmplitude = 1'000;

// libwebrtc ignores an injected controller factory unless this trial is on.
constexpr char kInjectedController[] = "WebRTC-Bwe-InjectedCongestionController";
// Offers RFC 8888 feedback, or answers an offer with it.
constexpr char kRfc8888Feedback[] = "WebRTC-RFC8888CongestionControlFeedback";

// The device runs in real time, so that audio is played as in a call.
webrtc::scoped_refptr<webrtc::AudioDeviceModule> MakeAudioDevice(const webrtc::Environment& environment,
                                                                 std::unique_ptr<AudioCapturer> capturer,
                                                                 std::unique_ptr<AudioRenderer> renderer) {
  using webrtc::TestAudioDeviceModule;
  if (capturer == nullptr) capturer = TestAudioDeviceModule::CreatePulsedNoiseCapturer(kAmplitude, kAudioRateHz);
  if (renderer == nullptr) renderer = TestAudioDeviceModule::CreateDiscardRenderer(kAudioRateHz);
  return TestAudioDeviceModule::Create(environment, std::move(capturer), std::move(renderer));
}

}  // namespace

webrtc::scoped_refptr<webrtc::PeerConnectionFactoryInterface> MakeConnectionFactory(ConnectionFactoryConfig config,
                                                                                    webrtc::Thread* signaling_thread) {
  webrtc::PeerConnectionFactoryDependencies dependencies;
  dependencies.signaling_thread = signaling_thread;
  Runtime& runtime = *config.runtime;
  dependencies.event_log_factory = MakeRtcpObserverFactory(config.rtcp_observer, !runtime.event_log.empty());
  webrtc::EnvironmentFactory environment;
  environment.Set(runtime.clock);
  environment.Set(runtime.task_queues);
  dependencies.worker_thread = runtime.worker_thread;
  dependencies.network_thread = runtime.network_thread;
  dependencies.socket_factory = runtime.socket_factory;
  dependencies.network_manager = std::move(runtime.network_manager);
  dependencies.fec_controller_factory = std::move(config.fec_controller);
  dependencies.network_controller_factory = std::move(config.network_controller);
  if (dependencies.network_controller_factory == nullptr && config.controller == ReceiveSideMode::kWeir)
    dependencies.network_controller_factory = MakeRembNetworkControllerFactory();
  if (dependencies.network_controller_factory != nullptr) config.field_trials[kInjectedController] = "Enabled";
  if (config.congestion_control_feedback) {
    config.field_trials[kRfc8888Feedback] = "Enabled,offer:true";
  } else if (config.controller == ReceiveSideMode::kGcc) {
    config.field_trials.try_emplace(kRfc8888Feedback, "Enabled");
  }
  environment.Set(std::make_unique<webrtc::FieldTrials>(ToString(config.field_trials)));
  dependencies.env = environment.Create();
  dependencies.adm =
      MakeAudioDevice(*dependencies.env, std::move(config.audio_capturer), std::move(config.audio_renderer));
  // The built-in factories of audio codecs have more than Opus.
  dependencies.audio_encoder_factory = runtime.audio_encoders != nullptr
                                           ? runtime.audio_encoders
                                           : webrtc::CreateAudioEncoderFactory<webrtc::AudioEncoderOpus>();
  dependencies.audio_decoder_factory = runtime.audio_decoders != nullptr
                                           ? runtime.audio_decoders
                                           : webrtc::CreateAudioDecoderFactory<webrtc::AudioDecoderOpus>();
  dependencies.video_encoder_factory =
      runtime.encoders ? std::move(runtime.encoders) : webrtc::CreateBuiltinVideoEncoderFactory();
  dependencies.video_decoder_factory =
      runtime.decoders ? std::move(runtime.decoders) : webrtc::CreateBuiltinVideoDecoderFactory();
  webrtc::EnableMedia(dependencies);
  auto factory = webrtc::CreateModularPeerConnectionFactory(std::move(dependencies));
  if (factory != nullptr && !runtime.encrypted) {
    webrtc::PeerConnectionFactoryInterface::Options options;
    options.disable_encryption = true;
    factory->SetOptions(options);
  }
  return factory;
}

webrtc::PeerConnectionInterface::RTCConfiguration ConnectionConfiguration() {
  using webrtc::PeerConnectionInterface;
  PeerConnectionInterface::RTCConfiguration config;
  config.sdp_semantics = webrtc::SdpSemantics::kUnifiedPlan;
  config.bundle_policy = PeerConnectionInterface::kBundlePolicyMaxBundle;
  config.rtcp_mux_policy = PeerConnectionInterface::kRtcpMuxPolicyRequire;
  config.tcp_candidate_policy = PeerConnectionInterface::kTcpCandidatePolicyDisabled;
  config.set_prerenderer_smoothing(false);
  return config;
}

}  // namespace weir::peer
