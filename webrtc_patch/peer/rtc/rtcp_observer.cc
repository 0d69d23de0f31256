#include "rtc/rtcp_observer.h"

#include <utility>

#include "logging/rtc_event_log/events/rtc_event_rtcp_packet_incoming.h"
#include "logging/rtc_event_log/events/rtc_event_rtcp_packet_outgoing.h"
#include "modules/rtp_rtcp/source/rtcp_packet/common_header.h"
#include "modules/rtp_rtcp/source/rtcp_packet/sender_report.h"
#include "weir/remb_sender.h"

namespace weir::peer {
namespace {

class ObservingEventLog final : public webrtc::RtcEventLog {
 public:
  explicit ObservingEventLog(RtcpObserver observer) : observer_(std::move(observer)) {}

  bool StartLogging(std::unique_ptr<webrtc::RtcEventLogOutput>, int64_t) override { return false; }
  void StopLogging() override {}
  void Log(std::unique_ptr<webrtc::RtcEvent> event) override {
    if (event->GetType() == webrtc::RtcEvent::Type::RtcpPacketIncoming)
      OnIncoming(static_cast<webrtc::RtcEventRtcpPacketIncoming&>(*event).packet());
    if (event->GetType() == webrtc::RtcEvent::Type::RtcpPacketOutgoing)
      OnOutgoing(static_cast<webrtc::RtcEventRtcpPacketOutgoing&>(*event).packet());
  }

 private:
  template <class Function>
  static void ForEachPart(const rtc::Buffer& compound, Function function) {
    const uint8_t* begin = compound.data();
    const uint8_t* const end = begin + compound.size();
    webrtc::rtcp::CommonHeader header;
    while (begin < end && header.Parse(begin, static_cast<size_t>(end - begin))) {
      function(header, std::span(begin, header.packet_size()));
      begin = header.NextPacket();
    }
  }

  static void Tell(const webrtc::rtcp::CommonHeader& header, const RtcpObserver::OnSenderReport& on_sender_report) {
    webrtc::rtcp::SenderReport report;
    if (header.type() == webrtc::rtcp::SenderReport::kPacketType && report.Parse(header))
      on_sender_report(report.sender_ssrc(), report.ntp(), report.rtp_timestamp());
  }

  void OnIncoming(const rtc::Buffer& compound) {
    ForEachPart(compound, [this](const webrtc::rtcp::CommonHeader& header, std::span<const uint8_t>) {
      Tell(header, observer_.on_sender_report);
    });
  }

  void OnOutgoing(const rtc::Buffer& compound) {
    ForEachPart(compound, [this](const webrtc::rtcp::CommonHeader& header, std::span<const uint8_t> packet) {
      Tell(header, observer_.on_sender_report_sent);
      if (const auto remb = ParseRemb(packet)) observer_.on_remb_sent(remb->rate);
    });
  }

  const RtcpObserver observer_;
};

class ObservingEventLogFactory final : public webrtc::RtcEventLogFactoryInterface {
 public:
  explicit ObservingEventLogFactory(RtcpObserver observer) : observer_(std::move(observer)) {}

  std::unique_ptr<webrtc::RtcEventLog> Create(webrtc::RtcEventLog::EncodingType) const override {
    return std::make_unique<ObservingEventLog>(observer_);
  }
  std::unique_ptr<webrtc::RtcEventLog> CreateRtcEventLog(webrtc::RtcEventLog::EncodingType type) override {
    return Create(type);
  }

 private:
  const RtcpObserver observer_;
};

}  // namespace

std::unique_ptr<webrtc::RtcEventLogFactoryInterface> MakeRtcpObserverFactory(const RtcpObserver& observer) {
  return std::make_unique<ObservingEventLogFactory>(observer);
}

}  // namespace weir::peer
