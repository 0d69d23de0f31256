// REMB, the RTCP message "Receiver Estimated Maximum Bitrate" of draft-alvestrand-rmcat-remb-03, and RemoteEstimate,
// which is sent with it if the SDP answer keeps transport-cc.
#ifndef WEIR_REMB_SENDER_H_
#define WEIR_REMB_SENDER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "weir/arrival.h"
#include "weir/bandwidth_estimator.h"
#include "weir/units.h"

namespace weir {

inline constexpr size_t kMaxRembSsrcs = 255;
inline constexpr size_t kRembHeaderSize = 20;

// Size in bytes of a REMB about `ssrc_count` streams.
constexpr size_t RembSize(size_t ssrc_count) { return kRembHeaderSize + 4 * ssrc_count; }

struct Remb {
  // SSRC of the REMB sender, the receiver of the media.
  uint32_t sender_ssrc = 0;
  // Not negative. libwebrtc takes 0 as "no limit".
  DataRate rate = DataRate::Zero();
  // The first `ssrc_count` of `ssrcs` are valid.
  size_t ssrc_count = 0;
  std::array<uint32_t, kMaxRembSsrcs> ssrcs{};
};

// Writes one RTCP packet and returns its size, or 0 if `out` is too small, there are more than 255 SSRCs, or the rate
// is not positive and finite. Rates are rounded down to 18 significant bits.
[[nodiscard]] size_t WriteRemb(const Remb& remb, std::span<uint8_t> out);

// Reads one RTCP packet, not a compound packet. Returns nothing unless it is a well-formed REMB: RTP version 2, PT 206,
// FMT 15, "REMB", consistent lengths, and a rate that fits into DataRate and may be 0.
std::optional<Remb> ParseRemb(std::span<const uint8_t> packet);

inline constexpr size_t kRemoteEstimateSize = 16;
inline constexpr DataRate kRemoteEstimateLower = DataRate::KilobitsPerSecond(1'000'000);

// libwebrtc's RemoteEstimate (RTCP APP "goog", subtype 13), "experimental and subject to change without notice": one
// RTCP packet with a lower bound of the link capacity, rounded down to kbps. Delay does not make the sender's GCC lower
// its rate below 0.85 times this bound, so that REMB determines the rate. Sent with each REMB. Zero removes the bound.
std::array<uint8_t, kRemoteEstimateSize> WriteRemoteEstimate(DataRate link_capacity_lower = kRemoteEstimateLower);

// Returns a REMB with the rate in force and the SSRCs of the streams that have not ended. The host sets `sender_ssrc`.
Remb RembFor(const BandwidthEstimator& estimator);

// Decides when a REMB with the estimate in force is due, and drives the receiver's estimator. When its next_timeout()
// has come, the host calls its OnTimeout instead of BandwidthEstimator's.
//
// With T the rate in force, S the rate of the latest REMB and t the time since it, a REMB is due:
//
// 1. At once, for the first rate.
// 2. T != S, 0.85 S < T < 1.15 S, and fewer than four packets in the last second: at t = 500 ms, since so few packets
//    are little evidence, and more REMB would take more rate than the audio.
// 3. Any other T <= 0.97 S: at once.
// 4. Any other T != S: at t = 200 ms.
// 5. T = S, because feedback can be lost:
//    a. at t = 200 ms until a REMB was sent after the first packet, since the sender's transport may not have been
//       ready; without packets only for 10 s after the first REMB;
//    b. at t = 200 ms, up to five times, while more than 1.25 S arrives, since the sender may not have received S. A
//       REMB of 80 bytes, with SRTCP, UDP and IP, must be at most 5 % of the received bytes (RFC 3550, section 6.2);
//    c. at t = 1 s otherwise, even if packets have stopped arriving.
//
// If the REMB with S could not be sent (OnHeldBack), T <= 0.97 S is due at once, and any other T when it can be.
class RembSender {
 public:
  struct Update {
    std::optional<Estimate> estimate;  // the result of BandwidthEstimator::OnTimeout
    bool remb_due = false;             // true if the host is to send RembFor() the estimator now
  };

  // MinusInfinity before the first OnTimeout.
  Timestamp next_timeout(const BandwidthEstimator& estimator) const;
  // Calls BandwidthEstimator::OnTimeout. A call is ignored if `now` is not after that of the previous call.
  [[nodiscard]] Update OnTimeout(BandwidthEstimator& estimator, Timestamp now);
  // Makes a REMB although none is due, for a host that has only now become able to send.
  Remb SendNow(const BandwidthEstimator& estimator, Timestamp now);
  // Called after OnTimeout() or SendNow() if the host could not send the REMB, because a layer below drops those that
  // follow one another too soon. From `until` on it can send any rate.
  void OnHeldBack(Timestamp until) { held_back_until_ = until; }

  uint64_t rembs_due() const { return rembs_due_; }

 private:
  friend class RembRulesTest;

  Timestamp DueTime(const BandwidthEstimator& estimator, Timestamp now) const;
  // `few_packets`: BandwidthEstimator::HasFewPackets().
  Timestamp DueTime(DataRate target, const ArrivalTotals& totals, bool few_packets, Timestamp now) const;
  Timestamp RepeatTime(const ArrivalTotals& totals, Timestamp now) const;
  // True if more arrives than the latest REMB allows the sender to send.
  bool LooksUnheard(const ArrivalTotals& totals, Timestamp now) const;
  void OnSent(DataRate target, const ArrivalTotals& totals, Timestamp now);

  // Time of the latest OnTimeout.
  Timestamp now_ = Timestamp::MinusInfinity();
  uint64_t rembs_due_ = 0;
  bool sent_after_packet_ = false;
  Timestamp first_time_ = Timestamp::MinusInfinity();
  DataRate last_target_ = DataRate::Zero();
  Timestamp last_time_ = Timestamp::MinusInfinity();
  // Bytes received before the latest REMB.
  DataSize last_size_ = DataSize::Zero();
  // Number of repetitions of the rate under rule 5b.
  int unheard_ = 0;
  // Set if the latest REMB was not sent.
  std::optional<Timestamp> held_back_until_;
};

}  // namespace weir

#endif  // WEIR_REMB_SENDER_H_
