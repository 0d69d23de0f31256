#include "endpoints/rtp_receiver.h"

#include <algorithm>
#include <utility>

#include "core/step_limit.h"
#include "endpoints/rtp_format.h"

namespace weir::sim {
namespace {

constexpr int64_t kFeedbackIntervalNs = 50'000'000;
constexpr int64_t kReportIntervalNs = 1'000'000'000;

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
  if (flow.rtp().media.is_repaired()) repair_.emplace(spec_.start_ns);
  start_event_.ScheduleAt(spec_.start_ns);
}

void RtpReceiver::OnStart() {
  report_timer_.Set(spec_.start_ns + kReportIntervalNs);
  if (repair_) repair_timer_.Set(repair_->next_timeout_ns());
  if (estimator_) OnEstimatorTimeout();
  congestion_control_generator_.Start(spec_.start_ns);
  SetFeedbackTimer(spec_.start_ns);
}

void RtpReceiver::OnPacket(Packet&& packet, int64_t arrival_time_ns) {
  if (repair_ && !packet.rtcp && repair_->OnAnnounced(packet, arrival_time_ns)) {
    repair_timer_.Set(repair_->next_timeout_ns());
  }
  PendingPacket& pending = pending_.push_slot();
  pending.packet = std::move(packet);
  pending.arrival_time_ns = arrival_time_ns;
  size_t place = pending_.size() - 1;
  for (; place > 0 && pending_[place - 1].arrival_time_ns > arrival_time_ns; --place) {
    std::swap(pending_[place - 1], pending_[place]);
  }
  SpendSteps(static_cast<int64_t>(pending_.size() - 1 - place));
  if (wake_on_arrival_) SetEstimatorTimer(NowNs());
  if (congestion_control_feedback_) SetFeedbackTimer(NowNs());
}

void RtpReceiver::OnDropped(const Packet& packet) {
  if (packet.rtcp) return;
  observer_->OnDropped(packet);
  if (repair_) repair_->OnLost(packet);
}

void RtpReceiver::ProcessArrivals(int64_t until_ns) {
  while (!pending_.empty() && pending_.front().arrival_time_ns <= until_ns) {
    Process(pending_.front());
    pending_.pop_front();
  }
}

void RtpReceiver::Process(PendingPacket& pending) {
  Packet& packet = pending.packet;
  if (packet.rtcp) {
    const auto& report = static_cast<const SenderRtcp&>(*packet.rtcp);
    last_sender_report_ns_ = {report.sent_ns, pending.arrival_time_ns};
    if (report.receiver_reference_echo) {
      const int64_t round_trip_ns =
          pending.arrival_time_ns - report.receiver_reference_echo->sent_ns - report.receiver_reference_echo->held_ns;
      if (estimator_) {
        estimator_->OnRoundTripTime(TimeDelta::Micros(round_trip_ns / 1000), ToTimestamp(pending.arrival_time_ns));
      }
      if (repair_) repair_->SetRoundTripTime(round_trip_ns);
    }
    packet.rtcp.reset();
    return;
  }
  packet.rtp.arrival_time = ToTimestamp(pending.arrival_time_ns);
  observer_->OnReceived(packet, pending.arrival_time_ns);
  if (repair_ && packet.fec.packets == 0) repair_->OnPacket(packet, pending.arrival_time_ns);
  if (repair_ && packet.fec.packets > 0) OnFec(packet, pending.arrival_time_ns);
  const int64_t sequence_number = CountPacket(packet.rtp);
  if (estimator_) {
    packet.rtp.header_size = OverheadBytes(transport_feedback_);
    estimator_->OnPacket(packet.rtp);
  }
  if (transport_feedback_) {
    feedback_builder_.OnPacket(packet.transport_sequence_number, pending.arrival_time_ns);
  }
  if (congestion_control_feedback_) {
    congestion_control_generator_.OnPacket(packet, sequence_number, pending.arrival_time_ns);
  }
}

void RtpReceiver::OnFec(const Packet& packet, int64_t arrival_time_ns) {
  if (const auto recovered = repair_->OnFec(packet, arrival_time_ns))
    observer_->OnRecovered(*recovered, arrival_time_ns);
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
  const int64_t now_ns = NowNs();
  if (now_ns >= spec_.stop_ns) return;
  ProcessArrivals(now_ns);
  const Timestamp now = ToTimestamp(now_ns);
  if (remb_sender_.next_timeout(*estimator_) <= now && remb_sender_.OnTimeout(*estimator_, now).remb_due) {
    auto message = std::make_shared<ReceiverRtcp>();
    message->remb = SerializedRemb();
    SendRtcp(std::move(message));
    observer_->OnRembSent(estimator_->latest().target_rate, now_ns);
  }
  SetEstimatorTimer(now_ns);
}

void RtpReceiver::SetEstimatorTimer(int64_t now_ns) {
  int64_t next_ns = ToSimulatedNs(remb_sender_.next_timeout(*estimator_));
  if (wake_on_arrival_ && !pending_.empty()) next_ns = std::min(next_ns, pending_.front().arrival_time_ns);
  estimator_timer_.Set(std::max(next_ns, now_ns));
}

std::vector<uint8_t> RtpReceiver::SerializedRemb() const {
  Remb remb = RembFor(*estimator_);
  remb.sender_ssrc = ReceiverSsrc(flow_.index);
  std::vector<uint8_t> bytes(RembSize(remb.ssrc_count));
  bytes.resize(WriteRemb(remb, bytes));
  return bytes;
}

void RtpReceiver::OnFeedbackTimeout() {
  const int64_t now_ns = NowNs();
  if (now_ns >= spec_.stop_ns) return;
  ProcessArrivals(now_ns);
  if (auto feedback = transport_feedback_ ? feedback_builder_.Build(now_ns) : std::nullopt) {
    const bool omits = estimator_ && estimator_->OmitsLosses();
    for (TransportFeedback& part : omits ? WithoutLosses(*feedback) : std::vector{std::move(*feedback)}) {
      auto message = std::make_shared<ReceiverRtcp>();
      message->transport_feedback = std::move(part);
      SendRtcp(std::move(message));
    }
  }
  if (congestion_control_feedback_) {
    auto message = std::make_shared<ReceiverRtcp>();
    message->congestion_control_feedback = congestion_control_generator_.OnTimeout(now_ns);
    if (message->has_rate_feedback()) SendRtcp(std::move(message));
  }
  SetFeedbackTimer(now_ns);
}

void RtpReceiver::SetFeedbackTimer(int64_t now_ns) {
  if (transport_feedback_) feedback_timer_.Set(now_ns + kFeedbackIntervalNs);
  if (!congestion_control_feedback_) return;
  const int64_t poll_time_ns = congestion_control_generator_.poll_time_ns();
  feedback_timer_.Set(pending_.empty() ? poll_time_ns : std::min(poll_time_ns, pending_.front().arrival_time_ns));
}

void RtpReceiver::OnReportTimeout() {
  const int64_t now_ns = NowNs();
  if (now_ns >= spec_.stop_ns) return;
  ProcessArrivals(now_ns);
  auto message = std::make_shared<ReceiverRtcp>();
  message->report = BuildReport(now_ns);
  SendRtcp(std::move(message));
  report_timer_.Set(now_ns + kReportIntervalNs);
}

void RtpReceiver::OnRepairTimeout() {
  const int64_t now_ns = NowNs();
  if (now_ns >= spec_.stop_ns) return;
  ProcessArrivals(now_ns);
  VideoRepair::Requests requests = repair_->TakeRequests(now_ns);
  if (!requests.nack.empty() || requests.pli) {
    nack_count_ += requests.nack.empty() ? 0 : 1;
    pli_count_ += requests.pli ? 1 : 0;
    auto message = std::make_shared<ReceiverRtcp>();
    message->nack = std::move(requests.nack);
    message->pli = requests.pli;
    SendRtcp(std::move(message));
  }
  repair_timer_.Set(repair_->next_timeout_ns());
}

ReceiverReport RtpReceiver::BuildReport(int64_t now_ns) const {
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
  if (last_sender_report_ns_) {
    report.sender_report_echo =
        TimeEcho{.sent_ns = last_sender_report_ns_->first, .held_ns = now_ns - last_sender_report_ns_->second};
  }
  return report;
}

void RtpReceiver::SendRtcp(std::shared_ptr<ReceiverRtcp> message) {
  Packet packet;
  message->sent_ns = NowNs();
  if (message->has_rate_feedback()) observer_->OnFeedbackSent(message->sent_ns);
  packet.size_bytes = IpPacketSize(*message);
  packet.sink = rtcp_sink_;
  packet.sent_time_ns = message->sent_ns;
  packet.extra_delay_ns = spec_.extra_one_way_delay_ns;
  packet.rtcp = std::move(message);
  ++rtcp_packets_sent_;
  flow_.return_link->Send(std::move(packet));
}

}  // namespace weir::sim
