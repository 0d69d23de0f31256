#include "open_loop/open_loop_controller.h"

#include <algorithm>
#include <utility>

namespace weir::sim {
namespace {

constexpr double kLargestTimeUs = 4e18;
constexpr NumberRange kTime{.min = 0, .max = kLargestTimeUs};
constexpr NumberRange kId{.min = 0, .max = 1e15};
constexpr NumberRange kBytes{.min = 0, .max = 1e9};
constexpr NumberRange kRate{.min = 0, .max = 1e12};
constexpr NumberRange kCount{.min = 0, .max = 1e6};
// libwebrtc forgets sent packets after a minute.
constexpr size_t kMaxSent = 1'000'000;
constexpr size_t kMaxClusters = 1000;
// A longer pause, such as a stop of the log, is one step.
constexpr TimeDelta kLongestPause = TimeDelta::Seconds(10);
constexpr uint32_t kVideoClockHz = 90'000;
constexpr uint32_t kOpusClockHz = 48'000;

Timestamp TimeOf(JsonObject& object, std::string_view key) { return Timestamp::Micros(object.Integer(key, kTime)); }

DataSize SizeOf(JsonObject& object, std::string_view key) { return DataSize::Bytes(object.Integer(key, kBytes, 0)); }

}  // namespace

OpenLoopController::OpenLoopController(FlowController controller, const TargetRateConstraints& constraints,
                                       OnTarget on_target)
    : controller_(std::move(controller)), constraints_(constraints), on_target_(std::move(on_target)) {}

void OpenLoopController::OnEvent(JsonObject& event) {
  const std::string type = event.String("type");
  if (controller_.at_receiver) {
    if (type == "received") OnReceived(event);
    return;
  }
  SenderController& sender = *controller_.at_sender;
  if (type == "sent") {
    OnSent(event);
  } else if (type == "feedback") {
    OnFeedback(event);
  } else if (type == "probe_cluster") {
    OnProbeCluster(event);
  } else if (type == "round_trip") {
    const Timestamp now = Advance(event);
    sender.OnRoundTripTimeUpdate(
        {.receive_time = now, .round_trip_time = TimeDelta::Micros(event.Integer("round_trip_us", kTime))});
  } else if (type == "loss_report") {
    const Timestamp now = Advance(event);
    sender.OnTransportLossReport({.receive_time = now,
                                  .start_time = std::min(TimeOf(event, "begin_us"), now),
                                  .end_time = now,
                                  .packets_lost_delta = event.Integer("lost", kId),
                                  .packets_received_delta = event.Integer("received", kId)});
  } else if (type == "remb_received") {
    const Timestamp now = Advance(event);
    sender.OnRemoteBitrateReport(
        {.receive_time = now, .bandwidth = DataRate::BitsPerSecond(event.Integer("bitrate_bps", kRate))});
  } else {
    return;
  }
  if (started_) ExecuteTimeouts(now_);
}

Timestamp OpenLoopController::Advance(JsonObject& event) {
  const Timestamp time = std::max(TimeOf(event, "time_us"), now_);
  if (!started_) {
    Start(time);
  } else {
    if (time - now_ > kLongestPause) OnTimeout(time);
    ExecuteTimeouts(time);
  }
  return now_ = time;
}

void OpenLoopController::Start(Timestamp now) {
  started_ = true;
  now_ = now;
  constraints_.at_time = now;
  if (controller_.at_sender) controller_.at_sender->OnTargetRateConstraints(constraints_);
  OnTimeout(now);
}

Timestamp OpenLoopController::next_timeout() const {
  return controller_.at_receiver ? controller_.at_receiver->next_timeout() : controller_.at_sender->next_timeout();
}

void OpenLoopController::ExecuteTimeouts(Timestamp until) {
  while (next_timeout() <= until) {
    now_ = std::max(next_timeout(), now_);
    OnTimeout(now_);
    if (next_timeout() > now_) continue;
    // A timeout that is due again at once waits for time to pass.
    if (now_ < until) OnTimeout(until);
    return;
  }
}

void OpenLoopController::OnTimeout(Timestamp now) {
  DataRate target = target_;
  if (controller_.at_receiver) {
    if (const auto estimate = controller_.at_receiver->OnTimeout(now)) target = estimate->target_rate;
  } else if (const SenderControlUpdate update = controller_.at_sender->OnTimeout(now); update.target_rate) {
    target = update.target_rate->target_rate;
  }
  if (target != target_) on_target_(now, target);
  target_ = target;
}

void OpenLoopController::OnProbeCluster(JsonObject& event) {
  if (clusters_.size() >= kMaxClusters) clusters_.erase(clusters_.begin());
  Cluster& cluster = clusters_[event.Integer("id", kId)];
  cluster = {};
  cluster.info.probe_cluster_id = static_cast<int32_t>(event.Integer("id", {.min = 0, .max = 1e9}));
  cluster.info.probe_cluster_min_probes = static_cast<int32_t>(event.Integer("min_packets", kCount));
  cluster.info.probe_cluster_min_size = SizeOf(event, "min_bytes");
  cluster.info.send_rate = DataRate::BitsPerSecond(event.Integer("bitrate_bps", kRate));
}

void OpenLoopController::OnSent(JsonObject& event) {
  const Timestamp now = Advance(event);
  if (event.FindOptional("id") == nullptr) return;
  SentPacket packet;
  packet.send_time = now;
  packet.size = SizeOf(event, "size_bytes");
  packet.sequence_number = event.Integer("id", kId);
  packet.data_in_flight = SizeOf(event, "in_flight_bytes");
  if (event.FindOptional("kind")) packet.audio = event.String("kind") == "audio";
  if (event.FindOptional("probe_cluster")) {
    if (const auto found = clusters_.find(event.Integer("probe_cluster", kId)); found != clusters_.end()) {
      packet.pacing_info = found->second.info;
      packet.pacing_info.probe_cluster_bytes_sent = DataSize::Bytes(found->second.bytes_sent);
      found->second.bytes_sent += packet.size.bytes();
    }
  }
  if (sent_.size() >= kMaxSent) sent_.erase(sent_.begin());
  sent_[packet.sequence_number] = packet;
  controller_.at_sender->OnSentPacket(packet);
  fed_ = true;
}

void OpenLoopController::OnFeedback(JsonObject& event) {
  const Timestamp now = Advance(event);
  TransportPacketsFeedback feedback;
  feedback.feedback_time = now;
  feedback.data_in_flight = SizeOf(event, "in_flight_bytes");
  for (const nlohmann::json& one : JsonArray(event.Require("packets"), event.PathOf("packets"), 0, kMaxSent)) {
    const nlohmann::json& pair = JsonArray(one, event.PathOf("packets"), 2, 2);
    const auto packet = sent_.find(JsonInteger(pair[0], event.PathOf("packets"), kId));
    if (packet == sent_.end()) continue;
    PacketResult result{.sent_packet = packet->second};
    if (!pair[1].is_null()) {
      result.receive_time = Timestamp::Micros(JsonInteger(pair[1], event.PathOf("packets"), kTime));
      sent_.erase(packet);
    }
    feedback.packet_feedbacks.push_back(result);
  }
  if (!feedback.packet_feedbacks.empty()) controller_.at_sender->OnTransportPacketsFeedback(feedback);
}

void OpenLoopController::OnReceived(JsonObject& event) {
  constexpr NumberRange k32Bits{.min = 0, .max = 4294967295.0};
  const Timestamp now = Advance(event);
  PacketArrival packet;
  packet.arrival_time = now;
  packet.ssrc = static_cast<uint32_t>(event.Integer("ssrc", k32Bits));
  packet.sequence_number = static_cast<uint16_t>(event.Integer("sequence_number", {.min = 0, .max = 65535}));
  packet.payload_type = static_cast<uint8_t>(event.Integer("payload_type", {.min = 0, .max = 127}));
  packet.rtp_timestamp = static_cast<uint32_t>(event.Integer("rtp_timestamp", k32Bits));
  packet.header_size = static_cast<uint32_t>(event.Integer("header_bytes", {.min = 12, .max = 65535}));
  packet.payload_size = static_cast<uint32_t>(event.Integer("payload_bytes", {.min = 0, .max = 65535}));
  packet.padding_size = static_cast<uint32_t>(event.Integer("padding_bytes", {.min = 0, .max = 65535}, 0));
  if (event.FindOptional("abs_send_time")) {
    packet.has_abs_send_time = true;
    packet.abs_send_time = static_cast<uint32_t>(event.Integer("abs_send_time", {.min = 0, .max = 16777215}));
  }
  constexpr PacketKind kKinds[] = {PacketKind::kVideo, PacketKind::kAudio, PacketKind::kProbe,
                                   PacketKind::kRetransmission};
  if (event.FindOptional("kind")) {
    packet.kind = kKinds[event.Choice("kind", {"video", "audio", "probe", "retransmission"})];
    packet.rtp_clock_rate = packet.kind == PacketKind::kAudio ? kOpusClockHz : kVideoClockHz;
  }
  if (packet.payload_size == 0) packet.kind = PacketKind::kProbe;
  controller_.at_receiver->OnPacket(packet);
  fed_ = true;
  if (controller_.wake_on_arrival) OnTimeout(now);
}

}  // namespace weir::sim
