#include "endpoints/rtp_sender.h"

#include <algorithm>
#include <cmath>

#include "endpoints/rtp_format.h"
#include "weir/remb_sender.h"

namespace weir::sim {
namespace {

// libwebrtc's default if no controller sets a factor.
constexpr double kPacingFactor = 2.5;
constexpr SimDuration kReportInterval = SimDuration::Seconds(1);

// Chromium's start rate in calls (x-google-start-bitrate), high enough for REMB alone to limit it.
constexpr DataRate kRembStartRate = DataRate::KilobitsPerSecond(20'000);

// libwebrtc: the rates of video and repair are measured over the last second; repair lowers the encoder's rate at most
// by half; retransmissions are limited to the target over half a second; key frames have a minimum interval.
constexpr SimDuration kSentRateWindow = SimDuration::Seconds(1);
constexpr double kMaxRepairShare = 0.5;
constexpr SimDuration kRetransmissionLimitWindow = SimDuration::Millis(500);
constexpr SimDuration kMinKeyFrameInterval = SimDuration::Millis(300);
// libwebrtc: at most every second frame is dropped, and none below this ratio.
constexpr double kLeastFrameDropRatio = 0.01;

}  // namespace

RtpSender::RtpSender(const Flow& flow, const TargetRateConstraints& constraints, const FlowController& controller,
                     std::unique_ptr<MediaSource> source)
    : flow_(flow),
      spec_(flow.spec()),
      clock_(flow.rtp().sender_clock),
      constraints_(constraints),
      // As Chromium does with RFC 8888.
      ecn_(controller.congestion_control_feedback ? EcnMarking::kEct1 : EcnMarking::kNotEct),
      repaired_(flow.rtp().media.is_repaired()),
      fec_frames_per_second_(repaired_ && controller.reports_loss ? flow.rtp().media.frames_per_second : 0),
      source_(std::move(source)),
      elastic_(source_->elastic()),
      controller_(controller.at_sender.get()),
      observer_(flow.observer),
      loss_reports_(ToTimestamp(spec_.start)),
      pacer_(controller_ ? kSendSideOverheadBytes : kRembOverheadBytes),
      video_sent_(kSentRateWindow),
      repairs_sent_(kSentRateWindow),
      retransmissions_asked_(kRetransmissionLimitWindow),
      last_key_frame_request_(spec_.start - kMinKeyFrameInterval),
      activity_timer_(this),
      send_timer_(this),
      controller_timer_(this),
      report_timer_(this) {
  if (!controller_) {
    loss_limit_.emplace(std::max(kRembStartRate, constraints_.max_rate), constraints_.min_rate,
                        ToTimestamp(spec_.start));
  }
  activity_.push_back(spec_.start);
  for (const auto& [from, to] : flow.rtp().pauses) {
    if (to <= spec_.start || from >= spec_.stop) continue;
    activity_.push_back(std::max(from, spec_.start));
    activity_.push_back(std::min(to, spec_.stop));
  }
  activity_.push_back(spec_.stop);
  activity_timer_.Set(spec_.start);
}

void RtpSender::OnActivityTimeout() {
  const SimTime now = Now();
  if (next_activity_ == 0) {
    if (controller_) {
      TargetRateConstraints constraints = constraints_;
      constraints.at_time = ToTimestamp(now);
      controller_->OnTargetRateConstraints(constraints);
      PollController(now);
    }
    if (target_rate_ == DataRate::Zero()) SetTargetRate(constraints_.start_rate, now);
    report_timer_.Set(now + kReportInterval);
  }
  bool active = false;
  while (next_activity_ < activity_.size() && activity_[next_activity_] <= now) {
    active = next_activity_++ % 2 == 0;
  }
  SetActive(active, now);
  if (next_activity_ < activity_.size()) {
    activity_timer_.Set(activity_[next_activity_]);
  } else {
    controller_timer_.Stop();
    report_timer_.Stop();
  }
}

void RtpSender::SetActive(bool active, SimTime now) {
  source_->SetActive(active, now);
  pacer_.SetActive(active);
  SetSendTimer(now);
}

void RtpSender::OnSendTimeout() {
  const SimTime now = Now();
  SimTime next = now;
  while (next <= now) {
    while (TakesMedia() && source_->next_packet_time() <= now) {
      pacer_.Enqueue(source_->TakePacket(now), now);
    }
    if (const std::optional<MediaPacket> packet = pacer_.Take(now)) Send(*packet, now);
    next = NextSend(now);
  }
  send_timer_.Set(next);
}

SimTime RtpSender::NextSend(SimTime now) const {
  const SimTime next = pacer_.next_send_time(now);
  return TakesMedia() ? std::min(next, source_->next_packet_time()) : next;
}

void RtpSender::SetSendTimer(SimTime now) { send_timer_.Set(NextSend(now)); }

void RtpSender::Send(const MediaPacket& media, SimTime now) {
  Packet packet = MakePacket(media, now);
  observer_->OnSent(packet);
  if (repaired_) OnSentVideo(packet, now);
  if (controller_) {
    SentPacket sent;
    sent.send_time = ToTimestamp(now);
    sent.size = DataSize::Bytes(packet.size_bytes);
    sent.sequence_number = packet.transport_sequence_number;
    sent.pacing_info = media.pacing_info;
    sent.audio = media.kind == PacketKind::kAudio;
    history_.OnSentPacket(sent, StreamOf(media.kind));
    controller_->OnSentPacket(sent);
    PollController(now);
  }
  flow_.data_link->Send(std::move(packet));
}

Packet RtpSender::MakePacket(const MediaPacket& media, SimTime now) {
  Packet packet;
  packet.size_bytes = kUdpIpOverheadBytes + kRtpHeaderBytes + media.payload_bytes + media.padding_bytes;
  packet.sink = receiver_;
  packet.sent_time = now;
  packet.capture_time = media.capture_time;
  packet.extra_delay = spec_.extra_one_way_delay;
  packet.rtp.ssrc = SsrcOf(flow_.index, media.kind);
  const int64_t sequence_number = next_sequence_numbers_[static_cast<size_t>(StreamOf(media.kind))]++;
  packet.rtp.sequence_number = static_cast<uint16_t>(sequence_number);
  packet.rtp.payload_type = PayloadTypeOf(media.kind);
  packet.rtp.kind = media.kind;
  packet.rtp.ecn = ecn_;
  packet.rtp.has_abs_send_time = true;
  packet.rtp.abs_send_time = AbsSendTime(clock_.Shown(now));
  packet.rtp.rtp_timestamp = RtpTimestamp(media.kind, clock_.Shown(media.capture_time));
  packet.rtp.rtp_clock_rate = ClockRateOf(media.kind);
  packet.rtp.header_size = kRtpHeaderBytes;
  packet.rtp.payload_size = media.payload_bytes;
  packet.rtp.padding_size = media.padding_bytes;
  packet.transport_sequence_number = next_transport_sequence_number_++;
  packet.frame_part = media.frame_part;
  packet.fec = media.fec;
  const bool is_fec = media.fec.packets > 0;
  if (media.kind == PacketKind::kRetransmission || is_fec) {
    packet.media_sequence_number = media.repaired_sequence_number;
    fec_packets_sent_ += is_fec ? 1 : 0;
  } else {
    packet.media_sequence_number = sequence_number - (media.kind == PacketKind::kVideo ? fec_packets_sent_ : 0);
  }
  return packet;
}

void RtpSender::OnPacket(Packet&& packet, SimTime arrival_time) {
  if (arrival_time >= spec_.stop) return;
  const auto& message = static_cast<const ReceiverRtcp&>(*packet.rtcp);
  if (message.has_rate_feedback()) observer_->OnFeedbackReceived(message.sent_time, arrival_time);
  if (!message.remb.empty()) OnRemb(message.remb, arrival_time);
  if (message.report) {
    last_receiver_reference_ = {message.sent_time, arrival_time};
    OnReceiverReport(*message.report, arrival_time);
  }
  if (!message.nack.empty()) OnNack(message.nack, arrival_time);
  if (message.pli) OnPli(arrival_time);
  if (controller_) {
    OnFeedback(message, ToTimestamp(arrival_time));
    PollController(arrival_time);
  }
  UpdateMediaRate(arrival_time);
  SetSendTimer(arrival_time);
}

void RtpSender::OnFeedback(const ReceiverRtcp& message, Timestamp now) {
  if (message.transport_feedback) OnPacketResults(history_.OnTransportFeedback(*message.transport_feedback, now));
  if (message.congestion_control_feedback)
    OnPacketResults(history_.OnCongestionControlFeedback(*message.congestion_control_feedback, now));
}

void RtpSender::OnPacketResults(std::optional<TransportPacketsFeedback> feedback) {
  if (!feedback) return;
  for (PacketResult& packet : feedback->packet_feedbacks) {
    if (!packet.receive_time.IsFinite()) continue;
    packet.receive_time = Timestamp::Micros(clock_.ArrivalAtSender(packet.receive_time.us()));
  }
  controller_->OnTransportPacketsFeedback(*feedback);
}

void RtpSender::OnRemb(std::span<const uint8_t> bytes, SimTime now) {
  const std::optional<Remb> remb = ParseRemb(bytes);
  if (!remb || remb->rate <= DataRate::Zero()) return;
  if (controller_) {
    controller_->OnRemoteBitrateReport({.receive_time = ToTimestamp(now), .bandwidth = remb->rate});
    return;
  }
  remb_ = remb->rate;
  FollowRemb(now);
}

void RtpSender::OnReceiverReport(const ReceiverReport& report, SimTime now) {
  if (report.sender_report_echo) {
    const SimDuration round_trip = now - report.sender_report_echo->sent_time - report.sender_report_echo->held;
    round_trip_time_ = round_trip;
    video_history_.SetRoundTripTime(round_trip);
    const RoundTripTimeUpdate update{.receive_time = ToTimestamp(now), .round_trip_time = ToTimeDelta(round_trip)};
    if (controller_) controller_->OnRoundTripTimeUpdate(update);
    if (loss_limit_) loss_limit_->OnRoundTripTimeUpdate(update);
  }
  const auto losses = loss_reports_.OnReceiverReport(report, ToTimestamp(now));
  if (!losses) return;
  if (fec_frames_per_second_ > 0) {
    const double lost = static_cast<double>(losses->packets_lost_delta);
    fec_controller_.OnLossRatio(lost / (lost + static_cast<double>(losses->packets_received_delta)), now);
  }
  if (controller_) controller_->OnTransportLossReport(*losses);
  if (loss_limit_) {
    loss_limit_->OnTransportLossReport(*losses);
    FollowRemb(now);
  }
}

void RtpSender::OnNack(const std::vector<int64_t>& sequence_numbers, SimTime now) {
  for (const int64_t sequence_number : sequence_numbers) {
    const int64_t limit_bytes = target_rate_.bps() / 8 * kRetransmissionLimitWindow.ns() / 1'000'000'000;
    if (retransmissions_asked_.Sum(now) >= limit_bytes) return;
    const std::optional<MediaPacket> packet = video_history_.TakeForRetransmission(sequence_number, now);
    if (!packet) continue;
    retransmissions_asked_.Add(packet->payload_bytes, now);
    pacer_.Enqueue(*packet, now);
  }
}

void RtpSender::OnPli(SimTime now) {
  if (now - last_key_frame_request_ < kMinKeyFrameInterval) return;
  last_key_frame_request_ = now;
  source_->RequestKeyFrame(now);
}

void RtpSender::OnSentVideo(const Packet& packet, SimTime now) {
  const bool original = packet.is_original_video(), retransmission = packet.rtp.kind == PacketKind::kRetransmission;
  if (!retransmission && packet.rtp.kind != PacketKind::kVideo) return;
  (original ? video_sent_ : repairs_sent_).Add(packet.size_bytes, now);
  retransmitted_packets_sent_ += retransmission ? 1 : 0;
  if (original || retransmission) video_history_.OnSent(packet, now);
  if (!original || !fec_generator_.active()) return;
  for (const MediaPacket& fec : fec_generator_.OnSent(packet)) pacer_.Enqueue(fec, now);
}

void RtpSender::OnDropped(const Packet&) { ++rtcp_packets_lost_; }

void RtpSender::OnControllerTimeout() {
  const SimTime now = Now();
  PollController(now);
  SetSendTimer(now);
}

void RtpSender::PollController(SimTime now) {
  if (controller_->next_timeout() <= ToTimestamp(now)) {
    const SenderControlUpdate update = controller_->OnTimeout(ToTimestamp(now));
    if (update.pacer_config) pacer_.SetConfig(*update.pacer_config, now);
    if (update.congestion_window) congestion_window_ = *update.congestion_window;
    for (const ProbeClusterConfig& probe : update.probe_cluster_configs) pacer_.AddProbeCluster(probe);
    if (update.target_rate) {
      SetTargetRate(update.target_rate->target_rate, now);
      SetFrameDropRatio(update.frame_drop_ratio, now);
    }
  }
  const bool congested = history_.data_in_flight() >= congestion_window_;
  pacer_.SetCongested(congested);
  source_->HoldFrames(congested && controller_->holds_frames(), now);
  controller_timer_.Set(ToSimTime(controller_->next_timeout()));
}

void RtpSender::SetTargetRate(DataRate target_rate, SimTime now) {
  if (target_rate == target_rate_) return;
  target_rate_ = target_rate;
  UpdateMediaRate(now);
  if (!controller_) {
    const double pacing_bps = kPacingFactor * static_cast<double>(target_rate.bps());
    pacer_.SetConfig({.pacing_rate = DataRate::BitsPerSecondF(pacing_bps)}, now);
  }
  observer_->OnTargetRate(target_rate, now);
}

void RtpSender::SetFrameDropRatio(double ratio, SimTime now) {
  const int64_t interval = ratio > kLeastFrameDropRatio ? std::max<int64_t>(2, static_cast<int64_t>(1 / ratio)) : 0;
  if (interval == frame_drop_interval_) return;
  frame_drop_interval_ = interval;
  source_->SetFrameDropInterval(interval);
  UpdateMediaRate(now);
}

void RtpSender::FollowRemb(SimTime now) {
  if (remb_) SetTargetRate(std::min(*remb_, loss_limit_->rate()), now);
}

void RtpSender::UpdateMediaRate(SimTime now) {
  DataRate media_rate = target_rate_;
  if (fec_frames_per_second_ > 0) {
    fec_generator_.SetParameters(
        fec_controller_.Parameters(target_rate_, fec_frames_per_second_, round_trip_time_, now));
  }
  if (const auto repairs = static_cast<double>(repairs_sent_.Sum(now)); repairs > 0) {
    const double share = repairs / (repairs + static_cast<double>(video_sent_.Sum(now)));
    media_rate =
        DataRate::BitsPerSecondF(static_cast<double>(target_rate_.bps()) * (1 - std::min(share, kMaxRepairShare)));
  }
  if (frame_drop_interval_ > 0) media_rate = media_rate * (1 - 1.0 / static_cast<double>(frame_drop_interval_));
  if (media_rate == media_rate_) return;
  media_rate_ = media_rate;
  source_->SetTargetRate(media_rate, now);
}

void RtpSender::OnReportTimeout() {
  const SimTime now = Now();
  auto message = std::make_shared<SenderRtcp>();
  message->sent_time = now;
  if (last_receiver_reference_) {
    message->receiver_reference_echo =
        TimeEcho{.sent_time = last_receiver_reference_->first, .held = now - last_receiver_reference_->second};
  }
  Packet packet;
  packet.size_bytes = IpPacketSize(*message);
  packet.sink = receiver_;
  packet.sent_time = now;
  packet.extra_delay = spec_.extra_one_way_delay;
  packet.rtcp = std::move(message);
  flow_.data_link->Send(std::move(packet));
  report_timer_.Set(now + kReportInterval);
}

}  // namespace weir::sim
