#include "rtcp_observer.h"

#include <fstream>
#include <utility>

#include "logging/rtc_event_log/events/rtc_event_rtcp_packet_incoming.h"
#include "logging/rtc_event_log/events/rtc_event_rtcp_packet_outgoing.h"
#include "logging/rtc_event_log/rtc_event_log_impl.h"
#include "modules/rtp_rtcp/source/rtcp_packet/common_header.h"
#include "modules/rtp_rtcp/source/rtcp_packet/sender_report.h"
#include "rtc_base/time_utils.h"
#include "weir/remb_sender.h"

namespace weir::peer {
namespace {

class ObservingEventLog final : public webrtc::RtcEventLog {
 public:
  // `kept` may be null.
  ObservingEventLog(RtcpObserver observer, std::unique_ptr<webrtc::RtcEventLog> kept)
      : observer_(std::move(observer)), kept_(std::move(kept)) {}

  bool StartLogging(std::unique_ptr<webrtc::RtcEventLogOutput> output, int64_t output_period_ms) override {
    return kept_ != nullptr && kept_->StartLogging(std::move(output), output_period_ms);
  }
  void StopLogging() override {
    if (kept_ != nullptr) kept_->StopLogging();
  }
  void Log(std::unique_ptr<webrtc::RtcEvent> event) override {
    if (event->GetType() == webrtc::RtcEvent::Type::RtcpPacketIncoming)
      OnIncoming(static_cast<webrtc::RtcEventRtcpPacketIncoming&>(*event).packet());
    if (event->GetType() == webrtc::RtcEvent::Type::RtcpPacketOutgoing)
      OnOutgoing(static_cast<webrtc::RtcEventRtcpPacketOutgoing&>(*event).packet());
    if (kept_ != nullptr) kept_->Log(std::move(event));
  }

 private:
  template <class Function>
  static void ForEachPart(const webrtc::Buffer& compound, Function function) {
    const uint8_t* begin = compound.data();
    const uint8_t* const end = begin + compound.size();
    webrtc::rtcp::CommonHeader header;
    while (begin < end && header.Parse(begin, static_cast<size_t>(end - begin))) {
      function(header, std::span(begin, header.packet_size()));
      begin = header.NextPacket();
    }
  }

  static void NotifySenderReport(const webrtc::rtcp::CommonHeader& header,
                                 const RtcpObserver::OnSenderReport& on_sender_report) {
    webrtc::rtcp::SenderReport report;
    if (header.type() == webrtc::rtcp::SenderReport::kPacketType && report.Parse(header))
      on_sender_report(report.sender_ssrc(), report.ntp(), report.rtp_timestamp());
  }

  void OnIncoming(const webrtc::Buffer& compound) {
    ForEachPart(compound, [this](const webrtc::rtcp::CommonHeader& header, std::span<const uint8_t>) {
      NotifySenderReport(header, observer_.on_sender_report);
    });
  }

  void OnOutgoing(const webrtc::Buffer& compound) {
    ForEachPart(compound, [this](const webrtc::rtcp::CommonHeader& header, std::span<const uint8_t> packet) {
      NotifySenderReport(header, observer_.on_sender_report_sent);
      if (const auto remb = ParseRemb(packet)) observer_.on_remb_sent(remb->rate);
    });
  }

  const RtcpObserver observer_;
  const std::unique_ptr<webrtc::RtcEventLog> kept_;
};

class ObservingEventLogFactory final : public webrtc::RtcEventLogFactoryInterface {
 public:
  ObservingEventLogFactory(RtcpObserver observer, bool keeps_log)
      : observer_(std::move(observer)), keeps_log_(keeps_log) {}

  std::unique_ptr<webrtc::RtcEventLog> Create(const webrtc::Environment& environment) const override {
    return std::make_unique<ObservingEventLog>(
        observer_, keeps_log_ ? std::make_unique<webrtc::RtcEventLogImpl>(environment) : nullptr);
  }

 private:
  const RtcpObserver observer_;
  const bool keeps_log_;
};

class EventLogFile final : public webrtc::RtcEventLogOutput {
 public:
  explicit EventLogFile(std::ofstream file) : file_(std::move(file)) {}

  bool IsActive() const override { return file_.good(); }
  bool Write(absl::string_view output) override {
    file_.write(output.data(), static_cast<std::streamsize>(output.size()));
    return file_.good();
  }
  void Flush() override { file_.flush(); }

 private:
  std::ofstream file_;
};

}  // namespace

std::unique_ptr<webrtc::RtcEventLogFactoryInterface> MakeRtcpObserverFactory(const RtcpObserver& observer,
                                                                             bool keeps_log) {
  return std::make_unique<ObservingEventLogFactory>(observer, keeps_log);
}

std::unique_ptr<webrtc::RtcEventLogOutput> OpenEventLog(const std::string& path) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  return file ? std::make_unique<EventLogFile>(std::move(file)) : nullptr;
}

namespace {

constexpr int64_t kVideoClockHz = 90'000;
// Bounds the memory for SSRCs of a malicious peer.
constexpr size_t kMaxReports = 64;
constexpr int64_t kSecondsFrom1900To1970 = 2'208'988'800;

int64_t WallMicros(webrtc::NtpTime ntp) {
  const int64_t fraction_us = static_cast<int64_t>(uint64_t{ntp.fractions()} * 1'000'000 >> 32);
  return (int64_t{ntp.seconds()} - kSecondsFrom1900To1970) * 1'000'000 + fraction_us;
}

}  // namespace

SenderClock::SenderClock() : wall_to_monotonic_us_(webrtc::TimeMicros() - webrtc::TimeUTCMicros()) {}

void SenderClock::OnSenderReport(uint32_t ssrc, webrtc::NtpTime ntp, uint32_t rtp_timestamp) {
  if (!ntp.Valid()) return;
  const std::lock_guard lock(mutex_);
  if (reports_.size() >= kMaxReports && !reports_.contains(ssrc)) return;
  reports_[ssrc] = {WallMicros(ntp) + wall_to_monotonic_us_, rtp_timestamp};
}

std::optional<int64_t> SenderClock::CaptureTimeMicros(uint32_t ssrc, uint32_t rtp_timestamp) const {
  const std::lock_guard lock(mutex_);
  const auto report = reports_.find(ssrc);
  if (report == reports_.end()) return std::nullopt;
  // Signed: a frame may be older than the report. The difference wraps as RTP timestamps do.
  const auto ticks = static_cast<int32_t>(rtp_timestamp - report->second.rtp_timestamp);
  return report->second.monotonic_us + int64_t{ticks} * 1'000'000 / kVideoClockHz;
}

}  // namespace weir::peer
