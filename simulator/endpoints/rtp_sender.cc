#include "endpoints/rtp_sender.h"

#include <algorithm>
#include <cmath>

#include "endpoints/rtp_format.h"
#include "weir/remb_sender.h"

namespace weir::sim {
namespace {

// libwebrtc's default if no controller sets a factor.
constexpr double kPacingFactor = 2.5;
constexpr int64_t kReportIntervalNs = 1'000'000'000;

// Chromium's start rate in calls (x-google-start-bitrate), high enough for REMB alone to limit it.
constexpr DataRate kRembStartRate = DataRate::KilobitsPerSecond(20'000);

// libwebrtc: the rates of video and repair are measured over the last second; repair lowers the encoder's rate at most
// by half; retransmissions are limited to the target over half a second; key frames have a minimum interval.
constexpr int64_t kSentRateWindowNs = 1'000'000'000;
constexpr double kMaxRepairShare = 0.5;
constexpr int64_t kRetransmissionLimitWindowNs = 500'000'000;
constexpr int64_t kMinKeyFrameIntervalNs = 300'000'000;
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
      loss_reports_(ToTimestamp(spec_.start_ns)),
      pacer_(controller_ ? kSendSideOverheadBytes : kRembOverheadBytes),
      video_sent_(kSentRateWindowNs),
      repairs_sent_(kSentRateWindowNs),
      retransmissions_asked_(kRetransmissionLimitWindowNs),
      last_key_frame_request_ns_(spec_.start_ns - kMinKeyFrameIntervalNs),
      activity_timer_(this),
      send_timer_(this),
      controller_timer_(this),
      report_timer_(this) {
  if (!controller_) {
    loss_limit_.emplace(std::max(kRembStartRate, constraints_.max_rate), constraints_.min_rate,
                        ToTimestamp(spec_.start_ns));
  }
  activity_ns_.push_back(spec_.start_ns);
  for (const auto& [from_ns, to_ns] : flow.rtp().pauses_ns) {
    if (to_ns <= spec_.start_ns || from_ns >= spec_.stop_ns) continue;
    activity_ns_.push_back(std::max(from_ns, spec_.start_ns));
    activity_ns_.push_back(std::min(to_ns, spec_.stop_ns));
  }
  activity_ns_.push_back(spec_.stop_ns);
  activity_timer_.Set(spec_.start_ns);
}

void RtpSender::OnActivityTimeout() {
  const int64_t now_ns = NowNs();
  if (next_activity_ == 0) {
    if (controller_) {
      TargetRateConstraints constraints = constraints_;
      constraints.at_time = ToTimestamp(now_ns);
      controller_->OnTargetRateConstraints(constraints);
      PollController(now_ns);
    }
    if (target_rate_ == DataRate::Zero()) SetTargetRate(constraints_.start_rate, now_ns);
    report_timer_.Set(now_ns + kReportIntervalNs);
  }
  bool active = false;
  while (next_activity_ < activity_ns_.size() && activity_ns_[next_activity_] <= now_ns) {
    active = next_activity_++ % 2 == 0;
  }
  SetActive(active, now_ns);
  if (next_activity_ < activity_ns_.size()) {
    activity_timer_.Set(activity_ns_[next_activity_]);
  } else {
    controller_timer_.Stop();
    report_timer_.Stop();
  }
}

void RtpSender::SetActive(bool active, int64_t now_ns) {
  source_->SetActive(active, now_ns);
  pacer_.SetActive(active);
  SetSendTimer(now_ns);
}

void RtpSender::OnSendTimeout() {
  const int64_t now_ns = NowNs();
  int64_t next_ns = now_ns;
  while (next_ns <= now_ns) {
    while (TakesMedia() && source_->next_packet_ns() <= now_ns) {
      pacer_.Enqueue(source_->TakePacket(now_ns), now_ns);
    }
    if (const std::optional<MediaPacket> packet = pacer_.Take(now_ns)) Send(*packet, now_ns);
    next_ns = NextSendNs(now_ns);
  }
  send_timer_.Set(next_ns);
}

int64_t RtpSender::NextSendNs(int64_t now_ns) const {
  const int64_t next_ns = pacer_.next_send_ns(now_ns);
  return TakesMedia() ? std::min(next_ns, source_->next_packet_ns()) : next_ns;
}

void RtpSender::SetSendTimer(int64_t now_ns) { send_timer_.Set(NextSendNs(now_ns)); }

void RtpSender::Send(const MediaPacket& media, int64_t now_ns) {
  Packet packet = MakePacket(media, now_ns);
  observer_->OnSent(packet);
  if (repaired_) OnSentVideo(packet, now_ns);
  if (controller_) {
    SentPacket sent;
    sent.send_time = ToTimestamp(now_ns);
    sent.size = DataSize::Bytes(packet.size_bytes);
    sent.sequence_number = packet.transport_sequence_number;
    sent.pacing_info = media.pacing_info;
    sent.audio = media.kind == PacketKind::kAudio;
    history_.OnSentPacket(sent, StreamOf(media.kind));
    controller_->OnSentPacket(sent);
    PollController(now_ns);
  }
  flow_.data_link->Send(std::move(packet));
}

Packet RtpSender::MakePacket(const MediaPacket& media, int64_t now_ns) {
  Packet packet;
  packet.size_bytes = kUdpIpOverheadBytes + kRtpHeaderBytes + media.payload_bytes + media.padding_bytes;
  packet.sink = receiver_;
  packet.sent_time_ns = now_ns;
  packet.capture_time_ns = media.capture_time_ns;
  packet.extra_delay_ns = spec_.extra_one_way_delay_ns;
  packet.rtp.ssrc = SsrcOf(flow_.index, media.kind);
  const int64_t sequence_number = next_sequence_numbers_[static_cast<size_t>(StreamOf(media.kind))]++;
  packet.rtp.sequence_number = static_cast<uint16_t>(sequence_number);
  packet.rtp.payload_type = PayloadTypeOf(media.kind);
  packet.rtp.kind = media.kind;
  packet.rtp.ecn = ecn_;
  packet.rtp.has_abs_send_time = true;
  packet.rtp.abs_send_time = AbsSendTime(clock_.Shown(now_ns));
  packet.rtp.rtp_timestamp = RtpTimestamp(media.kind, clock_.Shown(media.capture_time_ns));
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

void RtpSender::OnPacket(Packet&& packet, int64_t arrival_time_ns) {
  if (arrival_time_ns >= spec_.stop_ns) return;
  const auto& message = static_cast<const ReceiverRtcp&>(*packet.rtcp);
  if (message.has_rate_feedback()) observer_->OnFeedbackReceived(message.sent_ns, arrival_time_ns);
  if (!message.remb.empty()) OnRemb(message.remb, arrival_time_ns);
  if (message.report) {
    last_receiver_reference_ns_ = {message.sent_ns, arrival_time_ns};
    OnReceiverReport(*message.report, arrival_time_ns);
  }
  if (!message.nack.empty()) OnNack(message.nack, arrival_time_ns);
  if (message.pli) OnPli(arrival_time_ns);
  if (controller_) {
    OnFeedback(message, ToTimestamp(arrival_time_ns));
    PollController(arrival_time_ns);
  }
  UpdateMediaRate(arrival_time_ns);
  SetSendTimer(arrival_time_ns);
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

void RtpSender::OnRemb(std::span<const uint8_t> bytes, int64_t now_ns) {
  const std::optional<Remb> remb = ParseRemb(bytes);
  if (!remb || remb->rate <= DataRate::Zero()) return;
  if (controller_) {
    controller_->OnRemoteBitrateReport({.receive_time = ToTimestamp(now_ns), .bandwidth = remb->rate});
    return;
  }
  remb_ = remb->rate;
  FollowRemb(now_ns);
}

void RtpSender::OnReceiverReport(const ReceiverReport& report, int64_t now_ns) {
  const Timestamp now = ToTimestamp(now_ns);
  if (report.sender_report_echo) {
    const int64_t round_trip_ns = now_ns - report.sender_report_echo->sent_ns - report.sender_report_echo->held_ns;
    round_trip_time_ns_ = round_trip_ns;
    video_history_.SetRoundTripTime(round_trip_ns);
    const RoundTripTimeUpdate update{.receive_time = now, .round_trip_time = TimeDelta::Micros(round_trip_ns / 1000)};
    if (controller_) controller_->OnRoundTripTimeUpdate(update);
    if (loss_limit_) loss_limit_->OnRoundTripTimeUpdate(update);
  }
  const auto losses = loss_reports_.OnReceiverReport(report, now);
  if (!losses) return;
  if (fec_frames_per_second_ > 0) {
    const double lost = static_cast<double>(losses->packets_lost_delta);
    fec_controller_.OnLossRatio(lost / (lost + static_cast<double>(losses->packets_received_delta)), now_ns);
  }
  if (controller_) controller_->OnTransportLossReport(*losses);
  if (loss_limit_) {
    loss_limit_->OnTransportLossReport(*losses);
    FollowRemb(now_ns);
  }
}

void RtpSender::OnNack(const std::vector<int64_t>& sequence_numbers, int64_t now_ns) {
  for (const int64_t sequence_number : sequence_numbers) {
    const int64_t limit_bytes = target_rate_.bps() / 8 * kRetransmissionLimitWindowNs / 1'000'000'000;
    if (retransmissions_asked_.Sum(now_ns) >= limit_bytes) return;
    const std::optional<MediaPacket> packet = video_history_.TakeForRetransmission(sequence_number, now_ns);
    if (!packet) continue;
    retransmissions_asked_.Add(packet->payload_bytes, now_ns);
    pacer_.Enqueue(*packet, now_ns);
  }
}

void RtpSender::OnPli(int64_t now_ns) {
  if (now_ns - last_key_frame_request_ns_ < kMinKeyFrameIntervalNs) return;
  last_key_frame_request_ns_ = now_ns;
  source_->RequestKeyFrame(now_ns);
}

void RtpSender::OnSentVideo(const Packet& packet, int64_t now_ns) {
  const bool original = packet.is_original_video(), retransmission = packet.rtp.kind == PacketKind::kRetransmission;
  if (!retransmission && packet.rtp.kind != PacketKind::kVideo) return;
  (original ? video_sent_ : repairs_sent_).Add(packet.size_bytes, now_ns);
  retransmitted_packets_sent_ += retransmission ? 1 : 0;
  if (original || retransmission) video_history_.OnSent(packet, now_ns);
  if (!original || !fec_generator_.active()) return;
  for (const MediaPacket& fec : fec_generator_.OnSent(packet)) pacer_.Enqueue(fec, now_ns);
}

void RtpSender::OnDropped(const Packet&) { ++rtcp_packets_lost_; }

void RtpSender::OnControllerTimeout() {
  const int64_t now_ns = NowNs();
  PollController(now_ns);
  SetSendTimer(now_ns);
}

void RtpSender::PollController(int64_t now_ns) {
  const Timestamp now = ToTimestamp(now_ns);
  if (controller_->next_timeout() <= now) {
    const SenderControlUpdate update = controller_->OnTimeout(now);
    if (update.pacer_config) pacer_.SetConfig(*update.pacer_config, now_ns);
    if (update.congestion_window) congestion_window_ = *update.congestion_window;
    for (const ProbeClusterConfig& probe : update.probe_cluster_configs) pacer_.AddProbeCluster(probe);
    if (update.target_rate) {
      SetTargetRate(update.target_rate->target_rate, now_ns);
      SetFrameDropRatio(update.frame_drop_ratio, now_ns);
    }
  }
  const bool congested = history_.data_in_flight() >= congestion_window_;
  pacer_.SetCongested(congested);
  source_->HoldFrames(congested && controller_->holds_frames(), now_ns);
  controller_timer_.Set(ToSimulatedNs(controller_->next_timeout()));
}

void RtpSender::SetTargetRate(DataRate target_rate, int64_t now_ns) {
  if (target_rate == target_rate_) return;
  target_rate_ = target_rate;
  UpdateMediaRate(now_ns);
  if (!controller_) {
    const double pacing_bps = kPacingFactor * static_cast<double>(target_rate.bps());
    pacer_.SetConfig({.pacing_rate = DataRate::BitsPerSecondF(pacing_bps)}, now_ns);
  }
  observer_->OnTargetRate(target_rate, now_ns);
}

void RtpSender::SetFrameDropRatio(double ratio, int64_t now_ns) {
  const int64_t interval = ratio > kLeastFrameDropRatio ? std::max<int64_t>(2, static_cast<int64_t>(1 / ratio)) : 0;
  if (interval == frame_drop_interval_) return;
  frame_drop_interval_ = interval;
  source_->SetFrameDropInterval(interval);
  UpdateMediaRate(now_ns);
}

void RtpSender::FollowRemb(int64_t now_ns) {
  if (remb_) SetTargetRate(std::min(*remb_, loss_limit_->rate()), now_ns);
}

void RtpSender::UpdateMediaRate(int64_t now_ns) {
  DataRate media_rate = target_rate_;
  if (fec_frames_per_second_ > 0) {
    fec_generator_.SetParameters(
        fec_controller_.Parameters(target_rate_, fec_frames_per_second_, round_trip_time_ns_, now_ns));
  }
  if (const auto repairs = static_cast<double>(repairs_sent_.Sum(now_ns)); repairs > 0) {
    const double share = repairs / (repairs + static_cast<double>(video_sent_.Sum(now_ns)));
    media_rate =
        DataRate::BitsPerSecondF(static_cast<double>(target_rate_.bps()) * (1 - std::min(share, kMaxRepairShare)));
  }
  if (frame_drop_interval_ > 0) media_rate = media_rate * (1 - 1.0 / static_cast<double>(frame_drop_interval_));
  if (media_rate == media_rate_) return;
  media_rate_ = media_rate;
  source_->SetTargetRate(media_rate, now_ns);
}

void RtpSender::OnReportTimeout() {
  const int64_t now_ns = NowNs();
  auto message = std::make_shared<SenderRtcp>();
  message->sent_ns = now_ns;
  if (last_receiver_reference_ns_) {
    message->receiver_reference_echo = TimeEcho{.sent_ns = last_receiver_reference_ns_->first,
                                                .held_ns = now_ns - last_receiver_reference_ns_->second};
  }
  Packet packet;
  packet.size_bytes = IpPacketSize(*message);
  packet.sink = receiver_;
  packet.sent_time_ns = now_ns;
  packet.extra_delay_ns = spec_.extra_one_way_delay_ns;
  packet.rtcp = std::move(message);
  flow_.data_link->Send(std::move(packet));
  report_timer_.Set(now_ns + kReportIntervalNs);
}

}  // namespace weir::sim
