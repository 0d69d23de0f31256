#include "endpoints/rtp_receiver.h"

#include <algorithm>
#include <utility>

#include "core/step_limit.h"
#include "endpoints/rtp_format.h"

namespace weir::sim {
namespace {

constexpr SimDuration kFeedbackInterval = SimDuration::Millis(50);
constexpr SimDuration kReportInterval = SimDuration::Seconds(1);

uint32_t ReceiverSsrc(size_t flow_index) { return 0x52000000u + static_cast<uint32_t>(flow_index); }

}  // namespace

RtpReceiver::RtpReceiver(const Flow& flow, const FlowController& controller, PacketSink* rtcp_sink)
    : flow_(flow),
      spec_(flow.spec()),
      estimator_(controller.at_receiver.get()),
      wake_on_arrival_(controller.wake_on_arrival),
      transport_feedback_(controller.at_sender && !controller.congestion_control_feedback),
      congestion_control_feedback_(controller.congestion_control_feedback),
      rtcp_sink_(rtcp_sink),
      observer_(flow.observer),
      start_event_(this),
      estimator_timer_(this),
      feedback_timer_(this),
      report_timer_(this),
      repair_timer_(this) {
  if (flow.rtp().media.is_repaired()) repair_.emplace(spec_.start);
  start_event_.ScheduleAt(spec_.start);
}

void RtpReceiver::OnStart() {
  report_timer_.Set(spec_.start + kReportInterval);
  if (repair_) repair_timer_.Set(repair_->next_timeout());
  if (estimator_) OnEstimatorTimeout();
  congestion_control_generator_.Start(spec_.start);
  SetFeedbackTimer(spec_.start);
}

void RtpReceiver::OnPacket(Packet&& packet, SimTime arrival_time) {
  if (repair_ && !packet.rtcp && repair_->OnAnnounced(packet, arrival_time)) {
    repair_timer_.Set(repair_->next_timeout());
  }
  PendingPacket& pending = pending_.push_slot();
  pending.packet = std::move(packet);
  pending.arrival_time = arrival_time;
  size_t place = pending_.size() - 1;
  for (; place > 0 && pending_[place - 1].arrival_time > arrival_time; --place) {
    std::swap(pending_[place - 1], pending_[place]);
  }
  SpendSteps(static_cast<int64_t>(pending_.size() - 1 - place));
  if (wake_on_arrival_) SetEstimatorTimer(Now());
  if (congestion_control_feedback_) SetFeedbackTimer(Now());
}

void RtpReceiver::OnDropped(const Packet& packet) {
  if (packet.rtcp) return;
  observer_->OnDropped(packet);
  if (repair_) repair_->OnLost(packet);
}

void RtpReceiver::ProcessArrivals(SimTime until) {
  while (!pending_.empty() && pending_.front().arrival_time <= until) {
    Process(pending_.front());
    pending_.pop_front();
  }
}

void RtpReceiver::Process(PendingPacket& pending) {
  Packet& packet = pending.packet;
  if (packet.rtcp) {
    const auto& report = static_cast<const SenderRtcp&>(*packet.rtcp);
    last_sender_report_ = {report.sent_time, pending.arrival_time};
    if (report.receiver_reference_echo) {
      const SimDuration round_trip =
          pending.arrival_time - report.receiver_reference_echo->sent_time - report.receiver_reference_echo->held;
      if (estimator_) {
        estimator_->OnRoundTripTime(ToTimeDelta(round_trip), ToTimestamp(pending.arrival_time));
      }
      if (repair_) repair_->SetRoundTripTime(round_trip);
    }
    packet.rtcp.reset();
    return;
  }
  packet.rtp.arrival_time = ToTimestamp(pending.arrival_time);
  observer_->OnReceived(packet, pending.arrival_time);
  if (repair_ && packet.fec.packets == 0) repair_->OnPacket(packet, pending.arrival_time);
  if (repair_ && packet.fec.packets > 0) OnFec(packet, pending.arrival_time);
  const int64_t sequence_number = CountPacket(packet.rtp);
  if (estimator_) {
    packet.rtp.header_size = OverheadBytes(transport_feedback_);
    estimator_->OnPacket(packet.rtp);
  }
  if (transport_feedback_) {
    feedback_builder_.OnPacket(packet.transport_sequence_number, pending.arrival_time);
  }
  if (congestion_control_feedback_) {
    congestion_control_generator_.OnPacket(packet, sequence_number, pending.arrival_time);
  }
}

void RtpReceiver::OnFec(const Packet& packet, SimTime arrival_time) {
  if (const auto recovered = repair_->OnFec(packet, arrival_time)) observer_->OnRecovered(*recovered, arrival_time);
}

int64_t RtpReceiver::CountPacket(const PacketArrival& rtp) {
  Stream& stream = streams_[static_cast<size_t>(StreamOf(rtp.kind))];
  if (!stream.started) {
    stream.started = true;
    stream.first = stream.highest = rtp.sequence_number;
  }
  const int64_t sequence_number =
      stream.highest + static_cast<int16_t>(rtp.sequence_number - static_cast<uint16_t>(stream.highest));
  stream.first = std::min(stream.first, sequence_number);
  stream.highest = std::max(stream.highest, sequence_number);
  ++stream.received;
  return sequence_number;
}

void RtpReceiver::OnEstimatorTimeout() {
  const SimTime now = Now();
  if (now >= spec_.stop) return;
  ProcessArrivals(now);
  const Timestamp estimator_now = ToTimestamp(now);
  if (remb_sender_.next_timeout(*estimator_) <= estimator_now &&
      remb_sender_.OnTimeout(*estimator_, estimator_now).remb_due) {
    auto message = std::make_shared<ReceiverRtcp>();
    message->remb = SerializedRemb();
    SendRtcp(std::move(message));
    observer_->OnRembSent(estimator_->latest().target_rate, now);
  }
  SetEstimatorTimer(now);
}

void RtpReceiver::SetEstimatorTimer(SimTime now) {
  SimTime next = ToSimTime(remb_sender_.next_timeout(*estimator_));
  if (wake_on_arrival_ && !pending_.empty()) next = std::min(next, pending_.front().arrival_time);
  estimator_timer_.Set(std::max(next, now));
}

std::vector<uint8_t> RtpReceiver::SerializedRemb() const {
  Remb remb = RembFor(*estimator_);
  remb.sender_ssrc = ReceiverSsrc(flow_.index);
  std::vector<uint8_t> bytes(RembSize(remb.ssrc_count));
  bytes.resize(WriteRemb(remb, bytes));
  return bytes;
}

void RtpReceiver::OnFeedbackTimeout() {
  const SimTime now = Now();
  if (now >= spec_.stop) return;
  ProcessArrivals(now);
  if (auto feedback = transport_feedback_ ? feedback_builder_.Build(now) : std::nullopt) {
    const bool omits = estimator_ && estimator_->OmitsLosses();
    for (TransportFeedback& part : omits ? WithoutLosses(*feedback) : std::vector{std::move(*feedback)}) {
      auto message = std::make_shared<ReceiverRtcp>();
      message->transport_feedback = std::move(part);
      SendRtcp(std::move(message));
    }
  }
  if (congestion_control_feedback_) {
    auto message = std::make_shared<ReceiverRtcp>();
    message->congestion_control_feedback = congestion_control_generator_.OnTimeout(now);
    if (message->has_rate_feedback()) SendRtcp(std::move(message));
  }
  SetFeedbackTimer(now);
}

void RtpReceiver::SetFeedbackTimer(SimTime now) {
  if (transport_feedback_) feedback_timer_.Set(now + kFeedbackInterval);
  if (!congestion_control_feedback_) return;
  const SimTime poll_time = congestion_control_generator_.poll_time();
  feedback_timer_.Set(pending_.empty() ? poll_time : std::min(poll_time, pending_.front().arrival_time));
}

void RtpReceiver::OnReportTimeout() {
  const SimTime now = Now();
  if (now >= spec_.stop) return;
  ProcessArrivals(now);
  auto message = std::make_shared<ReceiverRtcp>();
  message->report = BuildReport(now);
  SendRtcp(std::move(message));
  report_timer_.Set(now + kReportInterval);
}

void RtpReceiver::OnRepairTimeout() {
  const SimTime now = Now();
  if (now >= spec_.stop) return;
  ProcessArrivals(now);
  VideoRepair::Requests requests = repair_->TakeRequests(now);
  if (!requests.nack.empty() || requests.pli) {
    nack_count_ += requests.nack.empty() ? 0 : 1;
    pli_count_ += requests.pli ? 1 : 0;
    auto message = std::make_shared<ReceiverRtcp>();
    message->nack = std::move(requests.nack);
    message->pli = requests.pli;
    SendRtcp(std::move(message));
  }
  repair_timer_.Set(repair_->next_timeout());
}

ReceiverReport RtpReceiver::BuildReport(SimTime now) const {
  ReceiverReport report;
  for (size_t i = 0; i < streams_.size(); ++i) {
    const Stream& stream = streams_[i];
    if (!stream.started) continue;
    // Counted from the first packet, at which the extended highest sequence number starts.
    report.blocks[i] = ReportBlock{
        .extended_highest_sequence_number = stream.highest + 1 - stream.first,
        .cumulative_packets_lost = stream.highest + 1 - stream.first - stream.received,
    };
  }
  if (last_sender_report_) {
    report.sender_report_echo =
        TimeEcho{.sent_time = last_sender_report_->first, .held = now - last_sender_report_->second};
  }
  return report;
}

void RtpReceiver::SendRtcp(std::shared_ptr<ReceiverRtcp> message) {
  Packet packet;
  message->sent_time = Now();
  if (message->has_rate_feedback()) observer_->OnFeedbackSent(message->sent_time);
  packet.size_bytes = IpPacketSize(*message);
  packet.sink = rtcp_sink_;
  packet.sent_time = message->sent_time;
  packet.extra_delay = spec_.extra_one_way_delay;
  packet.rtcp = std::move(message);
  ++rtcp_packets_sent_;
  flow_.return_link->Send(std::move(packet));
}

}  // namespace weir::sim
