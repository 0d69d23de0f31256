#include "virtual_call/virtual_call.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <span>
#include <string>
#include <utility>

#include "api/jsep.h"
#include "api/rtp_parameters.h"
#include "api/test/time_controller.h"
#include "api/video_codecs/builtin_video_encoder_factory.h"
#include "call_controllers.h"
#include "flows/controller_context.h"
#include "flows/estimator_record.h"
#include "pc/session_description.h"
#include "programs/input.h"
#include "programs/sender_gcc.h"
#include "sdp.h"
#include "virtual_call/model_audio.h"
#include "virtual_call/model_video.h"
#include "virtual_call/observed_encoder.h"
#include "virtual_call/opus_audio.h"
#include "virtual_call/rtp_header.h"
#include "virtual_call/stepped_controller.h"
#include "weir/names.h"
#include "weir/policy_controller.h"

namespace weir::sim {
namespace {

using nlohmann::ordered_json;

// Offsets of the flow's random streams from random_streams::Flow(index). Every stack has the first two.
constexpr uint64_t kSenderNoiseStream = 2;
constexpr uint64_t kReceiverNoiseStream = 3;
constexpr uint64_t kCameraStream = 4;
constexpr uint64_t kEncoderStream = 5;
constexpr uint64_t kAudioStream = 6;

// Bytes that encryption would add: the tag of SRTP (AES_CM_128_HMAC_SHA1_80), and of SRTCP with its index (RFC 3711).
constexpr uint32_t kSrtpBytes = 10;
constexpr uint32_t kSrtcpBytes = 14;

// A camera repeats its file and starts at a random picture of it.
constexpr int64_t kPicturesInSource = 300;
constexpr double kFramesPerSecond = 30;
// Above any rate that a sender would choose.
constexpr DataRate kMaxRate = DataRate::KilobitsPerSecond(20'000);
// Reports are made only on request.
constexpr int64_t kNoStatsMs = 1'000'000'000;

RandomStream StreamOf(const RtpFlowContext& context, uint64_t stream) {
  return {context.job.random_seed(), random_streams::Flow(context.index) + stream};
}

std::unique_ptr<peer::FrameSource> MakePictures(const CallMedia& media) {
  const peer::FrameFormat format{.width = media.width, .height = media.height, .frames_per_second = kFramesPerSecond};
  if (media.encoder == CallMedia::Encoder::kFake) return MakeBlankPictures(format);
  return media.video.empty() ? peer::MakePattern(format) : peer::OpenY4mFile(media.video);
}

// The path of the event log in the folder that the environment variable WEIR_EVENT_LOGS names; empty without it.
std::string EventLogPath(const RtpFlowContext& context) {
  const char* const folder = std::getenv("WEIR_EVENT_LOGS");
  if (folder == nullptr || *folder == '\0') return {};
  std::string name = context.job.scenario.name + "-" + context.controller + "-" + std::to_string(context.job.seed) +
                     "-" + std::to_string(context.index);
  std::ranges::replace_if(name, [](unsigned char c) { return std::isalnum(c) == 0 && c != '-' && c != '_'; }, '_');
  return std::string(folder) + "/" + name + ".rtceventlog";
}

bool IsPool(const ControllerContext& context, std::string_view name) { return !context.custom() && IsPoolLine(name); }

bool IsAtSender(const RtpFlowContext& flow, const ControllerContext& context) {
  if (flow.controller == kAgentName) return flow.job.agent->at_sender;
  return !context.custom() && !context.custom_policy() && FindRow(peer::kSenderControllers, flow.controller) != nullptr;
}

bool IsLibwebrtcs(const RtpFlowContext& flow, const ControllerContext& context) {
  if (flow.controller == kAgentName || context.custom() || context.custom_policy() || IsPoolLine(flow.controller))
    return false;
  const std::string_view plain = WithoutFieldTrials(flow.controller);
  return plain == "gcc" || plain == "scream" || plain == "scream-ccfb";
}

}  // namespace

// Handles a peer's lines at once.
class VirtualCall::Lines final : public JsonLines {
 public:
  Lines(VirtualCall* call, End end) : call_(call), end_(end) {}
  void Write(ordered_json line) override {
    call_->clock_->Guarded([&] { call_->OnLine(end_, std::move(line)); });
  }

 private:
  VirtualCall* const call_;
  const End end_;
};

// Observes RTP and RTCP from the sender to the receiver. The flow's observer receives the RTP packets.
class VirtualCall::MediaObserver final : public PathObserver {
 public:
  explicit MediaObserver(VirtualCall* call) : call_(call), observer_(call->context_.observer) {}

  void OnSent(Packet& packet, std::span<const uint8_t> data) override {
    if (!IsRtpOrRtcp(data)) return;
    const std::optional<RtpHeader> header = ParseRtpHeader(data);
    packet.size_bytes += header ? kSrtpBytes : kSrtcpBytes;
    if (!header) return;
    const auto payload_and_padding = static_cast<uint32_t>(data.size()) - header->size_bytes;
    const uint32_t padding = header->padding ? std::min<uint32_t>(data.back(), payload_and_padding) : 0;
    PacketArrival& rtp = packet.rtp;
    rtp.ssrc = header->ssrc;
    rtp.sequence_number = header->sequence_number;
    rtp.payload_type = header->payload_type;
    rtp.rtp_timestamp = header->timestamp;
    rtp.header_size = header->size_bytes;
    rtp.padding_size = padding;
    rtp.payload_size = payload_and_padding - padding;
    rtp.kind = call_->packet_kinds_[header->payload_type];
    if (rtp.payload_size == 0) rtp.kind = PacketKind::kProbe;
    if (rtp.kind == PacketKind::kVideo) call_->frames_.OnPacketSent(header->timestamp);
    observer_->OnSent(packet);
  }
  void OnReceived(const Packet& packet, std::span<const uint8_t>, int64_t arrival_time_ns) override {
    if (IsRtp(packet)) observer_->OnReceived(packet, arrival_time_ns);
  }
  void OnDropped(const Packet& packet, std::span<const uint8_t>) override {
    if (IsRtp(packet)) observer_->OnDropped(packet);
  }

 private:
  static bool IsRtp(const Packet& packet) { return packet.rtp.header_size > 0; }

  VirtualCall* const call_;
  FlowObserver* const observer_;
};

// Observes RTCP from the receiver to the sender. All of it counts as feedback.
class VirtualCall::RtcpObserver final : public PathObserver {
 public:
  explicit RtcpObserver(VirtualCall* call) : call_(call), observer_(call->context_.observer) {}

  void OnSent(Packet& packet, std::span<const uint8_t> data) override {
    if (!IsFeedback(data)) return;
    packet.size_bytes += kSrtcpBytes;
    ++call_->rtcp_packets_sent_;
    call_->rtcp_bytes_sent_ += packet.size_bytes;
    observer_->OnFeedbackSent(packet.sent_time_ns);
  }
  void OnReceived(const Packet& packet, std::span<const uint8_t> data, int64_t arrival_time_ns) override {
    if (IsFeedback(data)) observer_->OnFeedbackReceived(packet.sent_time_ns, arrival_time_ns);
  }
  void OnDropped(const Packet&, std::span<const uint8_t> data) override {
    if (IsFeedback(data)) ++call_->rtcp_packets_lost_;
  }

 private:
  static bool IsFeedback(std::span<const uint8_t> data) { return IsRtpOrRtcp(data) && IsRtcp(data); }

  VirtualCall* const call_;
  FlowObserver* const observer_;
};

// Requests decisions only after the scenario's start. Before that, while the call connects, the rate stays.
class VirtualCall::AgentSource final : public DecisionSource {
 public:
  AgentSource(DecisionSource* source, const VirtualClock* clock) : source_(source), clock_(clock) {}
  std::optional<std::span<const float>> Decide(std::span<const float> observation) override {
    if (!clock_->started()) return std::nullopt;
    return source_->Decide(observation);
  }

 private:
  DecisionSource* const source_;
  const VirtualClock* const clock_;
};

VirtualCall::VirtualCall(const RtpFlowContext& context, webrtc::test::NetworkEmulationManagerImpl* network,
                         VirtualClock* clock)
    : context_(context),
      controller_context_(MakeControllerContext(context)),
      end_ns_(context.job.scenario.duration_ns()),
      clock_(clock),
      time_(network->time_controller()),
      network_(network),
      decides_at_sender_(IsAtSender(context_, controller_context_)),
      decides_at_receiver_(!decides_at_sender_ && !IsLibwebrtcs(context_, controller_context_)),
      frames_(clock, context.controller == kAgentName ? &viewing_ : nullptr),
      sender_noise_(StreamOf(context_, kSenderNoiseStream)),
      receiver_noise_(StreamOf(context_, kReceiverNoiseStream)) {
  const RtpSpec& rtp = RtpOf(context_);
  if (context_.controller == kAgentName) {
    agent_source_ = std::make_unique<AgentSource>(context_.job.agent->source, clock_);
    agent_specification_ = *context_.job.agent;
    agent_specification_->source = agent_source_.get();
    waiting_agent_ = MakeAgent();
  } else if (!decides_at_sender_ && !decides_at_receiver_) {
    CheckControllerName(context_.controller);
  } else {
    // Detects before the call what would fail in it.
    if (!MakeArrivalController(context_.controller, controller_context_))
      throw ProgramError("the controller " + context_.controller +
                         " needs a sender of the simulator's own: run it by weir-sim");
  }
  media_observer_ = std::make_unique<MediaObserver>(this);
  rtcp_observer_ = std::make_unique<RtcpObserver>(this);
  webrtc::EmulatedEndpointImpl* const left = network_->CreateEndpoint({});
  webrtc::EmulatedEndpointImpl* const right = network_->CreateEndpoint({});
  const int64_t extra_ns = FlowOf(context_).extra_one_way_delay_ns;
  media_path_ = std::make_unique<CallPath>(CallPathConfig{
      .clock = clock_,
      .link = context_.media_link,
      .extra_delay_ns = extra_ns,
      .from = left,
      .to = right,
      .observer = media_observer_.get(),
      .rewrite = [this](std::span<uint8_t> packet, int64_t time_ns) { ShowSenderClock(packet, time_ns); },
      .host_delay_ns = [this](int64_t time_ns) { return receiver_noise_.DelayNs(time_ns); }});
  rtcp_path_ = std::make_unique<CallPath>(
      CallPathConfig{.clock = clock_,
                     .link = context_.rtcp_link,
                     .extra_delay_ns = extra_ns,
                     .from = right,
                     .to = left,
                     .observer = rtcp_observer_.get(),
                     .host_delay_ns = [this](int64_t time_ns) { return sender_noise_.DelayNs(time_ns); }});
  sender_lines_ = std::make_unique<Lines>(this, End::kSender);
  receiver_lines_ = std::make_unique<Lines>(this, End::kReceiver);
  const auto on_failure = [this](const std::string& reason) {
    clock_->Guarded([&] { throw ProgramError("the call " + FlowOf(context_).id + " failed: " + reason, kFailed); });
  };
  sender_ = peer::Peer::Create(SenderOptions(), MakePictures(context_.job.call),
                               decides_at_sender_ ? MakeController() : ControllerFactory(), sender_lines_.get(),
                               on_failure, MakeRuntime(End::kSender, left));
  receiver_ =
      peer::Peer::Create(ReceiverOptions(), nullptr, decides_at_receiver_ ? MakeController() : ControllerFactory(),
                         receiver_lines_.get(), on_failure, MakeRuntime(End::kReceiver, right));
  sender_->HoldMedia(true);

  steps_.push_back({FlowOf(context_).start_ns, &VirtualCall::SendMedia});
  for (const auto& [from_ns, to_ns] : rtp.pauses_ns) {
    steps_.push_back({from_ns, &VirtualCall::HoldMedia});
    steps_.push_back({to_ns, &VirtualCall::SendMedia});
  }
  for (const auto& [from_ns, to_ns] : rtp.media.video_pauses_ns) {
    steps_.push_back({from_ns, &VirtualCall::HoldVideo});
    steps_.push_back({to_ns, &VirtualCall::SendVideo});
  }
  steps_.push_back({FlowOf(context_).stop_ns, &VirtualCall::HoldMedia});
  std::ranges::stable_sort(steps_, {}, &Step::time_ns);
}

VirtualCall::~VirtualCall() {
  receiver_ = nullptr;
  sender_ = nullptr;
}

peer::Runtime VirtualCall::MakeRuntime(End end, webrtc::EmulatedEndpointImpl* endpoint) {
  const bool sends = end == End::kSender;
  std::unique_ptr<webrtc::Thread>& worker = sends ? sender_worker_ : receiver_worker_;
  worker = time_->CreateThread(sends ? "sender" : "receiver");
  webrtc::EmulatedNetworkManagerInterface* const interface =
      network_->CreateEmulatedNetworkManagerInterface({endpoint});
  const MediaSpec& media = RtpOf(context_).media;
  peer::Runtime runtime;
  runtime.clock = time_->GetClock();
  runtime.task_queues = time_->GetTaskQueueFactory();
  runtime.signaling_thread = time_->GetMainThread();
  runtime.worker_thread = worker.get();
  runtime.network_thread = interface->network_thread();
  runtime.socket_factory = interface->socket_factory();
  runtime.network_manager = interface->ReleaseNetworkManager();
  runtime.encrypted = false;
  runtime.restarts_ice = true;
  if (keeps_received()) {
    runtime.audio_encoders = MakeOpusEncoders(media.audio_rate);
    runtime.frames_written_at_once = true;
  } else {
    runtime.audio_encoders = MakeModelAudioEncoders(media.audio_rate, StreamOf(context_, kAudioStream));
    runtime.audio_decoders = MakeModelAudioDecoders();
    runtime.decoders = MakeModelDecoders();
  }
  if (sends) {
    auto encoders = context_.job.call.encoder == CallMedia::Encoder::kFake
                        ? MakeModelEncoders(StreamOf(context_, kEncoderStream))
                        : webrtc::CreateBuiltinVideoEncoderFactory();
    runtime.encoders = ObserveEncoders(std::move(encoders), &frames_, [this](DataRate rate) {
      if (!decides_at_receiver_ && !decides_at_sender_) OnTargetRate(rate);
    });
    if (!context_.job.call.native_sender) runtime.max_encoder_rate = media.max_rate;
    runtime.sends_at_once = false;
    if (controller_context_.under_test) runtime.event_log = EventLogPath(context_);
    RandomStream camera = StreamOf(context_, kCameraStream);
    runtime.camera = {
        .phase = webrtc::TimeDelta::Micros(std::llround(camera.Uniform(0, 1e6 / kFramesPerSecond))),
        .first_picture = camera.UniformInteger(0, kPicturesInSource - 1),
        .lateness = [this] { return webrtc::TimeDelta::Micros(sender_noise_.CameraLatenessNs() / 1000); }};
    runtime.on_sender_estimate = [this](const Estimate& estimate) { OnTargetRate(estimate.target_rate); };
  } else {
    runtime.frame_sink = &frames_;
    runtime.guard = IsGuarded(context_.controller, controller_context_);
    runtime.guard_rules = context_.controller == kAgentName ? GuardOptions::ForTraining() : context_.job.guard_rules;
    runtime.on_decision = [this](const ReceiveSideDecision& decision) {
      counters_ = decision.counters;
      pool_ = decision.pool;
      OnTargetRate(decision.estimate.target_rate);
    };
  }
  return runtime;
}

peer::Options VirtualCall::SenderOptions() const {
  const RtpSpec& rtp = RtpOf(context_);
  peer::Options options;
  options.send = true;
  options.audio = !rtp.media.audio_rate.IsZero();
  // The sender has its own GCC, as a browser does; a weir-peer follows REMB.
  const bool native = context_.job.call.native_sender;
  options.controller = native && decides_at_receiver_ ? ReceiveSideMode::kWeir : ReceiveSideMode::kGcc;
  options.codec = context_.job.call.encoder == CallMedia::Encoder::kVp9 ? "VP9" : "VP8";
  options.objective = context_.objective;
  options.bitrate = {
      .min_rate = rtp.min_rate,
      .start_rate = rtp.start_rate,
      .max_rate = std::max({native ? rtp.media.max_rate : kMaxRate, rtp.media.max_rate, rtp.start_rate})};
  options.stats_interval_ms = kNoStatsMs;
  if (keeps_received()) options.audio_file = context_.job.call.speech;
  const std::string_view plain = WithoutFieldTrials(context_.controller);
  if (decides_at_sender_) {
    options.at_sender = context_.controller == "weir-send-ccfb" ? "weir-send-ccfb" : "weir-send";
  } else if (plain == "gcc" || plain == "scream") {
    options.field_trials = OrThrow(FieldTrialsOf(context_.controller));
  } else if (plain == "scream-ccfb") {
    options.field_trials = OrThrow(FieldTrialsOf("scream"));
    options.field_trials["WebRTC-RFC8888CongestionControlFeedback"] = "Enabled,offer:true";
  }
  return options;
}

peer::Options VirtualCall::ReceiverOptions() const {
  peer::Options options = SenderOptions();
  options.send = false;
  options.receive = true;
  options.at_sender = {};
  options.audio_file = {};
  if (keeps_received()) {
    const std::string file = context_.job.call.received + "/" + std::to_string(context_.index);
    options.frames = file + ".y4m";
    options.frames_width = context_.job.call.width;
    options.frames_height = context_.job.call.height;
    if (options.audio) options.received_audio = file + ".wav";
  }
  if (!decides_at_receiver_) return options;
  options.controller = ReceiveSideMode::kWeir;
  options.remb_alone = !controller_context_.transport_cc;
  if (IsPool(controller_context_, context_.controller))
    options.pool = OrThrow(SplitPool(OrThrow(ParsePool(context_.controller))));
  return options;
}

bool VirtualCall::keeps_received() const {
  return !context_.job.call.received.empty() && controller_context_.under_test;
}

ControllerFactory VirtualCall::MakeController() {
  return [this]() -> std::unique_ptr<ReceiverController> {
    std::unique_ptr<ReceiverController> controller;
    clock_->Guarded([&] {
      if (agent_specification_) {
        controller = waiting_agent_ ? std::move(waiting_agent_) : MakeAgent();
      } else {
        controller = MakeArrivalController(context_.controller, controller_context_);
      }
    });
    if (controller == nullptr) return RuleAlone()();
    if (IsPool(controller_context_, context_.controller)) return controller;
    return std::make_unique<SteppedController>(std::move(controller), clock_);
  };
}

std::unique_ptr<PolicyController> VirtualCall::MakeAgent() {
  auto agent = MakeAgentController(*agent_specification_, controller_context_.decision_delay);
  agent_ = agent.get();
  return agent;
}

void VirtualCall::Connect() { sender_->Execute(peer::StartCommand{}); }

void VirtualCall::UseLinks() {
  media_path_->UseLink();
  rtcp_path_->UseLink();
}

void VirtualCall::RequestStats() {
  sender_->Execute(peer::StatsCommand{});
  receiver_->Execute(peer::StatsCommand{});
}

void VirtualCall::OnTargetRate(DataRate rate) {
  if (clock_->started()) context_.observer->OnTargetRate(rate, std::min(clock_->NowNs(), end_ns_));
}

void VirtualCall::OnLine(End from, ordered_json line) {
  const std::string& type = line["type"].get_ref<const std::string&>();
  const bool of_sender = from == End::kSender;
  if (type == "offer" || type == "answer" || type == "candidate") {
    if (line.contains("sdp")) {
      std::string sdp = line["sdp"];
      // Without the tool's name, the other end is treated as an unmodified browser.
      const std::string tool = "a=tool:weir-peer\r\n";
      const size_t at = sdp.find(tool);
      if (at != std::string::npos && !context_.job.call.native_sender) sdp.erase(at, tool.size());
      if (type == "answer") OnAnswer(sdp);
      line["sdp"] = std::move(sdp);
    }
    (of_sender ? receiver_ : sender_)->Execute(OrThrow(peer::ParseCommand(line.dump())));
  } else if (type == "state" && line["state"] == "connected") {
    ++connected_ends_;
  } else if (type == "stats") {
    (of_sender ? sender_stats_ : receiver_stats_) = std::move(line["report"]);
  } else if (type == "remb" && clock_->started()) {
    context_.observer->OnRembSent(DataRate::BitsPerSecond(line["bitrate_bps"].get<int64_t>()),
                                  std::min(clock_->NowNs(), end_ns_));
  } else if (type == "error") {
    throw ProgramError("the call " + FlowOf(context_).id + ": " + line["message"].get<std::string>(), kFailed);
  }
}

void VirtualCall::OnAnswer(const std::string& sdp) {
  const auto description = webrtc::CreateSessionDescription(webrtc::SdpType::kAnswer, sdp);
  if (description == nullptr) throw ProgramError("libwebrtc answered with no description", kFailed);
  for (const auto& [payload_type, kind] : peer::PacketKinds(*description))
    packet_kinds_[static_cast<size_t>(payload_type) % packet_kinds_.size()] = kind;
  for (const webrtc::ContentInfo& content : description->description()->contents()) {
    for (const webrtc::RtpExtension& extension : content.media_description()->rtp_header_extensions()) {
      if (extension.uri == webrtc::RtpExtension::kAbsSendTimeUri) abs_send_time_id_ = extension.id;
    }
  }
}

void VirtualCall::ShowSenderClock(std::span<uint8_t> packet, int64_t time_ns) const {
  const SenderClock& clock = RtpOf(context_).sender_clock;
  if (clock.ppm == 0 && clock.offset_ns == 0 && clock.set_ns.is_constant()) return;
  const std::span<uint8_t> bits = FindAbsSendTime(packet, abs_send_time_id_);
  if (!bits.empty()) WriteAbsSendTime(bits, std::max<int64_t>(0, clock.Shown(time_ns)));
}

void VirtualCall::AddTo(ordered_json& record) const {
  record["feedback_packets_sent"] = rtcp_packets_sent_;
  record["feedback_bytes_sent"] = rtcp_bytes_sent_;
  record["feedback_packets_lost"] = rtcp_packets_lost_;
  const auto find = [](const ordered_json& report, const char* type, const char* kind, const char* field) {
    for (const ordered_json& entry : report) {
      if (entry["type"] == type && entry.value("kind", "") == kind) return entry.value(field, int64_t{0});
    }
    return int64_t{0};
  };
  record["retransmitted_packets_sent"] = find(sender_stats_, "outbound-rtp", "video", "retransmittedPacketsSent");
  record["nack_count"] = find(receiver_stats_, "inbound-rtp", "video", "nackCount");
  record["pli_count"] = find(receiver_stats_, "inbound-rtp", "video", "pliCount");
  const int64_t samples = find(receiver_stats_, "inbound-rtp", "audio", "totalSamplesReceived");
  if (keeps_received() && samples > 0) {
    const int64_t concealed = find(receiver_stats_, "inbound-rtp", "audio", "concealedSamples");
    record["rendered"] = {{"concealed_share", static_cast<double>(concealed) / static_cast<double>(samples)}};
  }
  if (counters_) AddEstimator(*counters_, pool_, record);
}

}  // namespace weir::sim
