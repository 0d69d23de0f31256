#include "peer.h"

#include <algorithm>
#include <utility>

#include "api/make_ref_counted.h"
#include "api/stats/rtc_stats_collector_callback.h"
#include "api/stats/rtcstats_objects.h"
#include "playout_field_trials.h"
#include "programs/input.h"
#include "record_lines.h"
#include "sender/observing_network_controller.h"
#include "sender/repair_fec_controller.h"
#include "sender/weir_network_controller.h"

namespace weir::peer {
namespace {

using webrtc::PeerConnectionInterface;

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

// True if FEC is worth its price as soon as anything is lost.
bool IsSlowRepair(TimeDelta round_trip_time) {
  return round_trip_time + RepairPolicy::kDetectionTime >= RepairPolicy::kSlowRepair;
}

}  // namespace

Peer::Peer(const Options& options, JsonLines* lines, std::function<void(std::string)> on_failure, Runtime runtime)
    : options_(options), lines_(lines), on_failure_(std::move(on_failure)), runtime_(std::move(runtime)) {}

std::unique_ptr<Peer> Peer::Create(const Options& options, std::unique_ptr<FrameSource> frames,
                                   ControllerFactory controller, JsonLines* lines,
                                   std::function<void(std::string)> on_failure, Runtime runtime) {
  std::unique_ptr<Peer> peer(new Peer(options, lines, std::move(on_failure), std::move(runtime)));
  const auto write_error = [lines](const std::string& message) { lines->WriteError(message, false); };
  if (!options.frames.empty()) {
    peer->received_frames_ = ReceivedFrames::Open(
        options.frames, options.frames_width, options.frames_height, peer->runtime_.frames_written_at_once,
        [&clock = peer->sender_clock_](uint32_t ssrc, uint32_t rtp) { return clock.CaptureTimeMicros(ssrc, rtp); },
        write_error);
  }
  if (options.receive) {
    std::function<void(const ReceiveSideDecision&)> on_decision = peer->runtime_.on_decision;
    if (!on_decision)
      on_decision = [lines](const ReceiveSideDecision& decision) { lines->Write(EstimateLine(decision)); };
    if (options.controller == ReceiveSideMode::kWeir && options.repair != RepairMode::kFec)
      peer->wants_fec_ = peer->accepts_fec_ = false;
    if (peer->chooses_repair()) {
      if (peer->runtime_.round_trip_time)
        peer->accepts_fec_ = peer->wants_fec_ = IsSlowRepair(*peer->runtime_.round_trip_time);
      on_decision = [made = peer.get(), on_decision](const ReceiveSideDecision& decision) {
        on_decision(decision);
        made->OnRepair(decision.repair);
      };
    }
    peer->receive_side_ =
        OrThrow(ReceiveSideSwitch::Create({.mode = options.controller,
                                           .sender_decides_too = options.pool && options.pool->sender_has_gcc,
                                           .changes_sdp = false,
                                           .controller = controller,
                                           .objective = options.objective,
                                           .constraints = options.bitrate,
                                           .guard = peer->runtime_.guard,
                                           .guard_rules = peer->runtime_.guard_rules,
                                           .on_decision = on_decision}),
                "", kFailed);
  }
  ConnectionFactoryConfig config{.controller = options.controller,
                                 .network_controller = nullptr,
                                 .fec_controller = nullptr,
                                 .congestion_control_feedback = options.at_sender == "weir-send-ccfb",
                                 .field_trials = options.field_trials,
                                 .runtime = &peer->runtime_,
                                 .audio_capturer = nullptr,
                                 .audio_renderer = nullptr,
                                 .rtcp_observer = {}};
  if (options.limit_playout) config.field_trials.merge(PlayoutFieldTrials());
  if (!options.audio_file.empty()) config.audio_capturer = OpenAudioFile(options.audio_file);
  if (!options.received_audio.empty()) config.audio_renderer = RecordAudio(options.received_audio, write_error);
  const bool weir_decides = !options.at_sender.empty();
  WeirNetworkControllerOptions at_sender{
      .controller = std::move(controller), .objective = options.objective, .on_target_rate = nullptr};
  if (weir_decides) {
    at_sender.on_target_rate = peer->runtime_.on_sender_estimate;
    if (!at_sender.on_target_rate) {
      at_sender.on_target_rate = [lines, name = options.at_sender](const Estimate& estimate) {
        lines->Write(SenderEstimateLine(name, estimate));
      };
    }
    at_sender.return_path = std::make_shared<ReturnPath>();
    if (options.repair == RepairMode::kAdaptive)
      config.fec_controller = MakeRepairFecControllerFactory(at_sender.return_path);
    if (options.repair == RepairMode::kNack) config.field_trials["WebRTC-DisableUlpFecExperiment"] = "Enabled";
  }
  if (peer->runtime_.on_observation) {
    config.network_controller =
        OrThrow(MakeObservingNetworkControllerFactory({.weir = std::move(at_sender),
                                                       .is_weir_in_charge = [weir_decides] { return weir_decides; },
                                                       .on_observation = peer->runtime_.on_observation}),
                "", kFailed);
  } else if (weir_decides) {
    config.network_controller = OrThrow(MakeWeirNetworkControllerFactory(std::move(at_sender)), "", kFailed);
  }
  config.rtcp_observer.on_remb_sent = [lines](DataRate rate) {
    lines->Write({{"type", "remb"}, {"bitrate_bps", rate.bps()}});
  };
  config.rtcp_observer.on_sender_report = [&clock = peer->sender_clock_](uint32_t ssrc, webrtc::NtpTime ntp,
                                                                         uint32_t rtp) {
    clock.OnSenderReport(ssrc, ntp, rtp);
  };
  // A receiver other than weir-peer identifies a frame only by its RTP timestamp.
  config.rtcp_observer.on_sender_report_sent = [lines, &clock = peer->sent_clock_](uint32_t ssrc, webrtc::NtpTime ntp,
                                                                                   uint32_t rtp) {
    clock.OnSenderReport(ssrc, ntp, rtp);
    const auto capture_time_us = clock.CaptureTimeMicros(ssrc, rtp);
    if (!capture_time_us) return;
    lines->Write(
        {{"type", "sender_report"}, {"ssrc", ssrc}, {"rtp_timestamp", rtp}, {"capture_time_us", *capture_time_us}});
  };
  peer->signaling_thread_ = peer->runtime_.signaling_thread;
  if (peer->signaling_thread_ == nullptr) {
    peer->own_signaling_thread_ = webrtc::Thread::Create();
    peer->signaling_thread_ = peer->own_signaling_thread_.get();
    peer->signaling_thread_->SetName("signaling", nullptr);
    peer->signaling_thread_->Start();
  }
  peer->factory_ = MakeConnectionFactory(std::move(config), peer->signaling_thread_);
  if (peer->factory_ == nullptr) throw ProgramError("libwebrtc cannot be started", kFailed);
  if (peer->receive_side_ != nullptr) peer->receive_side_->Install();
  const std::optional<Error> fault =
      peer->signaling_thread_->BlockingCall([&] { return peer->Open(std::move(frames)); });
  // The peer has its estimator; other calls of this process get theirs elsewhere.
  if (peer->receive_side_ != nullptr) ReceiveSideSwitch::Uninstall();
  if (fault) throw ProgramError(fault->message, kFailed);
  return peer;
}

Peer::~Peer() {
  if (factory_ == nullptr) return;
  signaling_thread_->BlockingCall([this] {
    if (alive_ != nullptr) alive_->SetNotAlive();
    for (auto* const sink : FrameSinks()) {
      if (remote_track_ != nullptr) remote_track_->RemoveSink(sink);
    }
    remote_track_ = nullptr;
    if (connection_ != nullptr) connection_->Close();
    connection_ = nullptr;
  });
  factory_ = nullptr;
}

std::optional<Error> Peer::Open(std::unique_ptr<FrameSource> frames) {
  alive_ = webrtc::PendingTaskSafetyFlag::Create();
  auto connection =
      factory_->CreatePeerConnectionOrError(ConnectionConfiguration(), webrtc::PeerConnectionDependencies(this));
  if (!connection.ok()) return Error{std::string("cannot open a connection: ") + connection.error().message()};
  connection_ = connection.MoveValue();
  if (!runtime_.event_log.empty()) {
    auto output = OpenEventLog(runtime_.event_log);
    if (output == nullptr || !connection_->StartRtcEventLog(std::move(output)))
      return Error{"cannot write the event log " + runtime_.event_log};
  }
  if (frames != nullptr) {
    if (auto fault = AddLocalMedia(std::move(frames))) return fault;
    SetSendBitrate(options_.bitrate, /*restart=*/true);
  }
  ScheduleStats();
  return std::nullopt;
}

void Peer::Execute(Command command) {
  signaling_thread_->PostTask(WhileAlive([this, command = std::move(command)] {
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
  static_cast<void>(receive_side_->ConfigurePool(ToString(wanted)));
}

void Peer::Run(const BitrateCommand& command) {
  if (receive_side_ != nullptr && receive_side_->SetConstraints(command.bitrate)) Refuse("bitrates are not valid");
  if (options_.send) SetSendBitrate(command.bitrate, command.restart);
}

void Peer::WriteStats() {
  connection_->GetStats(webrtc::make_ref_counted<OnStats>(WhileAlive([this](const webrtc::RTCStatsReport& report) {
                          lines_->Write({{"type", "stats"}, {"report", StatsReport(report)}});
                        })).get());
}

void Peer::MeasureRoundTrip() {
  connection_->GetStats(webrtc::make_ref_counted<OnStats>(WhileAlive([this](const webrtc::RTCStatsReport& report) {
                          for (const auto* pair : report.GetStatsOfType<webrtc::RTCIceCandidatePairStats>()) {
                            if (pair->nominated.value_or(false) && pair->current_round_trip_time)
                              OnRoundTrip(TimeDelta::SecondsF(*pair->current_round_trip_time));
                          }
                        })).get());
}

void Peer::OnRoundTrip(TimeDelta round_trip_time) {
  if (repair_ != Repair::kNone) return;
  wants_fec_ = IsSlowRepair(round_trip_time);
  RenegotiateFec();
}

void Peer::ScheduleStats() {
  signaling_thread_->PostDelayedTask(WhileAlive([this] {
                                       WriteStats();
                                       ScheduleStats();
                                     }),
                                     webrtc::TimeDelta::Millis(options_.stats_interval_ms));
}

void Peer::OnStandardizedIceConnectionChange(PeerConnectionInterface::IceConnectionState state) {
  if (!runtime_.encrypted && !was_connected_ && state == PeerConnectionInterface::kIceConnectionConnected)
    OnConnectionChange(PeerConnectionInterface::PeerConnectionState::kConnected);
}

void Peer::OnConnectionChange(PeerConnectionInterface::PeerConnectionState state) {
  using State = PeerConnectionInterface::PeerConnectionState;
  lines_->Write({{"type", "state"}, {"state", PeerConnectionInterface::AsString(state)}});
  const int change = ++connection_changes_;
  if (state == State::kConnected) {
    was_connected_ = true;
    if (chooses_repair() && !runtime_.round_trip_time) MeasureRoundTrip();
    // REMBs from before the transport was ready are lost.
    if (receive_side_ != nullptr) receive_side_->RepeatRemb();
  }
  if (runtime_.restarts_ice) {
    // The offerer restarts; the other end has failed as well, or learns the new candidates.
    if (state == State::kFailed && options_.send) RestartIce();
    return;
  }
  if (state == State::kDisconnected)
    FailUnless([this, change] { return connection_changes_ != change; }, kReconnectTime, "the connection was lost");
  if (state == State::kFailed) Fail("the connection failed");
}

void Peer::FailUnless(std::function<bool()> has_recovered, webrtc::TimeDelta after, std::string reason) {
  signaling_thread_->PostDelayedTask(
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
