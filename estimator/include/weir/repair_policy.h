// Chooses how lost packets of a video are repaired: by retransmission alone, or by FEC in addition.
#ifndef WEIR_REPAIR_POLICY_H_
#define WEIR_REPAIR_POLICY_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "weir/units.h"

namespace weir {

// kNone: nothing is lost, or no repair is known yet. kNack: retransmissions that the receiver requests (NACK, RFC
// 4585). kFec: FEC in addition, as much as the sender's own table has.
enum class Repair : uint8_t { kNone, kNack, kFec };

// "none", "nack" or "fec"; zero-terminated.
std::string_view ToString(Repair repair);

// The state of a call at one end. A value that is not finite or out of range counts as absent.
struct RepairObservation {
  // On a monotonic clock.
  Timestamp at_time = Timestamp::MinusInfinity();
  // Time from the detection of a loss to the arrival of its retransmission: at the receiver from RepairMonitor, at the
  // sender the round trip and kDetectionTime. Above zero; nothing if unknown.
  std::optional<TimeDelta> repair_time = std::nullopt;
  // Target rate of the sender; infinite if unknown.
  DataRate rate = DataRate::PlusInfinity();
  // Share of packets that are lost before repair, 0 to 1, over about the last five seconds.
  double loss_ratio = 0;
  // Share of NACKs that the return path loses, 0 to 1: at the receiver from RepairMonitor, at the sender the share of
  // feedback that is lost.
  double nack_loss_ratio = 0;
};

// For the receiver of an unmodified sender, which excludes FEC from its session description, and for a sender. Sans-IO.
// FEC costs a part of the rate, with libwebrtc's table 20 % and more once anything is lost; NACK costs a round trip.
//
// 1. Nothing lost for ten seconds, or the repair time unknown: kNone.
// 2. kNack below 150 kbps, where a frame is a packet or two, and FEC another copy.
// 3. kNack if retransmissions are fast: a repair time below 165 ms with at most 2.5 % of loss, 125 ms with at most 4 %,
//    100 ms otherwise; and reliable: a NACK loss below 15 %. While kFec is in force all these bounds are 0.9 times as
//    large.
// 4. Otherwise kFec, at once, for at least ten seconds: twice as long each time that NACK loss is the reason within a
//    minute after the last kFec, at most 160 s.
//
// The bounds are from virtual calls (docs/remb.md).
class RepairPolicy {
 public:
  // Time to detect a loss and to request the packet, in libwebrtc.
  static constexpr TimeDelta kDetectionTime = TimeDelta::Millis(20);
  // The repair time at a sender; nothing for a round trip of zero, which is unknown, or below.
  static constexpr std::optional<TimeDelta> RepairTimeAtSender(TimeDelta round_trip_time) {
    if (round_trip_time <= TimeDelta::Zero()) return std::nullopt;
    return round_trip_time + kDetectionTime;
  }
  // With this repair time or a longer one, FEC is worth its price at any loss.
  static constexpr TimeDelta kSlowRepair = TimeDelta::Millis(165);

  // Returns the repair from now on. An observation that is not after the previous one changes nothing.
  Repair Update(const RepairObservation& observation);
  Repair repair() const { return repair_; }

 private:
  void StartFec(Timestamp now, bool nack_fails);

  Repair repair_ = Repair::kNone;
  Timestamp now_ = Timestamp::MinusInfinity();
  Timestamp last_loss_ = Timestamp::MinusInfinity();
  TimeDelta fec_time_ = TimeDelta::Zero();
  Timestamp fec_until_ = Timestamp::MinusInfinity();
};

}  // namespace weir

#endif  // WEIR_REPAIR_POLICY_H_
