#include "weir/remb_server.h"

#include <libwebrtc/modules/remote_bitrate_estimator/remote_bitrate_estimator_abs_send_time.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "weir/settings.h"
#include "weir/uplink.h"

namespace weir::mediasoup {
namespace {

// Reads the environment when the worker starts.
[[maybe_unused]] const Settings* const kAtStart = ProcessSettings();

// UDP, IPv4 and SRTP, which a sender with transport-cc counts.
constexpr uint32_t kTransportHeaderBytes = 38;

class RembServer final : public webrtc::RemoteBitrateEstimator,
                         public webrtc::RemoteBitrateEstimator::Listener,
                         public TimerHandleInterface::Listener {
 public:
  // With transport-cc the estimator in charge beside Weir is the sender's own, whose target is not known here.
  RembServer(const Settings& settings, webrtc::RemoteBitrateEstimator::Listener* listener, SharedInterface* shared,
             const std::string& connection, bool transport_cc)
      : listener_(listener),
        shared_(shared),
        header_bytes_(transport_cc ? kTransportHeaderBytes : 0),
        uplink_(settings, connection, transport_cc ? "gcc" : "gcc-remb"),
        timer_(shared->CreateTimer(this, "weir-remb")) {
    if (!transport_cc) other_ = std::make_unique<webrtc::RemoteBitrateEstimatorAbsSendTime>(this);
    timer_->Start(0);
  }

  void Pass(int64_t arrival_us, const RTC::RTP::Packet& received) {
    weir_packet packet{};
    packet.arrival_time_us = arrival_us;
    packet.ssrc = received.GetSsrc();
    packet.sequence_number = received.GetSequenceNumber();
    packet.payload_type = received.GetPayloadType();
    packet.rtp_timestamp = received.GetTimestamp();
    packet.payload_bytes = static_cast<uint32_t>(received.GetPayloadLength());
    packet.padding_bytes = received.GetPaddingLength();
    packet.header_bytes = header_bytes_ + static_cast<uint32_t>(received.GetLength()) - packet.payload_bytes -
                          std::min(packet.padding_bytes, static_cast<uint32_t>(received.GetLength()));
    packet.has_abs_send_time = received.ReadAbsSendTime(packet.abs_send_time) ? 1 : 0;
    uint8_t volume = 0;
    bool voice = false;
    if (packet.payload_bytes == 0) {
      packet.kind = WEIR_PACKET_PROBE;
    } else if (received.ReadSsrcAudioLevel(volume, voice)) {
      packet.kind = WEIR_PACKET_AUDIO;
    }
    uplink_.OnPacket(packet);
  }
  bool is_weir_in_charge() const { return uplink_.is_weir_in_charge(); }

  void IncomingPacket(int64_t arrival_time_ms, size_t payload_size, const RTC::RTP::Packet& packet,
                      uint32_t send_time_24bits) override {
    Pass(1000 * arrival_time_ms, packet);
    if (other_) other_->IncomingPacket(arrival_time_ms, payload_size, packet, send_time_24bits);
  }
  void RemoveStream(uint32_t ssrc) override {
    uplink_.RemoveStream(ssrc);
    if (other_) other_->RemoveStream(ssrc);
  }
  bool LatestEstimate(std::vector<uint32_t>* ssrcs, uint32_t* bitrate_bps) const override {
    return other_ && other_->LatestEstimate(ssrcs, bitrate_bps);
  }
  void SetMinBitrate(int min_bitrate_bps) override {
    if (other_) other_->SetMinBitrate(min_bitrate_bps);
  }

  // From mediasoup's own estimator.
  void OnRembServerAvailableBitrate(const webrtc::RemoteBitrateEstimator* /*estimator*/,
                                    const std::vector<uint32_t>& ssrcs, int64_t bitrate_bps) override {
    other_bps_ = bitrate_bps;
    if (!is_weir_in_charge()) Send(ssrcs, bitrate_bps);
  }

  void OnTimer(TimerHandleInterface* /*timer*/) override {
    const int64_t now_us = shared_->GetTimeUs();
    if (auto remb = uplink_.Poll(other_bps_, now_us)) {
      // mediasoup's own estimator takes over with its next REMB.
      if (remb->bitrate_bps > 0 || !other_) Send(remb->ssrcs, remb->bitrate_bps);
    }
    timer_->Start(std::max<int64_t>((uplink_.next_us() - now_us + 999) / 1000, 1));
  }

 private:
  void Send(const std::vector<uint32_t>& ssrcs, int64_t bitrate_bps) {
    available_bitrate = static_cast<uint32_t>(bitrate_bps);
    listener_->OnRembServerAvailableBitrate(this, ssrcs, bitrate_bps);
  }

  webrtc::RemoteBitrateEstimator::Listener* const listener_;
  SharedInterface* const shared_;
  const uint32_t header_bytes_;
  std::unique_ptr<webrtc::RemoteBitrateEstimator> other_;
  std::optional<int64_t> other_bps_;
  Uplink uplink_;
  const std::unique_ptr<TimerHandleInterface> timer_;
};

}  // namespace

webrtc::RemoteBitrateEstimator* MakeRembServer(webrtc::RemoteBitrateEstimator::Listener* listener,
                                               SharedInterface* shared, const std::string& connection,
                                               bool transport_cc) {
  if (const Settings* const settings = ProcessSettings()) {
    return new RembServer(*settings, listener, shared, connection, transport_cc);
  }
  return transport_cc ? nullptr : new webrtc::RemoteBitrateEstimatorAbsSendTime(listener);
}

void PassTo(webrtc::RemoteBitrateEstimator* server, int64_t now_us, const RTC::RTP::Packet& packet) {
  if (server != nullptr) static_cast<RembServer*>(server)->Pass(now_us, packet);
}

bool SendsRemb(const webrtc::RemoteBitrateEstimator* server) {
  return server != nullptr && static_cast<const RembServer*>(server)->is_weir_in_charge();
}

RemoteEstimatePacket::RemoteEstimatePacket(int64_t bitrate_bps)
    : RTC::RTCP::Packet([](uint8_t* packet, int64_t bps) {
        weir_write_remote_estimate(bps > 0 ? WEIR_REMOTE_ESTIMATE_LOWER_BPS : 0, packet);
        return reinterpret_cast<CommonHeader*>(packet);
      }(bytes.data(), bitrate_bps)) {}

void RemoteEstimatePacket::Dump(int /*indentation*/) const {}

size_t RemoteEstimatePacket::Serialize(uint8_t* buffer) {
  std::copy(bytes.begin(), bytes.end(), buffer);
  return bytes.size();
}

}  // namespace weir::mediasoup
