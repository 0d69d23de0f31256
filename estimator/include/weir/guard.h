// Plain rules between whoever computes a rate and the feedback. They hold for any policy, however it misbehaves.
#ifndef WEIR_GUARD_H_
#define WEIR_GUARD_H_

#include <cstdint>

#include "weir/arrival/arrival.h"
#include "weir/guard/floor_rule.h"
#include "weir/guard/guard_facts.h"
#include "weir/guard/guard_rules.h"
#include "weir/guard/packet_rhythm.h"
#include "weir/guard/policer_rule.h"
#include "weir/guard/queue_watch.h"
#include "weir/guard/receive_rate.h"
#include "weir/guard/stale_rule.h"
#include "weir/guard/start_phase.h"
#include "weir/guard/veto_rule.h"
#include "weir/network_types.h"
#include "weir/units.h"

namespace weir {

// The rules, in their order:
//   finite: a rate that is infinite, zero or negative is replaced by the one in force.
//   floor:  while the path shows no queue, not below what it just carried (`FloorRule`).
//   bounds: min_rate <= rate <= max_rate.
//   slew:   no more than a multiple of what arrives, and not there at once (`SlewRule`).
//   veto:   while a queue or loss stays, less than what arrives (`VetoRule`).
//   policer: below the rate at which loss begins again and again (`PolicerRule`).
//   stale:  in silence ever less (`StaleRule`).
class Guard {
 public:
  explicit Guard(const GuardOptions& options = {}) : options_(options) {}

  // Begins, or changes the bounds of, the rate in force.
  void SetConstraints(const TargetRateConstraints& constraints, Timestamp now);
  // Something arrived; when exactly does not matter, it counts from the next `Apply` on.
  void OnPacket(DataSize size) {
    receive_rate_.OnPacket(size);
    ++pending_packets_;
  }

  // The same, and what its delay says of the path; without it there are only the rules finite, bounds, slew and stale.
  void OnArrival(const Arrival& arrival);

  struct Result {
    DataRate rate;
    // The last rule that changed the rate.
    GuardRule rule;
  };
  // `now` must not be before that of an earlier call. The result is the rate in force from now on.
  Result Apply(DataRate wanted, Timestamp now);
  // When `Apply` should be called again though no controller has spoken: a rule holds the rate back, or silence may
  // have begun.
  Timestamp next_timeout() const { return next_timeout_; }

  const GuardCounters& counters() const { return counters_; }

 private:
  bool watches() const { return options_.floor || options_.veto || options_.policer; }
  GuardFacts Look(Timestamp now);
  Timestamp NextTimeout(GuardRule rule, bool stale, Timestamp now) const;

  GuardOptions options_;
  TargetRateConstraints constraints_;
  GuardCounters counters_;
  DataRate rate_ = DataRate::Zero();
  Timestamp last_apply_ = Timestamp::MinusInfinity();
  Timestamp next_timeout_ = Timestamp::PlusInfinity();

  uint64_t pending_packets_ = 0;
  ReceiveRate receive_rate_;
  bool delay_stands_ = false;
  PacketRhythm rhythm_;
  QueueWatch queue_watch_;
  StartPhase start_;
  FloorRule floor_;
  VetoRule veto_;
  PolicerRule policer_;
  StaleRule stale_;
};

}  // namespace weir

#endif  // WEIR_GUARD_H_
