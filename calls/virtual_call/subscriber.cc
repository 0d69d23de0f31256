#include "virtual_call/subscriber.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "modules/rtp_rtcp/source/rtcp_packet/common_header.h"
#include "modules/rtp_rtcp/source/rtcp_packet/nack.h"
#include "modules/rtp_rtcp/source/rtcp_packet/pli.h"
#include "modules/rtp_rtcp/source/rtcp_packet/transport_feedback.h"
#include "programs/input.h"
#include "virtual_call/call_streams.h"
#include "virtual_call/rtp_header.h"

namespace weir::sim {
namespace {

constexpr std::string_view kWeir = "weir-send";
constexpr std::string_view kGcc = "gcc";
constexpr webrtc::TimeDelta kTick = webrtc::TimeDelta::Millis(25);
// As receiver reports.
constexpr TimeDelta kRoundTripInterval = TimeDelta::Seconds(1);
// UDP, IPv4 and the tag of SRTP.
constexpr int64_t kWireBytes = 28 + 10;
constexpr int64_t kPaddingHeaderBytes = 20;

std::unique_ptr<DownlinkEstimator> MakeEstimator(const Flow& flow, const VirtualClock* clock) {
  return flow.controller == kGcc ? MakeGccDownlinkEstimator(clock) : MakeWeirDownlinkEstimator(flow);
}

std::unique_ptr<DownlinkAllocator> MakeAllocator(const Flow& flow) {
  using Allocation = CallMedia::Room::Allocation;
  const Allocation own = flow.controller == kGcc ? Allocation::kMediasoup : Allocation::kWeir;
  switch (flow.job.call.room.allocation.value_or(own)) {
    case Allocation::kMediasoup:
      return MakeMediasoupDownlinkAllocator();
    case Allocation::kLivekit:
      return MakeLivekitDownlinkAllocator();
    case Allocation::kWeir:
      break;
  }
  return MakeWeirDownlinkAllocator();
}

}  // namespace

// Passes a stream's decoded frames to the view.
class Subscriber::Sink final : public webrtc::VideoSinkInterface<webrtc::VideoFrame> {
 public:
  Sink(Subscriber* subscriber, size_t stream) : subscriber_(subscriber), stream_(stream) {}
  void OnFrame(const webrtc::VideoFrame& frame) override {
    if (stream_ >= subscriber_->streams_.size()) return;
    const VirtualClock& clock = *subscriber_->clock_;
    const auto captured = subscriber_->streams_[stream_].CaptureTime(frame.rtp_timestamp());
    if (!captured) return;
    const SimTime render = SimTime::Micros(frame.timestamp_us() - clock.start_us());
    subscriber_->view_.OnFrame(stream_, std::max(render, clock.SimNow()), *captured);
  }

 private:
  Subscriber* const subscriber_;
  const size_t stream_;
};

// Passes RTCP that arrives to the SFU.
class Subscriber::RtcpTap final : public PathObserver {
 public:
  explicit RtcpTap(Subscriber* subscriber) : subscriber_(subscriber) {}
  void OnSent(Packet& packet, std::span<uint8_t> data) override { subscriber_->rtcp_packets_.OnSent(packet, data); }
  void OnReceived(const Packet& packet, std::span<const uint8_t> data, SimTime arrival_time) override {
    subscriber_->rtcp_packets_.OnReceived(packet, data, arrival_time);
    if (IsRtpOrRtcp(data) && IsRtcp(data)) subscriber_->OnRtcp(data);
  }
  void OnDropped(const Packet& packet, std::span<const uint8_t> data) override {
    subscriber_->rtcp_packets_.OnDropped(packet, data);
  }

 private:
  Subscriber* const subscriber_;
};

Subscriber::Subscriber(const Flow& flow, Room* room, webrtc::test::NetworkEmulationManagerImpl* network,
                       VirtualClock* clock)
    : flow_(flow),
      end_(flow.job.scenario.end()),
      room_(room),
      clock_(clock),
      allocator_(MakeAllocator(flow)),
      no_frames_(clock, nullptr),
      media_packets_(flow, &no_frames_),
      rtcp_packets_(flow.observer),
      sfu_noise_(flow.Random(kSenderNoiseStream)),
      subscriber_noise_(flow.Random(kReceiverNoiseStream)),
      view_(room->publishers(), flow.data_link, flow.spec().start, end_),
      sfu_endpoint_(network->CreateEndpoint({})),
      rtcp_tap_(std::make_unique<RtcpTap>(this)) {
  if (flow.controller != kWeir && flow.controller != kGcc)
    throw ProgramError("a room has the controllers weir-send and gcc, not " + flow.controller, kFailed);
  webrtc::EmulatedEndpointImpl* const subscriber = network->CreateEndpoint({});
  const auto path = [&](Link* link, auto* from, auto* to, PathObserver* observer, HostNoise* noise) {
    return std::make_unique<CallPath>(
        CallPathConfig{.clock = clock,
                       .link = link,
                       .extra_delay = flow.spec().extra_one_way_delay,
                       .from = from,
                       .to = to,
                       .observer = observer,
                       .host_delay = [noise](SimTime time) { return noise->Delay(time); }});
  };
  media_path_ = path(flow.data_link, sfu_endpoint_, subscriber, &media_packets_, &subscriber_noise_);
  rtcp_path_ = path(flow.return_link, subscriber, sfu_endpoint_, rtcp_tap_.get(), &sfu_noise_);
  SubscriberConnection::Config config;
  config.network = network;
  config.sfu = sfu_endpoint_;
  config.subscriber = subscriber;
  for (size_t i = 0; i < room->publishers().size(); ++i) {
    sinks_.push_back(std::make_unique<Sink>(this, i));
    config.sinks.push_back(sinks_.back().get());
  }
  config.on_failure = [this](const std::string& reason) {
    clock_->Guarded([&] { throw ProgramError("the call " + flow_.spec().id + " failed: " + reason, kFailed); });
  };
  connection_ = std::make_unique<SubscriberConnection>(std::move(config));
  room_->Add(this);
}

Subscriber::~Subscriber() {
  room_->Remove(this);
  media_path_->Stop();
  rtcp_path_->Stop();
  connection_ = nullptr;
}

void Subscriber::UseLinks() {
  media_path_->UseLink();
  rtcp_path_->UseLink();
}

void Subscriber::Start() {
  clock_->Guarded([&] {
    media_packets_.OnAnswer(connection_->answer());
    for (size_t i = 0; i < connection_->streams().size(); ++i) streams_.emplace_back(i, connection_->streams()[i]);
    estimator_ = MakeEstimator(flow_, clock_);
    started_ = true;
  });
  room_->queue()->PostTask(webrtc::SafeTask(safety_.flag(), [this] { Tick(); }));
}

void Subscriber::OnPacket(const SimulcastPacket& packet) {
  if (!started_ || clock_->SimNow() >= flow_.spec().stop) return;
  ForwardedStream& stream = streams_[packet.publisher];
  const int before = stream.layer();
  if (auto data = stream.Forward(packet)) Send(std::move(*data), PacketKind::kVideo);
  if (stream.layer() != before) ShowLayers();
}

void Subscriber::ShowLayers() {
  std::vector<int> layers;
  layers.reserve(streams_.size());
  for (const ForwardedStream& stream : streams_) layers.push_back(stream.layer());
  view_.OnLayers(layers, clock_->SimNow());
}

void Subscriber::Send(ForwardedStream::RtpData data, PacketKind kind) {
  const auto number = static_cast<int64_t>(sent_.size()) + 1;
  data[ForwardedStream::kTransportNumberAt] = static_cast<uint8_t>(number >> 8);
  data[ForwardedStream::kTransportNumberAt + 1] = static_cast<uint8_t>(number);
  const auto bytes = static_cast<int64_t>(data.size()) + kWireBytes;
  sent_.push_back({.time = Now()});
  estimator_->OnSentPacket({.send_time = Now(),
                            .sequence_number = number,
                            .kind = kind,
                            .size = DataSize::Bytes(bytes),
                            .probe_cluster_id = probe_sender_.cluster_id()});
  probe_sender_.OnSent(bytes);
  sfu_endpoint_->SendPacket(connection_->sfu_address(), connection_->subscriber_address(),
                            webrtc::CopyOnWriteBuffer(data.data(), data.size()));
}

ForwardedStream* Subscriber::FindStream(uint32_t ssrc) {
  const auto found =
      std::ranges::find_if(streams_, [ssrc](const ForwardedStream& stream) { return stream.config().ssrc == ssrc; });
  return found == streams_.end() ? nullptr : &*found;
}

void Subscriber::OnRtcp(std::span<const uint8_t> data) {
  if (!started_) return;
  webrtc::rtcp::CommonHeader block;
  for (const uint8_t* next = data.data(); next < data.data() + data.size(); next = block.NextPacket()) {
    if (!block.Parse(next, static_cast<size_t>(data.data() + data.size() - next))) return;
    if (block.type() == webrtc::rtcp::Rtpfb::kPacketType &&
        block.fmt() == webrtc::rtcp::TransportFeedback::kFeedbackMessageType) {
      webrtc::rtcp::TransportFeedback message;
      if (!message.Parse(block)) continue;
      std::vector<PacketFeedback> feedback;
      message.ForAllPackets([&](uint16_t number, webrtc::TimeDelta since_base) {
        const auto latest = static_cast<int64_t>(sent_.size());
        const int64_t unwrapped = latest - static_cast<uint16_t>(static_cast<uint16_t>(latest) - number);
        if (unwrapped < 1) return;
        const bool received = since_base.IsFinite();
        feedback.push_back({.sequence_number = unwrapped,
                            .fate = received ? PacketFate::kReceived : PacketFate::kLost,
                            .receive_time = received ? Timestamp::Micros((message.BaseTime() + since_base).us())
                                                     : Timestamp::MinusInfinity()});
      });
      OnTransportFeedback(feedback);
    } else if (block.type() == webrtc::rtcp::Rtpfb::kPacketType &&
               block.fmt() == webrtc::rtcp::Nack::kFeedbackMessageType) {
      webrtc::rtcp::Nack nack;
      ForwardedStream* const stream = nack.Parse(block) ? FindStream(nack.media_ssrc()) : nullptr;
      if (stream == nullptr) continue;
      for (const uint16_t number : nack.packet_ids()) {
        ++nacked_packets_;
        if (auto packet = stream->Retransmit(number, Now(), round_trip_time_))
          Send(std::move(*packet), PacketKind::kRetransmission);
      }
    } else if (block.type() == webrtc::rtcp::Psfb::kPacketType &&
               block.fmt() == webrtc::rtcp::Pli::kFeedbackMessageType) {
      webrtc::rtcp::Pli pli;
      const ForwardedStream* const stream = pli.Parse(block) ? FindStream(pli.media_ssrc()) : nullptr;
      if (stream == nullptr || stream->wanted_layer() < 0) continue;
      ++key_frame_requests_;
      room_->publishers()[stream->publisher()]->RequestKeyFrame(static_cast<size_t>(stream->wanted_layer()));
    }
  }
}

void Subscriber::OnTransportFeedback(std::span<const PacketFeedback> feedback) {
  const Timestamp now = Now();
  if (feedback.empty()) return;
  const Timestamp last = sent_[static_cast<size_t>(feedback.back().sequence_number - 1)].time;
  shortest_round_trip_ = std::min(shortest_round_trip_, now - last);
  if (now - round_trip_reported_ >= kRoundTripInterval) {
    round_trip_time_ = std::exchange(shortest_round_trip_, TimeDelta::PlusInfinity());
    round_trip_reported_ = now;
    estimator_->OnRoundTripTime(round_trip_time_, now);
  }
  estimator_->OnTransportFeedback(feedback, now);
  Decide();
}

void Subscriber::Tick() {
  clock_->Guarded([&] {
    estimator_->OnTimeout(Now());
    Decide();
  });
  if (clock_->failed() || clock_->SimNow() >= flow_.spec().stop) return;
  room_->queue()->PostDelayedHighPrecisionTask(webrtc::SafeTask(safety_.flag(), [this] { Tick(); }), kTick);
}

void Subscriber::Decide() {
  if (clock_->SimNow() >= flow_.spec().stop) return;
  flow_.observer->OnTargetRate(estimator_->target_rate(), std::min(clock_->SimNow(), end_));
  std::vector<DownlinkStream> offered;
  for (const ForwardedStream& stream : streams_) {
    const SimulcastPublisher& publisher = *room_->publishers()[stream.publisher()];
    offered.push_back({.rates = {publisher.LayerRate(0), publisher.LayerRate(1), publisher.LayerRate(2)},
                       .forwarded = stream.layer(),
                       .packets = stream.packets(),
                       .repeated_retransmissions = stream.repeated_retransmissions()});
  }
  const std::vector<int> layers = allocator_->Allocate(estimator_->target_rate(), offered, Now());
  for (size_t i = 0; i < streams_.size(); ++i) {
    streams_[i].Want(layers[i]);
    // The publisher ignores repeated requests.
    if (layers[i] >= 0 && layers[i] != streams_[i].layer())
      room_->publishers()[streams_[i].publisher()]->RequestKeyFrame(static_cast<size_t>(layers[i]));
  }
  ShowLayers();
  const DesiredRate desired = allocator_->desired_rate();
  if (!desired_ || desired.total != desired_->total || desired.next != desired_->next) {
    desired_ = desired;
    estimator_->SetDesiredRate(desired, Now());
  }
  while (const auto cluster = estimator_->TakeProbeCluster()) probe_sender_.Add(*cluster);
  if (probe_sender_.is_active() && !std::exchange(probes_, true))
    room_->queue()->PostTask(webrtc::SafeTask(safety_.flag(), [this] { Probe(); }));
}

void Subscriber::Probe() {
  clock_->Guarded([&] {
    const auto padding = static_cast<uint8_t>(
        std::clamp<int64_t>(probe_sender_.PacketBytes() - kPaddingHeaderBytes - kWireBytes, 1, 255));
    while (probe_sender_.BytesDue(Now()) > 0) {
      ForwardedStream::RtpData data = streams_.front().Pad(padding);
      padding_bytes_ += static_cast<int64_t>(data.size()) + kWireBytes;
      Send(std::move(data), PacketKind::kProbe);
    }
    probe_sender_.EndIfComplete(Now());
  });
  probes_ = probe_sender_.is_active() && !clock_->failed() && clock_->SimNow() < flow_.spec().stop;
  if (!probes_) return;
  room_->queue()->PostDelayedHighPrecisionTask(webrtc::SafeTask(safety_.flag(), [this] { Probe(); }),
                                               webrtc::TimeDelta::Micros(ProbeSender::kTick.us()));
}

void Subscriber::AddTo(nlohmann::ordered_json& record) const {
  media_packets_.AddTo(record);
  rtcp_packets_.AddTo(record);
  nlohmann::ordered_json room = view_.Finish(end_);
  room["padding_bytes"] = padding_bytes_;
  room["nacked_packets"] = nacked_packets_;
  room["pli_count"] = key_frame_requests_;
  record["room"] = std::move(room);
}

}  // namespace weir::sim
