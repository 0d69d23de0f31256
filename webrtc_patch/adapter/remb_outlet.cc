#include "remb_outlet.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "conversions.h"
#include "modules/rtp_rtcp/source/rtcp_packet/remb.h"
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
  Announce(bitrate, ssrcs, kRemoteEstimateLower);
  return std::nullopt;
}

std::optional<Timestamp> RembOutlet::SendAtOnce(DataRate rate, const std::vector<uint32_t>& ssrcs) {
  if (!Passes(Bitrate(rate)))
    Announce(std::max(1u, static_cast<uint32_t>(last_bitrate_ * kAtOncePercent / 100)), ssrcs, kRemoteEstimateLower);
  return Send(rate, ssrcs);
}

void RembOutlet::Release() {
  // Without a GCC the sender would have no limit at all.
  if (!std::exchange(announced_, false) || !sender_has_gcc_.value_or(false)) return;
  // Must be repeated: if it were lost, the limit would stay in force.
  uses_throttler_ = true;
  Announce(kNoLimit, {}, DataRate::Zero());
  announced_ = false;
}

Timestamp RembOutlet::open_time() const {
  return passed_ ? last_time_ + kThrottleInterval : Timestamp::MinusInfinity();
}

void RembOutlet::OnReceiveBitrateChanged(const std::vector<uint32_t>& ssrcs, uint32_t bitrate) {
  uses_throttler_ = true;
  const bool passes = Passes(bitrate);
  throttler_->OnReceiveBitrateChanged(ssrcs, bitrate);
  if (passes) OnSent(bitrate);
}

bool RembOutlet::Passes(uint32_t bitrate) const {
  return !passed_ || bitrate * kThrottlePercent / 100 <= last_bitrate_ || now() >= open_time();
}

void RembOutlet::Announce(uint32_t bitrate, const std::vector<uint32_t>& ssrcs, DataRate link_capacity_lower) {
  announced_ = true;
  std::vector<std::unique_ptr<webrtc::rtcp::RtcpPacket>> packets;
  if (sends_remote_estimate_ && sender_has_gcc_.value_or(true)) {
    auto remote_estimate = std::make_unique<webrtc::rtcp::RemoteEstimate>();
    webrtc::NetworkStateEstimate estimate;
    estimate.link_capacity_lower = ToWebrtc(link_capacity_lower);
    remote_estimate->SetEstimate(estimate);
    packets.push_back(std::move(remote_estimate));
  }
  if (uses_throttler_) {
    throttler_->OnReceiveBitrateChanged(ssrcs, bitrate);
  } else {
    auto remb = std::make_unique<webrtc::rtcp::Remb>();
    remb->SetBitrateBps(bitrate);
    remb->SetSsrcs(ssrcs);
    packets.push_back(std::move(remb));
  }
  if (!packets.empty()) rtcp_sender_(std::move(packets));
  OnSent(bitrate);
}

void RembOutlet::OnSent(uint32_t bitrate) {
  // Reads the clock after the throttler does, so that the throttler passes every later REMB that Passes() does.
  last_time_ = now();
  last_bitrate_ = bitrate;
  passed_ = true;
}

Timestamp RembOutlet::now() const { return Timestamp::Micros(clock_->TimeInMicroseconds()); }

}  // namespace weir::adapter
