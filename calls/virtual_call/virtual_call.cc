#include "virtual_call/virtual_call.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "api/test/time_controller.h"
#include "flows/estimator_record.h"
#include "programs/input.h"
#include "virtual_call/call_streams.h"
#include "virtual_call/observed_encoder.h"
#include "virtual_call/peer_setup.h"
#include "weir/playout_delay.h"

namespace weir::sim {
namespace {

// Also the interval of Chromium's receiver reports on video.
constexpr SimDuration kStatsInterval = SimDuration::Seconds(1);

}  // namespace

using nlohmann::ordered_json;

// Handles a peer's lines at once.
class VirtualCall::Lines final : public JsonLines {
 public:
  Lines(VirtualCall* call, CallEnd end) : call_(call), end_(end) {}
  void Write(ordered_json line) override {
    call_->clock_->Guarded([&] { call_->OnLine(end_, std::move(line)); });
  }

 private:
  VirtualCall* const call_;
  const CallEnd end_;
};

VirtualCall::VirtualCall(const Flow& flow, webrtc::test::NetworkEmulationManagerImpl* network, VirtualClock* clock)
    : flow_(flow),
      end_(flow.job.scenario.end()),
      clock_(clock),
      network_(network),
      controller_(flow, clock),
      frames_(clock, controller_.is_agent() ? &viewing_ : nullptr),
      media_packets_(flow, &frames_),
      rtcp_packets_(flow.observer),
      sender_noise_(flow.Random(kSenderNoiseStream)),
      receiver_noise_(flow.Random(kReceiverNoiseStream)) {
  if (controller_.place() != CallController::Place::kReceiver) observations_ = ObservationFile::Open(flow);
  webrtc::EmulatedEndpointImpl* const left = network_->CreateEndpoint({});
  webrtc::EmulatedEndpointImpl* const right = network_->CreateEndpoint({});
  media_path_ = MakePath(flow_.data_link, left, right, &media_packets_, &receiver_noise_);
  rtcp_path_ = MakePath(flow_.return_link, right, left, &rtcp_packets_, &sender_noise_);
  MakePeer(CallEnd::kSender, left);
  MakePeer(CallEnd::kReceiver, right);
  sender_.peer->HoldMedia(true);
}

VirtualCall::~VirtualCall() {
  media_path_->Stop();
  rtcp_path_->Stop();
  receiver_.peer = nullptr;
  sender_.peer = nullptr;
}

std::unique_ptr<CallPath> VirtualCall::MakePath(Link* link, webrtc::EmulatedEndpointImpl* from,
                                                webrtc::EmulatedEndpointImpl* to, PathObserver* observer,
                                                HostNoise* noise) {
  return std::make_unique<CallPath>(CallPathConfig{.clock = clock_,
                                                   .link = link,
                                                   .extra_delay = flow_.spec().extra_one_way_delay,
                                                   .from = from,
                                                   .to = to,
                                                   .observer = observer,
                                                   .host_delay = [noise](SimTime time) { return noise->Delay(time); }});
}

void VirtualCall::MakePeer(CallEnd end, webrtc::EmulatedEndpointImpl* endpoint) {
  const bool sends = end == CallEnd::kSender;
  End& made = sends ? sender_ : receiver_;
  made.worker = network_->time_controller()->CreateThread(sends ? "sender" : "receiver");
  made.lines = std::make_unique<Lines>(this, end);
  peer::Runtime runtime = MakeRuntime(made.worker.get(), endpoint);
  if (sends) {
    AddSender(runtime);
  } else {
    AddReceiver(runtime);
  }
  const auto on_failure = [this](const std::string& reason) { clock_->Guarded([&] { Fail(" failed: " + reason); }); };
  made.peer = peer::Peer::Create(MakePeerOptions(end, flow_, controller_), sends ? MakePictures(flow_) : nullptr,
                                 sends && observations_ && controller_.place() == CallController::Place::kLibwebrtc
                                     ? ObservationFile::Observer()
                                     : controller_.FactoryAt(end),
                                 made.lines.get(), on_failure, std::move(runtime));
}

peer::Runtime VirtualCall::MakeRuntime(webrtc::Thread* worker, webrtc::EmulatedEndpointImpl* endpoint) const {
  webrtc::EmulatedNetworkManagerInterface* const interface =
      network_->CreateEmulatedNetworkManagerInterface({endpoint});
  webrtc::TimeController* const time = network_->time_controller();
  peer::Runtime runtime;
  runtime.clock = time->GetClock();
  runtime.task_queues = time->GetTaskQueueFactory();
  runtime.signaling_thread = time->GetMainThread();
  runtime.worker_thread = worker;
  runtime.network_thread = interface->network_thread();
  runtime.socket_factory = interface->socket_factory();
  runtime.network_manager = interface->ReleaseNetworkManager();
  runtime.encrypted = false;
  runtime.restarts_ice = true;
  SetCodecs(flow_, runtime);
  return runtime;
}

void VirtualCall::AddSender(peer::Runtime& runtime) {
  // A camera repeats its file and starts at a random picture of it.
  constexpr int64_t kPicturesInSource = 300;
  RandomStream camera = flow_.Random(kCameraStream);
  runtime.camera = {
      .phase = webrtc::TimeDelta::Micros(std::llround(camera.Uniform(0, 1e6 / CaptureRate(flow_.rtp().media)))),
      .first_picture = camera.UniformInteger(0, kPicturesInSource - 1),
      .lateness = [this] { return webrtc::TimeDelta::Micros(sender_noise_.CameraLateness().us()); }};
  runtime.encoders = ObserveEncoders(
      MakeEncoders(flow_), &frames_,
      [this](DataRate rate) {
        if (controller_.place() == CallController::Place::kLibwebrtc) OnTargetRate(rate);
      },
      &playout_delay_);
  if (!flow_.job.call.native_sender) runtime.max_encoder_rate = flow_.rtp().media.max_rate;
  runtime.sends_at_once = false;
  runtime.event_log = LogPath("WEIR_EVENT_LOGS", flow_, ".rtceventlog");
  if (observations_)
    runtime.on_observation = [this](const Observation& observation) { observations_->Write(observation); };
  runtime.on_sender_estimate = [this](const Estimate& estimate) { OnTargetRate(estimate.target_rate); };
}

void VirtualCall::AddReceiver(peer::Runtime& runtime) {
  const auto delay = [this](const LinkSpec& link) { return link.one_way_delay.At(flow_.spec().start).us(); };
  const Scenario& scenario = flow_.job.scenario;
  runtime.round_trip_time =
      TimeDelta::Micros(delay(scenario.forward) + delay(scenario.reverse) + 2 * flow_.spec().extra_one_way_delay.us());
  runtime.frame_sink = &frames_;
  runtime.guard = controller_.is_guarded();
  runtime.guard_rules = controller_.guard_rules();
  runtime.on_decision = [this](const ReceiveSideDecision& decision) {
    counters_ = decision.counters;
    pool_ = decision.pool;
    OnTargetRate(decision.estimate.target_rate);
  };
}

std::vector<VirtualEnds::Step> VirtualCall::Steps() {
  std::vector<Step> steps;
  const auto add = [&](SimTime time, void (VirtualCall::*action)()) {
    steps.push_back({time, [this, action] { (this->*action)(); }});
  };
  add(flow_.spec().start, &VirtualCall::SendMedia);
  for (const auto& [from, to] : flow_.rtp().pauses) {
    add(from, &VirtualCall::HoldMedia);
    add(to, &VirtualCall::SendMedia);
  }
  for (const auto& [from, to] : flow_.rtp().media.video_pauses) {
    add(from, &VirtualCall::HoldVideo);
    add(to, &VirtualCall::SendVideo);
  }
  add(flow_.spec().stop, &VirtualCall::HoldMedia);
  for (SimTime time = flow_.spec().start; time < flow_.spec().stop; time = time + kStatsInterval)
    add(time, &VirtualCall::RequestStats);
  return steps;
}

void VirtualCall::Connect() { sender_.peer->Execute(peer::StartCommand{}); }

void VirtualCall::UseLinks() {
  media_path_->UseLink();
  rtcp_path_->UseLink();
  if (observations_) observations_->Begin(Timestamp::Micros(clock_->start_us()));
}

void VirtualCall::RequestStats() {
  sender_.peer->Execute(peer::StatsCommand{});
  receiver_.peer->Execute(peer::StatsCommand{});
}

void VirtualCall::OnSenderStats(const ordered_json& report) {
  if (!controller_.SenderLimitsPlayout(flow_.job.call.playout)) return;
  for (const ordered_json& entry : report) {
    if (entry["type"] != "remote-inbound-rtp" || entry.value("kind", "") != "video") continue;
    if (!entry.contains("roundTripTime")) return;
    const TimeDelta max =
        MaxPlayoutDelay({.jitter = TimeDelta::SecondsF(entry.value("jitter", 0.0)),
                         .round_trip_time = TimeDelta::SecondsF(entry.value("roundTripTime", 0.0)),
                         .frame_interval = TimeDelta::SecondsF(1 / CaptureRate(flow_.rtp().media))},
                        playout_delay_ ? TimeDelta::Millis(playout_delay_->max().ms()) : TimeDelta::Zero());
    playout_delay_.emplace(webrtc::TimeDelta::Millis(kMinPlayoutDelay.ms()), webrtc::TimeDelta::Millis(max.ms()));
  }
}

void VirtualCall::OnLine(CallEnd from, ordered_json line) {
  const std::string& type = line["type"].get_ref<const std::string&>();
  if (type == "offer" || type == "answer" || type == "candidate") {
    OnSignaling(from, std::move(line));
  } else if (type == "state" && line["state"] == "connected") {
    ++connected_ends_;
  } else if (type == "stats") {
    if (from == CallEnd::kSender) OnSenderStats(line["report"]);
    if (from == CallEnd::kReceiver && observations_)
      observations_->WriteViewer(Timestamp::Micros(clock_->now().us()), line["report"]);
    stats_.OnReport(from, std::move(line["report"]));
  } else if (type == "remb" && clock_->started()) {
    flow_.observer->OnRembSent(DataRate::BitsPerSecond(line["bitrate_bps"].get<int64_t>()), RecordedNow());
  } else if (type == "error") {
    Fail(": " + line["message"].get<std::string>());
  }
}

void VirtualCall::OnSignaling(CallEnd from, ordered_json line) {
  if (line.contains("sdp")) {
    std::string sdp = line["sdp"];
    // Without the tool's name, the other end is treated as an unmodified browser.
    const std::string tool = "a=tool:weir-peer\r\n";
    const size_t at = sdp.find(tool);
    if (at != std::string::npos && !flow_.job.call.native_sender) sdp.erase(at, tool.size());
    if (line["type"] == "answer") media_packets_.OnAnswer(sdp);
    line["sdp"] = std::move(sdp);
  }
  const End& other = from == CallEnd::kSender ? receiver_ : sender_;
  other.peer->Execute(OrThrow(peer::ParseCommand(line.dump())));
}

void VirtualCall::Fail(const std::string& reason) const {
  throw ProgramError("the call " + flow_.spec().id + reason, kFailed);
}

void VirtualCall::OnTargetRate(DataRate rate) {
  if (clock_->started()) flow_.observer->OnTargetRate(rate, RecordedNow());
}

SimTime VirtualCall::RecordedNow() const { return std::min(clock_->SimNow(), end_); }

void VirtualCall::HoldMedia() {
  sender_.peer->HoldMedia(true);
  viewing_.Pause(clock_->SimNow());
}

void VirtualCall::SendMedia() {
  sender_.peer->HoldMedia(false);
  viewing_.Resume(clock_->SimNow());
}

void VirtualCall::HoldVideo() {
  sender_.peer->HoldVideo(true);
  viewing_.Pause(clock_->SimNow());
}

void VirtualCall::SendVideo() {
  sender_.peer->HoldVideo(false);
  viewing_.Resume(clock_->SimNow());
}

void VirtualCall::AddTo(ordered_json& record) const {
  media_packets_.AddTo(record);
  stats_.AddLipSync(record);
  rtcp_packets_.AddTo(record);
  stats_.AddTo(record, HasSteadyAudio(flow_));
  if (counters_) AddEstimator(*counters_, pool_, record);
}

}  // namespace weir::sim
