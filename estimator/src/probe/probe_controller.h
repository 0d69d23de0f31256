// When a sender probes, how large a probe is, and how much of the target the path has shown to carry.
#ifndef WEIR_PROBE_PROBE_CONTROLLER_H_
#define WEIR_PROBE_PROBE_CONTROLLER_H_

#include <cstdint>
#include <optional>

#include "probe/probe_cluster.h"
#include "weir/network_types.h"
#include "weir/send_side_estimator.h"
#include "weir/units.h"

namespace weir {

// Media in layers sends less than the target until the next layer fits, so the target is unproven there: too high, or,
// of controllers that look at the receive rate, too low. While more is desired, a cluster at the rate of the next layer
// shows it; after each success a larger one follows at once.
//
// A cluster adds at most 40 ms of queue to a path that carries just what was shown before, or what its least duration
// of 15 ms makes where the next layer needs over 3.7 times that. None is requested while a queue stands, above the
// desired rate, or beyond 2.5 % of all bytes sent in the long run. A cluster adds at most 40 kB, or 80 kB after a
// success, which is 21 or 42 Mbps for 15 ms.
class ProbeController {
 public:
  // All as of now; the times are the sender's.
  struct Facts {
    Timestamp now = Timestamp::MinusInfinity();
    DataRate target = DataRate::Zero();
    // The highest that counts.
    DataRate max_rate = DataRate::PlusInfinity();
    DataRate receive_rate = DataRate::Zero();
    CongestionState state = CongestionState::kNormal;
  };

  explicit ProbeController(DataRate start_rate);

  void SetDesiredRate(const DesiredRate& desired) { desired_ = desired; }
  void OnSentPacket(int64_t sequence_number, const PacketDeparture& packet);
  // Only packets of a cluster that awaits its verdict matter; most reports come while there is none.
  void OnReceived(int64_t sequence_number, Timestamp receive_time) {
    if (phase_ == Phase::kTaken) cluster_.OnReceived(sequence_number, receive_time);
  }
  void OnLost(int64_t sequence_number) {
    if (phase_ == Phase::kTaken) cluster_.OnLost(sequence_number);
  }
  // After feedback and timeouts. Returns a rate that a probe has just shown.
  std::optional<DataRate> OnProgress(const Facts& facts);

  // The rate that media may use in place of the estimator's `target`: what the path has shown to carry, or a quarter
  // more than it carries now. Where media fills that, or a queue stands, at most `target`.
  DataRate TargetRate(DataRate target) const;
  // The cluster to send now; once each.
  std::optional<ProbeClusterConfig> Take();
  const ProbeCounters& counters() const { return counters_; }

 private:
  enum class Phase : uint8_t { kIdle, kRequested, kTaken };

  std::optional<DataRate> EndCluster(const Facts& facts);
  void Request(const Facts& facts);

  bool MediaFills(DataRate rate) const;

  DesiredRate desired_;
  ProbeCluster cluster_;
  ProbeCounters counters_;
  Phase phase_ = Phase::kIdle;
  // A success invites a larger cluster at once.
  bool succeeded_ = false;
  Timestamp next_at_ = Timestamp::MinusInfinity();
  // The highest rate that was received or probed since the path was last congested, and when it was last near.
  DataRate shown_;
  Timestamp shown_at_ = Timestamp::MinusInfinity();
  DataRate receive_rate_ = DataRate::Zero();
  bool is_normal_ = true;
  // The last cluster showed this as the path's limit; zero: it did not.
  DataRate limit_ = DataRate::Zero();
  // In bytes: what clusters may add. A success may overdraw it.
  double budget_;
};

}  // namespace weir

#endif  // WEIR_PROBE_PROBE_CONTROLLER_H_
