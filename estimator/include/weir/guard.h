// Plain rules between whoever computes a rate and the feedback. They hold for any policy, however it misbehaves.
#ifndef WEIR_GUARD_H_
#define WEIR_GUARD_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "weir/competing_flows.h"
#include "weir/network_control.h"
#include "weir/queue_watch.h"
#include "weir/units.h"

namespace weir {

// How often each rule changed the rate it was shown.
struct GuardCounters {
  uint64_t finite = 0;
  uint64_t floor = 0;
  uint64_t bounds = 0;
  uint64_t slew = 0;
  uint64_t stale = 0;
};

enum class GuardRule : uint8_t { kNone, kFinite, kFloor, kBounds, kSlew, kStale };

struct GuardOptions {
  // Without these three only finiteness and the bounds are kept: a rate of 0 would mean "no limit" to the sender.
  bool floor = true;
  bool slew = true;
  bool stale = true;
};

// The rules, in their order:
//   finite: a rate that is infinite, zero or negative is replaced by the one in force.
//   floor:  what T, the rate in force, may not sink below while the path shows no queue (`QueueWatch`): the smaller of
//           T 0.97^(dt / 100 ms) and the highest receive rate of the last ten seconds. Such a path has room for what it
//           just carried; a policy that starves it is held up, one that looks for the right rate by small steps is
//           free. On a path with loss by chance or jitter, where policies may be stuck, when there was no queue for
//           more than half of the last three seconds, it is T 1.01^(dt / 100 ms) and 1.1 times that receive rate: GCC
//           too grows by 8 % a second while nothing speaks against it. In the first 3 s of a call, until there is a
//           queue and while T is above 1.3 R, T may not stay below what `slew` allows either: encoders follow in
//           seconds, and a target that waits for them takes as long. And it does not sink at all where few packets are
//           sent and do not wait: each of the last three gaps between them took 200 ms or more, the present one has not
//           lasted as long as those together, and the latest packet found no queue and was not preceded by loss. Beside
//           flows that keep the queue full it is at least the smaller of T 1.03^(dt / 100 ms) and the flow's share
//           (`CompetingFlows`), queue or not.
//   bounds: min_rate <= rate <= max_rate.
//   slew:   the rate in force, T, may rise within dt to max(T, R, min(T 32^dt, 3 R + 100 kbps)), dt in seconds and at
//           most 1, where R is the highest receive rate of the last second, over slots of at least 200 ms; in those
//           first seconds 100^dt and 6 R, without the latter before there is an R. Falling is limited by the floor
//           alone. Up to what really arrives the way is free; beyond it the rate doubles at most once per REMB interval
//           of 200 ms, and never passes three times what arrives. From 300 kbps to 5 Mbps takes 0.8 s by the first
//           bound, and the second lets it where the sender follows.
//   stale:  nothing arrived for max(500 ms, 3 * 1200 bytes / S, min(G, 5 s)), S being the rate in force when the
//           silence began and G the last three gaps between packets taken together: the rate is at most S, halved for
//           each further second. The second term keeps a slow sender's packets from passing for silence, the third
//           those of audio that sends few (Opus with DTX) while video is muted; three frames of running video are 100
//           ms, so that there 500 ms decide. Counts from the first packet on.
class Guard {
 public:
  explicit Guard(const GuardOptions& options = {}) : options_(options) {}

  // Begins, or changes the bounds of, the rate in force.
  void SetConstraints(const TargetRateConstraints& constraints, Timestamp now);
  // Something arrived; when exactly does not matter, it counts from the next `Apply` on.
  void OnPacket(DataSize size) {
    pending_size_ += size;
    ++pending_packets_;
  }

  // The same, and what its delay says of the path; without it there is no floor.
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
  struct Growth {
    double factor_per_second;
    double receive_rate_multiple;
    // Packets come, but not yet for long enough to be measured: the multiple does not count.
    bool unmeasured;
  };
  static constexpr Growth kSlew = {32, 3, false};
  static constexpr Growth kStartSlew = {100, 6, true};
  static constexpr Growth kStartFloor = {32, 3, true};

  bool any_packets() const { return first_packets_.IsFinite(); }
  void MeasureReceiveRate(Timestamp now);
  void NoticePackets(Timestamp now);
  DataRate HighestReceiveRate() const;
  DataRate Grown(TimeDelta elapsed, const Growth& growth) const;
  // The last three gaps between packets taken together, 5 s at most.
  TimeDelta LatestGaps() const;
  TimeDelta SilenceLimit() const;
  bool SendsFew() const;
  DataRate Floor(TimeDelta elapsed, TimeDelta silence, QueueSign sign, bool starting) const;

  static constexpr size_t kSlots = 5;
  static constexpr size_t kLatestPackets = 4;

  GuardOptions options_;
  // In this call.
  bool no_queue_yet_ = true;
  // Of the time, as an exponential mean over 3 s.
  double share_without_queue_ = 0;
  TargetRateConstraints constraints_;
  GuardCounters counters_;
  QueueWatch queue_watch_;
  CompetingFlows competing_flows_;
  DataRate rate_ = DataRate::Zero();
  Timestamp last_apply_ = Timestamp::MinusInfinity();
  Timestamp next_timeout_ = Timestamp::PlusInfinity();

  DataSize pending_size_ = DataSize::Zero();
  uint64_t pending_packets_ = 0;
  Timestamp first_packets_ = Timestamp::MinusInfinity();
  DataSize slot_size_ = DataSize::Zero();
  Timestamp slot_start_ = Timestamp::MinusInfinity();
  std::array<int64_t, kSlots> receive_rates_bps_{};
  size_t slot_ = 0;

  // When the last packets were noticed, the oldest first; before there were so many, the first stands for those before
  // it.
  std::array<Timestamp, kLatestPackets> latest_packets_ = {Timestamp::MinusInfinity(), Timestamp::MinusInfinity(),
                                                           Timestamp::MinusInfinity(), Timestamp::MinusInfinity()};
  // In force when the last one was noticed.
  DataRate rate_at_last_packets_ = DataRate::Zero();
};

}  // namespace weir

#endif  // WEIR_GUARD_H_
