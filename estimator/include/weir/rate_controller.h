// The one interface behind which every estimator stands: the policy, NADA, the ten-line rule and a fixed rate here;
// libwebrtc's GCC and PCC in webrtc_patch/adapter; the oracle in trainer/gym.
//
// A controller lives at one end of the path. The host calls the events of that end, in the order of time, and
// `OnTimeout` when `next_timeout()` has come; it never calls concurrently. Same calls, same answers, bit for bit. None
// of the events may block, throw or, after warm-up and on the receiver's side, allocate.
#ifndef WEIR_RATE_CONTROLLER_H_
#define WEIR_RATE_CONTROLLER_H_

#include <optional>
#include <string_view>

#include "weir/arrival.h"
#include "weir/network_control.h"
#include "weir/objective.h"
#include "weir/units.h"

namespace weir {

class RateController {
 public:
  enum class Side {
    kReceiver,  // sees arrivals; its target travels to the sender in REMB
    kSender,    // sees what it sent and what transport feedback says of it
  };

  virtual ~RateController() = default;

  virtual std::string_view name() const = 0;
  virtual Side side() const = 0;

  // Invoked once before any other event, and again whenever the host changes the bounds. `constraints` have been
  // validated.
  virtual void OnTargetRateConstraints(const TargetRateConstraints& constraints, Timestamp now) = 0;
  virtual void OnObjective(const Objective&) {}
  // Invoked at either end when the host has learnt the round-trip time.
  virtual void OnRoundTripTimeUpdate(const RoundTripTimeUpdate&) {}

  // Receiver's side: invoked for every packet that is not a duplicate.
  virtual void OnArrival(const Arrival&) {}
  // Receiver's side: invoked with what fusion and guard let through, which may differ from what this controller asked
  // for.
  virtual void OnTargetApplied(DataRate, Timestamp) {}

  // Of what the last decision went by, the share that lies outside what the controller was trained on, 0 to 1; 0 where
  // nothing is known of that.
  virtual double share_outside_training() const { return 0; }
  // Which kind of path the last decision took this one for; 0 where it knows no kinds, or does not know yet.
  virtual int path_kind() const { return 0; }

  // Sender's side.
  virtual void OnSentPacket(const SentPacket&) {}
  virtual void OnTransportPacketsFeedback(const TransportPacketsFeedback&) {}
  virtual void OnTransportLossReport(const TransportLossReport&) {}
  // Sender's side: REMB came beside transport feedback. The target is at most `bitrate` from then on.
  virtual void OnRemoteBitrateReport(DataRate bitrate, Timestamp now) {
    static_cast<void>(bitrate), static_cast<void>(now);
  }

  // Invoked when `next_timeout()` has come, or later.
  [[nodiscard]] virtual NetworkControlUpdate OnTimeout(Timestamp now) = 0;
  // When to call OnTimeout next; may be in the past after an event that has something to say. PlusInfinity: never.
  virtual Timestamp next_timeout() const = 0;
};

// Nothing when min > max, when a bound is not finite or not positive; otherwise the constraints with the start rate
// moved into the bounds.
std::optional<TargetRateConstraints> Validated(const TargetRateConstraints& constraints);

}  // namespace weir

#endif  // WEIR_RATE_CONTROLLER_H_
