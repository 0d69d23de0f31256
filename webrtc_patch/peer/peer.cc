#include "peer.h"

#include <algorithm>
#include <utility>

#include "api/make_ref_counted.h"
#include "api/stats/rtc_stats_collector_callback.h"
#include "program/input.h"
#include "record_lines.h"
#include "sender/weir_network_controller.h"

namespace weir::peer {
namespace {

using webrtc::PeerConnectionInterface;

const char* StateName(PeerConnectionInterface::PeerConnectionState state) {
  using State = PeerConnectionInterface::PeerConnectionState;
  switch (state) {
    case State::kNew:
      return "new";
    case State::kConnecting:
      return "connecting";
    case State::kConnected:
      return "connected";
    case State::kDisconnected:
      return "disconnected";
    case State::kFailed:
      return "failed";
    case State::kClosed:
      return "closed";
  }
  return "unknown";
}

class OnStats : public webrtc::RTCStatsCollectorCallback {
 public:
  using Function = std::function<void(const webrtc::RTCStatsReport&)>;
  explicit OnStats(Function function) : function_(std::move(function)) {}
  void OnStatsDelivered(const webrtc::scoped_refptr<const webrtc::RTCStatsReport>& report) override {
    function_(*report);
  }

 private:
  const Function function_;
};

}  // namespace

Peer::Peer(const Options& options, PeerOutputs outputs, std::function<void(std::string)> on_failure)
    : options_(options), outputs_(outputs), on_failure_(std::move(on_failure)) {}

std::unique_ptr<Peer> Peer::Create(const Options& options, std::unique_ptr<FrameSource> frames,
                                   ControllerFactory controller, PeerOutputs outputs,
                                   std::function<void(std::string)> on_failure) {
  std::unique_ptr<Peer> peer(new Peer(options, outputs, std::move(on_failure)));
  if (!options.frames.empty()) {
    peer->received_frames_ = ReceivedFrames::Open(
        options.frames, options.frames_width, options.frames_height,
        [&clock = peer->sender_clock_](uint32_t ssrc, uint32_t rtp) { return clock.CaptureTimeMicros(ssrc, rtp); },
        [lines = outputs.lines](const std::string& message) { lines->WriteError(message, false); });
  }
  if (options.receive) {
    peer->receive_side_ =
        OrThrow(ReceiveSideSwitch::Create({.mode = options.controller,
                                           .sender_decides_too = options.pool && options.pool->sender_has_gcc,
                                           .controller = controller,
                                           .objective = options.objective,
                                           .constraints = options.bitrate,
                                           .on_decision =
                                               [estimates = outputs.estimates](const ReceiveSideDecision& decision) {
                                                 estimates->Write(EstimateLine(decision));
                                               }}),
                "", kFailed);
    peer->receive_side_->Install();
    MeasureEstimators(peer->estimator_cpu_time_);
  }
  ConnectionFactoryConfig config{.controller = options.controller,
                                 .network_controller = nullptr,
                                 .field_trials = options.field_trials,
                                 .bind_address = {},
                                 .audio_capturer = nullptr,
                                 .audio_renderer = nullptr,
                                 .rtcp_observer = {}};
  if (!options.audio_file.empty()) config.audio_capturer = OpenAudioFile(options.audio_file);
  if (!options.received_audio.empty()) {
    config.audio_renderer = RecordAudio(options.received_audio, [lines = outputs.lines](const std::string& message) {
      lines->WriteError(message, false);
    });
  }
  if (options.weir_at_sender) {
    config.network_controller =
        OrThrow(MakeWeirNetworkControllerFactory(
                    {.controller = std::move(controller),
                     .objective = options.objective,
                     .on_target_rate = [lines = outputs.estimates](
                                           const Estimate& estimate) { lines->Write(SenderEstimateLine(estimate)); }}),
                "", kFailed);
  }
  webrtc::IPFromString(options.bind_address, &config.bind_address);
  config.rtcp_observer.on_remb_sent = [lines = outputs.lines](DataRate rate) {
    lines->Write({{"type", "remb"}, {"bitrate_bps", rate.bps()}});
  };
  config.rtcp_observer.on_sender_report = [&clock = peer->sender_clock_](uint32_t ssrc, webrtc::NtpTime ntp,
                                                                         uint32_t rtp) {
    clock.OnSenderReport(ssrc, ntp, rtp);
  };
  // A receiver other than weir-peer identifies a frame only by its RTP timestamp.
  config.rtcp_observer.on_sender_report_sent = [lines = outputs.lines, &clock = peer->sent_clock_](
                                                   uint32_t ssrc, webrtc::NtpTime ntp, uint32_t rtp) {
    clock.OnSenderReport(ssrc, ntp, rtp);
    const auto capture_time_us = clock.CaptureTimeMicros(ssrc, rtp);
    if (!capture_time_us) return;
    lines->Write(
        {{"type", "sender_report"}, {"ssrc", ssrc}, {"rtp_timestamp", rtp}, {"capture_time_us", *capture_time_us}});
  };
  peer->factory_ = ConnectionFactory::Create(std::move(config));
  if (peer->factory_ == nullptr) throw ProgramError("libwebrtc cannot be started", kFailed);
  const std::optional<Error> fault =
      peer->factory_->signaling_thread().BlockingCall([&] { return peer->Open(std::move(frames)); });
  if (fault) throw ProgramError(fault->message, kFailed);
  return peer;
}

Peer::~Peer() {
  if (factory_ == nullptr) return;
  factory_->signaling_thread().BlockingCall([this] {
    if (alive_ != nullptr) alive_->SetNotAlive();
    if (remote_track_ != nullptr) remote_track_->RemoveSink(received_frames_.get());
    remote_track_ = nullptr;
    if (connection_ != nullptr) connection_->Close();
    connection_ = nullptr;
  });
  factory_.reset();
  if (receive_side_ != nullptr) ReceiveSideSwitch::Uninstall();
}

std::optional<Error> Peer::Open(std::unique_ptr<FrameSource> frames) {
  alive_ = webrtc::PendingTaskSafetyFlag::Create();
  PeerConnectionInterface::RTCConfiguration config;
  config.sdp_semantics = webrtc::SdpSemantics::kUnifiedPlan;
  config.bundle_policy = PeerConnectionInterface::kBundlePolicyMaxBundle;
  config.rtcp_mux_policy = PeerConnectionInterface::kRtcpMuxPolicyRequire;
  config.tcp_candidate_policy = PeerConnectionInterface::kTcpCandidatePolicyDisabled;
  // As in browsers: a decoded picture is delivered at once, with its render time.
  config.set_prerenderer_smoothing(false);
  auto connection = (*factory_)->CreatePeerConnectionOrError(config, webrtc::PeerConnectionDependencies(this));
  if (!connection.ok()) return Error{std::string("cannot open a connection: ") + connection.error().message()};
  connection_ = connection.MoveValue();
  if (frames != nullptr) {
    if (auto fault = AddLocalMedia(std::move(frames))) return fault;
    SetSendBitrate(options_.bitrate, /*restart=*/true);
  }
  ScheduleStats();
  return std::nullopt;
}

void Peer::Execute(Command command) {
  factory_->signaling_thread().PostTask(WhileAlive([this, command = std::move(command)] {
    if (!failed_) std::visit([this](const auto& one) { Run(one); }, command);
  }));
}

void Peer::Run(const StatsCommand&) { WriteStats(); }

void Peer::Run(const ObjectiveCommand& command) {
  if (receive_side_ == nullptr) return Refuse("an objective is for a peer that receives");
  if (const auto error = receive_side_->SetObjective(command.objective)) Refuse(error->message);
}

void Peer::Run(const ControllerCommand& command) {
  if (receive_side_ == nullptr) return Refuse("a controller can be changed only in a peer that receives");
  receive_side_->SetMode(command.mode);
}

void Peer::Run(const PoolCommand& command) {
  if (receive_side_ == nullptr) return Refuse("a pool is for a peer that receives");
  if (!options_.pool) return Refuse("this call has no pool; give one as --controller");
  const auto split = SplitPool(command.pool);
  if (!split) return Refuse(split.error());
  const auto& [wanted, wants_gcc] = split.value();
  if (wants_gcc != options_.pool->sender_has_gcc)
    return Refuse("gcc can be added to or removed from the pool only before the call");
  const PoolSpecification& made = options_.pool->at_receiver;
  const auto is_there = [&made](const std::string& member) {
    return member == made.pilot || std::find(made.copilots.begin(), made.copilots.end(), member) != made.copilots.end();
  };
  if (!is_there(wanted.pilot) || !std::all_of(wanted.copilots.begin(), wanted.copilots.end(), is_there))
    return Refuse("the pool has no such member; members are set before the call");
  receive_side_->ConfigurePool(wanted);
}

void Peer::Run(const BitrateCommand& command) {
  if (receive_side_ != nullptr && receive_side_->SetConstraints(command.bitrate)) Refuse("bitrates are not valid");
  if (options_.send) SetSendBitrate(command.bitrate, command.restart);
}

void Peer::WriteStats() {
  connection_->GetStats(webrtc::make_ref_counted<OnStats>(WhileAlive([this](const webrtc::RTCStatsReport& report) {
                          outputs_.lines->Write(
                              {{"type", "stats"},
                               {"report", StatsReport(report)},
                               {"estimator_cpu_s", static_cast<double>(estimator_cpu_time_->load()) * 1e-9}});
                        })).get());
}

void Peer::ScheduleStats() {
  factory_->signaling_thread().PostDelayedTask(WhileAlive([this] {
                                                 WriteStats();
                                                 ScheduleStats();
                                               }),
                                               webrtc::TimeDelta::Millis(options_.stats_interval_ms));
}

void Peer::OnConnectionChange(PeerConnectionInterface::PeerConnectionState state) {
  using State = PeerConnectionInterface::PeerConnectionState;
  outputs_.lines->Write({{"type", "state"}, {"state", StateName(state)}});
  const int change = ++connection_changes_;
  if (state == State::kConnected) {
    was_connected_ = true;
    // A REMB from before the transport was ready got lost.
    if (receive_side_ != nullptr) receive_side_->RepeatRemb();
  }
  if (state == State::kDisconnected)
    FailUnless([this, change] { return connection_changes_ != change; }, kReconnectTime, "the connection was lost");
  if (state == State::kFailed) Fail("the connection failed");
}

void Peer::FailUnless(std::function<bool()> has_recovered, webrtc::TimeDelta after, std::string reason) {
  factory_->signaling_thread().PostDelayedTask(
      WhileAlive([this, has_recovered = std::move(has_recovered), reason = std::move(reason)] {
        if (!has_recovered()) Fail(reason);
      }),
      after);
}

void Peer::Fail(const std::string& reason) {
  if (std::exchange(failed_, true)) return;
  on_failure_(reason);
}

}  // namespace weir::peer
