#include "weir/remb_sender.h"

#include <algorithm>
#include <bit>

namespace weir {
namespace {

constexpr TimeDelta kMinInterval = TimeDelta::Millis(200);
constexpr TimeDelta kSparseInterval = TimeDelta::Millis(500);
constexpr TimeDelta kRepeatInterval = TimeDelta::Seconds(1);
constexpr TimeDelta kMaxAnnouncement = TimeDelta::Seconds(10);
constexpr double kUrgentDecrease = 0.03;
constexpr double kLargeChange = 0.15;
constexpr double kUnheardExcess = 1.25;
constexpr int kMostUnheard = 5;
constexpr DataSize kMinSizePerRemb = DataSize::Bytes(80 * 20);
// Prevents a busy loop in the host.
constexpr TimeDelta kMinTimeout = TimeDelta::Millis(1);

constexpr uint8_t kVersion = 2;
constexpr uint8_t kApplicationLayerFeedback = 15;  // FMT, RFC 4585 section 6.4
constexpr uint8_t kPayloadSpecificFeedback = 206;  // PT
constexpr uint32_t kIdentifier = 0x52454D42;       // "REMB"
constexpr int kMantissaBits = 18;
constexpr uint32_t kMantissaMask = (1u << kMantissaBits) - 1;

constexpr uint8_t kRemoteEstimateSubtype = 13;
constexpr uint8_t kApplicationDefined = 204;     // PT, RFC 3550 section 6.7
constexpr uint32_t kGoogleName = 0x676F6F67;     // "goog"
constexpr uint32_t kLinkCapacityLowerField = 1;  // of 24 bits, in kbps
constexpr int64_t kMaxLinkCapacityKbps = 0xFFFFFF;

void WriteUint32(uint32_t value, uint8_t* out) {
  for (int i = 0; i < 4; ++i) out[i] = static_cast<uint8_t>(value >> (24 - 8 * i));
}

uint32_t ReadUint32(const uint8_t* in) {
  return uint32_t{in[0]} << 24 | uint32_t{in[1]} << 16 | uint32_t{in[2]} << 8 | uint32_t{in[3]};
}

}  // namespace

size_t WriteRemb(const Remb& remb, std::span<uint8_t> out) {
  if (remb.ssrc_count > kMaxRembSsrcs || out.size() < RembSize(remb.ssrc_count)) return 0;
  if (!remb.rate.IsFinite() || remb.rate <= DataRate::Zero()) return 0;

  const auto bps = static_cast<uint64_t>(remb.rate.bps());
  const int exponent = std::max(static_cast<int>(std::bit_width(bps)) - kMantissaBits, 0);
  const auto mantissa = static_cast<uint32_t>(bps >> exponent);
  const size_t size = RembSize(remb.ssrc_count);
  const auto length = static_cast<uint32_t>(size / 4 - 1);
  uint8_t* const p = out.data();
  WriteUint32(uint32_t{kVersion} << 30 | uint32_t{kApplicationLayerFeedback} << 24 |
                  uint32_t{kPayloadSpecificFeedback} << 16 | length,
              p);
  WriteUint32(remb.sender_ssrc, p + 4);
  WriteUint32(0, p + 8);  // SSRC of media source: always 0, since the streams follow
  WriteUint32(kIdentifier, p + 12);
  WriteUint32(
      static_cast<uint32_t>(remb.ssrc_count) << 24 | static_cast<uint32_t>(exponent) << kMantissaBits | mantissa,
      p + 16);
  for (size_t i = 0; i < remb.ssrc_count; ++i) WriteUint32(remb.ssrcs[i], p + kRembHeaderSize + 4 * i);
  return size;
}

std::optional<Remb> ParseRemb(std::span<const uint8_t> packet) {
  if (packet.size() < kRembHeaderSize) return std::nullopt;
  const uint8_t* const p = packet.data();
  const bool has_padding = (p[0] & 0x20) != 0;
  if (p[0] >> 6 != kVersion || (p[0] & 0x1F) != kApplicationLayerFeedback || p[1] != kPayloadSpecificFeedback) {
    return std::nullopt;
  }
  const size_t size = (size_t{p[2]} << 8 | p[3]) * 4 + 4;
  const size_t padding = has_padding ? packet.back() : 0;
  // RFC 3550 section 6.4.1: the last octet of the padding is its length, itself included, a multiple of four.
  if (size != packet.size() || (has_padding && padding == 0) || padding % 4 != 0) return std::nullopt;
  const size_t ssrc_count = p[16];
  if (size != RembSize(ssrc_count) + padding || ReadUint32(p + 12) != kIdentifier) return std::nullopt;

  const uint32_t word = ReadUint32(p + 16);
  const int exponent = static_cast<int>(word >> kMantissaBits & 0x3F);
  const uint64_t mantissa = word & kMantissaMask;
  // The largest DataRate that is not an infinity is 2^63 - 2.
  if (mantissa != 0 && static_cast<int>(std::bit_width(mantissa)) + exponent > 63) return std::nullopt;

  Remb remb;
  remb.sender_ssrc = ReadUint32(p + 4);
  remb.rate = DataRate::BitsPerSecond(mantissa == 0 ? 0 : static_cast<int64_t>(mantissa << exponent));
  remb.ssrc_count = ssrc_count;
  for (size_t i = 0; i < ssrc_count; ++i) remb.ssrcs[i] = ReadUint32(p + kRembHeaderSize + 4 * i);
  return remb;
}

std::array<uint8_t, kRemoteEstimateSize> WriteRemoteEstimate(DataRate link_capacity_lower) {
  const int64_t kbps = std::clamp<int64_t>(link_capacity_lower.bps() / 1000, 0, kMaxLinkCapacityKbps);
  std::array<uint8_t, kRemoteEstimateSize> packet{};
  WriteUint32(uint32_t{kVersion} << 30 | uint32_t{kRemoteEstimateSubtype} << 24 | uint32_t{kApplicationDefined} << 16 |
                  uint32_t{kRemoteEstimateSize / 4 - 1},
              packet.data());
  WriteUint32(0, packet.data() + 4);  // the SSRC that libwebrtc writes
  WriteUint32(kGoogleName, packet.data() + 8);
  WriteUint32(kLinkCapacityLowerField << 24 | static_cast<uint32_t>(kbps), packet.data() + 12);
  return packet;
}

Remb RembFor(const BandwidthEstimator& estimator) {
  Remb remb;
  remb.rate = estimator.latest().target_rate;
  remb.ssrc_count = estimator.Ssrcs(remb.ssrcs);
  return remb;
}

Timestamp RembSender::next_timeout(const BandwidthEstimator& estimator) const {
  if (!now_.IsFinite()) return Timestamp::MinusInfinity();
  return std::min(estimator.next_timeout(), std::max(DueTime(estimator, now_), now_ + kMinTimeout));
}

RembSender::Update RembSender::OnTimeout(BandwidthEstimator& estimator, Timestamp now) {
  Update update{.estimate = estimator.OnTimeout(now)};
  if (now <= now_ || !IsTime(now)) return update;
  now_ = now;
  update.remb_due = DueTime(estimator, now) <= now;
  if (update.remb_due) OnSent(estimator.latest().target_rate, estimator.totals(), now);
  return update;
}

Remb RembSender::SendNow(const BandwidthEstimator& estimator, Timestamp now) {
  const Remb remb = RembFor(estimator);
  OnSent(remb.rate, estimator.totals(), now);
  return remb;
}

Timestamp RembSender::DueTime(const BandwidthEstimator& estimator, Timestamp now) const {
  return DueTime(estimator.latest().target_rate, estimator.totals(), estimator.HasFewPackets(now), now);
}

Timestamp RembSender::DueTime(DataRate target, const ArrivalTotals& totals, bool few_packets, Timestamp now) const {
  if (rembs_due_ == 0) return Timestamp::MinusInfinity();
  const bool urgent = target <= last_target_ * (1 - kUrgentDecrease);
  if (held_back_until_) return urgent ? Timestamp::MinusInfinity() : *held_back_until_;
  if (target == last_target_) return RepeatTime(totals, now);
  const bool small = target > last_target_ * (1 - kLargeChange) && target < last_target_ * (1 + kLargeChange);
  if (few_packets && small) return last_time_ + kSparseInterval;
  return urgent ? Timestamp::MinusInfinity() : last_time_ + kMinInterval;
}

Timestamp RembSender::RepeatTime(const ArrivalTotals& totals, Timestamp now) const {
  if (totals.packets == 0 && now - first_time_ > kMaxAnnouncement) return Timestamp::PlusInfinity();
  return last_time_ + (!sent_after_packet_ || LooksUnheard(totals, now) ? kMinInterval : kRepeatInterval);
}

bool RembSender::LooksUnheard(const ArrivalTotals& totals, Timestamp now) const {
  const TimeDelta duration = std::max(now - last_time_, kMinInterval);
  const DataSize received = totals.size - last_size_;
  return unheard_ < kMostUnheard && received >= kMinSizePerRemb && received > last_target_ * duration * kUnheardExcess;
}

void RembSender::OnSent(DataRate target, const ArrivalTotals& totals, Timestamp now) {
  if (rembs_due_++ == 0) first_time_ = now;
  if (target != last_target_) {
    unheard_ = 0;
  } else if (sent_after_packet_ && LooksUnheard(totals, now)) {
    ++unheard_;
  }
  sent_after_packet_ = totals.packets > 0;
  last_target_ = target;
  last_time_ = now;
  last_size_ = totals.size;
  held_back_until_.reset();
}

}  // namespace weir
