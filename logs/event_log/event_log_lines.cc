#include "event_log_lines.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "feedback_replay.h"
#include "logging/rtc_event_log/rtc_event_log_parser.h"
#include "logging/rtc_event_log/rtc_event_processor.h"
#include "modules/rtp_rtcp/source/ntp_time_util.h"
#include "programs/input.h"

namespace weir {
namespace {

using nlohmann::ordered_json;
using webrtc::kIncomingPacket;
using webrtc::kOutgoingPacket;

// Sender reports kept for receiver reports to refer to.
constexpr size_t kMaxSenderReports = 10'000;
// libwebrtc's parser assumes that every call is encrypted.
constexpr uint16_t kSrtpTagBytes = 10;

const char* StateName(webrtc::BandwidthUsage state) {
  switch (state) {
    case webrtc::BandwidthUsage::kBwUnderusing:
      return "underusing";
    case webrtc::BandwidthUsage::kBwOverusing:
      return "overusing";
    default:
      return "normal";
  }
}

const char* ReasonName(webrtc::ProbeFailureReason reason) {
  switch (reason) {
    case webrtc::ProbeFailureReason::kInvalidSendReceiveInterval:
      return "invalid interval";
    case webrtc::ProbeFailureReason::kInvalidSendReceiveRatio:
      return "invalid ratio";
    default:
      return "timeout";
  }
}

const char* KindName(const webrtc::LoggedPacketInfo& packet) {
  if (packet.rtx) return "retransmission";
  return packet.media_type == webrtc::LoggedMediaType::kAudio ? "audio" : "video";
}

class LineWriter {
 public:
  LineWriter(const webrtc::ParsedRtcEventLog& log, const std::function<void(const ordered_json&)>& write)
      : log_(log), write_(write), feedback_(!log.congestion_feedback(kIncomingPacket).empty()) {}

  void Run();

 private:
  template <class Event>
  void Write(const char* type, const Event& event, const ordered_json& members) {
    ordered_json line{{"type", type}, {"time_us", event.log_time_us()}};
    line.update(members);
    write_(line);
  }
  // Writes each event of the vector as a line; packets have a `direction`.
  template <class Event, class Members, class... Direction>
  void Add(const std::vector<Event>& events, const char* type, Members members, Direction... direction) {
    processor_.AddEvents(
        events, [this, type, members](const Event& event) { Write(type, event, ordered_json(members(event))); },
        direction...);
  }
  void AddEstimates();
  void AddProbes();
  void AddPackets();
  void AddReceived(const webrtc::ParsedRtcEventLog::LoggedRtpStreamIncoming& stream);

  // True if the log has the connection's start but no DTLS, as in virtual calls.
  bool IsUnencrypted() const;
  void OnSentPacket(const webrtc::LoggedPacketInfo& packet);
  void OnFeedback(webrtc::Timestamp time, const std::optional<webrtc::TransportPacketsFeedback>& feedback);
  // Handles the blocks of a receiver report, or of the other end's sender report.
  template <class Report>
  void OnReportBlocks(const Report& report, const std::vector<webrtc::rtcp::ReportBlock>& blocks);

  const webrtc::ParsedRtcEventLog& log_;
  const std::function<void(const ordered_json&)>& write_;
  FeedbackReplay feedback_;
  std::vector<webrtc::LoggedPacketInfo> sent_;
  webrtc::RtcEventProcessor processor_;
  // Log times of sender reports by compact NTP time, which receiver reports refer to.
  std::map<uint32_t, int64_t> sender_reports_;
  struct Counted {
    int64_t highest = 0;
    int64_t lost = 0;
  };
  std::map<uint32_t, Counted> counted_;
  int64_t last_report_us_ = -1;
};

void LineWriter::Run() {
  write_({{"type", "log"},
          {"begin_us", log_.first_timestamp().us_or(0)},
          {"end_us", log_.last_timestamp().us_or(0)},
          {"feedback", log_.congestion_feedback(kIncomingPacket).empty() ? "transport-cc" : "ccfb"}});
  AddEstimates();
  AddProbes();
  AddPackets();
  processor_.ProcessEventsInOrder();
}

void LineWriter::AddEstimates() {
  Add(log_.bwe_loss_updates(), "loss_based", [](const webrtc::LoggedBweLossBasedUpdate& update) -> ordered_json {
    return {{"bitrate_bps", update.bitrate_bps}, {"fraction_lost", update.fraction_lost / 255.0}};
  });
  Add(log_.bwe_delay_updates(), "delay_based", [](const webrtc::LoggedBweDelayBasedUpdate& update) -> ordered_json {
    return {{"bitrate_bps", update.bitrate_bps}, {"state", StateName(update.detector_state)}};
  });
  Add(log_.bwe_scream_updates(), "scream", [](const webrtc::LoggedBweScreamUpdate& update) -> ordered_json {
    return {{"bitrate_bps", update.target_rate.bps()},
            {"round_trip_ms", update.smoothed_rtt.ms()},
            {"queue_delay_ms", update.avg_queue_delay.ms()}};
  });
  Add(log_.alr_state_events(), "application_limited",
      [](const webrtc::LoggedAlrStateEvent& event) -> ordered_json { return {{"begins", event.in_alr}}; });
  const auto add_rembs = [this](webrtc::PacketDirection direction, const char* type) {
    Add(
        log_.rembs(direction), type,
        [](const webrtc::LoggedRtcpPacketRemb& remb) -> ordered_json {
          return {{"bitrate_bps", remb.remb.bitrate_bps()}};
        },
        direction);
  };
  add_rembs(kIncomingPacket, "remb_received");
  add_rembs(kOutgoingPacket, "remb_sent");
}

void LineWriter::AddProbes() {
  processor_.AddEvents(log_.bwe_probe_cluster_created_events(),
                       [this](const webrtc::LoggedBweProbeClusterCreatedEvent& event) {
                         feedback_.OnProbeCluster(event);
                         Write("probe_cluster", event,
                               {{"id", event.id},
                                {"bitrate_bps", event.bitrate_bps},
                                {"min_packets", event.min_packets},
                                {"min_bytes", event.min_bytes}});
                       });
  Add(log_.bwe_probe_success_events(), "probe_success",
      [](const webrtc::LoggedBweProbeSuccessEvent& event) -> ordered_json {
        return {{"id", event.id}, {"bitrate_bps", event.bitrate_bps}};
      });
  Add(log_.bwe_probe_failure_events(), "probe_failure",
      [](const webrtc::LoggedBweProbeFailureEvent& event) -> ordered_json {
        return {{"id", event.id}, {"reason", ReasonName(event.failure_reason)}};
      });
}

void LineWriter::AddPackets() {
  sent_ = log_.GetOutgoingPacketInfos();
  if (IsUnencrypted()) {
    for (webrtc::LoggedPacketInfo& packet : sent_) packet.overhead -= std::min(packet.overhead, kSrtpTagBytes);
  }
  processor_.AddEvents(
      sent_, [this](const webrtc::LoggedPacketInfo& packet) { OnSentPacket(packet); }, kOutgoingPacket);
  processor_.AddEvents(
      log_.transport_feedbacks(kIncomingPacket),
      [this](const webrtc::LoggedRtcpPacketTransportFeedback& one) {
        OnFeedback(one.log_time(), feedback_.OnFeedback(one.transport_feedback, one.log_time()));
      },
      kIncomingPacket);
  processor_.AddEvents(
      log_.congestion_feedback(kIncomingPacket),
      [this](const webrtc::LoggedRtcpCongestionControlFeedback& one) {
        OnFeedback(one.log_time(), feedback_.OnFeedback(one.congestion_feedback, one.log_time()));
      },
      kIncomingPacket);
  processor_.AddEvents(
      log_.sender_reports(kOutgoingPacket),
      [this](const webrtc::LoggedRtcpPacketSenderReport& report) {
        if (sender_reports_.size() >= kMaxSenderReports) sender_reports_.erase(sender_reports_.begin());
        sender_reports_[webrtc::CompactNtp(report.sr.ntp())] = report.log_time_us();
      },
      kOutgoingPacket);
  processor_.AddEvents(
      log_.receiver_reports(kIncomingPacket),
      [this](const webrtc::LoggedRtcpPacketReceiverReport& one) { OnReportBlocks(one, one.rr.report_blocks()); },
      kIncomingPacket);
  processor_.AddEvents(
      log_.sender_reports(kIncomingPacket),
      [this](const webrtc::LoggedRtcpPacketSenderReport& one) { OnReportBlocks(one, one.sr.report_blocks()); },
      kIncomingPacket);
  for (const auto& stream : log_.incoming_rtp_packets_by_ssrc()) AddReceived(stream);
}

void LineWriter::AddReceived(const webrtc::ParsedRtcEventLog::LoggedRtpStreamIncoming& stream) {
  const char* const kind = log_.incoming_rtx_ssrcs().contains(stream.ssrc)     ? "retransmission"
                           : log_.incoming_audio_ssrcs().contains(stream.ssrc) ? "audio"
                                                                               : "video";
  Add(stream.incoming_packets, "received", [kind](const webrtc::LoggedRtpPacketIncoming& packet) {
    const webrtc::RTPHeader& header = packet.rtp.header;
    const size_t rest = packet.rtp.header_length + header.paddingLength;
    ordered_json line{{"ssrc", header.ssrc},
                      {"sequence_number", header.sequenceNumber},
                      {"payload_type", header.payloadType},
                      {"rtp_timestamp", header.timestamp},
                      {"kind", kind},
                      {"header_bytes", packet.rtp.header_length},
                      {"payload_bytes", packet.rtp.total_length - std::min(packet.rtp.total_length, rest)},
                      {"padding_bytes", header.paddingLength}};
    if (header.extension.hasAbsoluteSendTime) line["abs_send_time"] = header.extension.absoluteSendTime;
    return line;
  });
}

bool LineWriter::IsUnencrypted() const {
  if (sent_.empty() || !log_.dtls_transport_states().empty()) return false;
  return std::ranges::any_of(log_.ice_candidate_pair_configs(),
                             [this](const webrtc::LoggedIceCandidatePairConfig& config) {
                               return config.type == webrtc::IceCandidatePairConfigType::kSelected &&
                                      config.log_time() <= sent_.front().log_packet_time;
                             });
}

void LineWriter::OnSentPacket(const webrtc::LoggedPacketInfo& packet) {
  const auto sent = feedback_.OnSentPacket(packet);
  ordered_json members{{"size_bytes", packet.size + packet.overhead}, {"kind", KindName(packet)}};
  if (sent) {
    members["id"] = sent->sequence_number;
    members["in_flight_bytes"] = sent->data_in_flight.bytes();
    if (sent->pacing_info.probe_cluster_id != webrtc::PacedPacketInfo::kNotAProbe)
      members["probe_cluster"] = sent->pacing_info.probe_cluster_id;
  }
  Write("sent", packet, members);
}

void LineWriter::OnFeedback(webrtc::Timestamp time, const std::optional<webrtc::TransportPacketsFeedback>& feedback) {
  if (!feedback) return;
  ordered_json packets = ordered_json::array();
  for (const webrtc::PacketResult& one : feedback->packet_feedbacks) {
    packets.push_back({one.sent_packet.sequence_number,
                       one.receive_time.IsFinite() ? ordered_json(one.receive_time.us()) : ordered_json(nullptr)});
  }
  write_({{"type", "feedback"},
          {"time_us", time.us()},
          {"in_flight_bytes", feedback->data_in_flight.bytes()},
          {"packets", std::move(packets)}});
}

template <class Report>
void LineWriter::OnReportBlocks(const Report& report, const std::vector<webrtc::rtcp::ReportBlock>& blocks) {
  int64_t packets = 0;
  int64_t lost = 0;
  for (const webrtc::rtcp::ReportBlock& block : blocks) {
    const Counted now{.highest = block.extended_high_seq_num(), .lost = block.cumulative_lost()};
    const auto [known, is_new] = counted_.try_emplace(block.source_ssrc(), now);
    packets += now.highest - known->second.highest;
    lost += now.lost - known->second.lost;
    known->second = now;
    const auto sender_report = sender_reports_.find(block.last_sr());
    if (sender_report == sender_reports_.end()) continue;
    const int64_t held_us = int64_t{block.delay_since_last_sr()} * 1'000'000 / 65'536;
    const int64_t round_trip_ms = (report.log_time_us() - sender_report->second - held_us + 500) / 1000;
    if (round_trip_ms > 0) Write("round_trip", report, {{"round_trip_us", 1000 * round_trip_ms}});
  }
  if (packets == 0 || packets <= lost) return;
  if (last_report_us_ >= 0) {
    Write("loss_report", report,
          {{"begin_us", last_report_us_}, {"lost", std::max<int64_t>(lost, 0)}, {"received", packets - lost}});
  }
  last_report_us_ = report.log_time_us();
}

}  // namespace

void WriteEventLogLines(const std::string& log, const std::function<void(const ordered_json&)>& write) {
  webrtc::ParsedRtcEventLog parsed(webrtc::ParsedRtcEventLog::UnconfiguredHeaderExtensions::kAttemptWebrtcDefaultConfig,
                                   /*allow_incomplete_log=*/true);
  const auto status = parsed.ParseString(log);
  if (!status.ok() || parsed.start_log_events().empty())
    throw ProgramError("is no RTC event log, or a damaged one: its first event cannot be read");
  LineWriter(parsed, write).Run();
}

}  // namespace weir
