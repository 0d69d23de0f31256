#include "remb_outlet.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "conversions.h"
#include "modules/rtp_rtcp/source/rtcp_packet/remote_estimate.h"
#include "rate_controllers.h"
#include "weir/remb_sender.h"

namespace weir::adapter {
namespace {

// From RembThrottler.
constexpr TimeDelta kThrottleInterval = TimeDelta::Millis(200);
constexpr int64_t kThrottlePercent = 103;

constexpr int64_t kAtOncePercent = 96;

constexpr uint32_t kNoLimit = 0;

// REMB never carries 0: libwebrtc interprets it as "no limit".
uint32_t Bitrate(DataRate rate) {
  return static_cast<uint32_t>(std::clamp<int64_t>(rate.bps(), 1, std::numeric_limits<uint32_t>::max()));
}

}  // namespace

std::optional<Timestamp> RembOutlet::Send(DataRate rate, const std::vector<uint32_t>& ssrcs) {
  const uint32_t bitrate = Bitrate(rate);
  if (!Passes(bitrate)) return open_time();
  Announce(bitrate, ssrcs);
  return std::nullopt;
}

std::optional<Timestamp> RembOutlet::SendAtOnce(DataRate rate, const std::vector<uint32_t>& ssrcs) {
  if (!Passes(Bitrate(rate)))
    Announce(std::max(1u, static_cast<uint32_t>(last_bitrate_ * kAtOncePercent / 100)), ssrcs);
  return Send(rate, ssrcs);
}

void RembOutlet::Release() {
  // Without a GCC the sender would have no limit at all.
  if (!std::exchange(announced_, false) || !sender_has_gcc_.value_or(false)) return;
  SendRemoteEstimate(DataRate::Zero());
  Pass(kNoLimit, {});
}

Timestamp RembOutlet::open_time() const {
  return passed_ ? last_time_ + kThrottleInterval : Timestamp::MinusInfinity();
}

void RembOutlet::OnReceiveBitrateChanged(const std::vector<uint32_t>& ssrcs, uint32_t bitrate) {
  if (Passes(bitrate)) {
    Pass(bitrate, ssrcs);
  } else {
    throttler_->OnReceiveBitrateChanged(ssrcs, bitrate);
  }
}

bool RembOutlet::Passes(uint32_t bitrate) const {
  return !passed_ || bitrate * kThrottlePercent / 100 <= last_bitrate_ || now() >= open_time();
}

void RembOutlet::Announce(uint32_t bitrate, const std::vector<uint32_t>& ssrcs) {
  announced_ = true;
  SendRemoteEstimate(kRemoteEstimateLower);
  Pass(bitrate, ssrcs);
}

void RembOutlet::SendRemoteEstimate(DataRate link_capacity_lower) {
  if (!rtcp_sender_ || !sender_has_gcc_.value_or(true)) return;
  auto packet = std::make_unique<webrtc::rtcp::RemoteEstimate>();
  webrtc::NetworkStateEstimate estimate;
  estimate.link_capacity_lower = ToWebrtc(link_capacity_lower);
  packet->SetEstimate(estimate);
  std::vector<std::unique_ptr<webrtc::rtcp::RtcpPacket>> packets;
  packets.push_back(std::move(packet));
  rtcp_sender_(std::move(packets));
}

void RembOutlet::Pass(uint32_t bitrate, const std::vector<uint32_t>& ssrcs) {
  throttler_->OnReceiveBitrateChanged(ssrcs, bitrate);
  // Reads the clock after the throttler does, so that the throttler passes every later REMB that Passes() does.
  last_time_ = now();
  last_bitrate_ = bitrate;
  passed_ = true;
}

Timestamp RembOutlet::now() const { return Timestamp::Micros(clock_->TimeInMicroseconds()); }

}  // namespace weir::adapter
