// Decides when a sender probes and how large a probe is, and limits the target to what the path was shown to carry.
#ifndef WEIR_PROBE_PROBE_CONTROLLER_H_
#define WEIR_PROBE_PROBE_CONTROLLER_H_

#include <cstdint>
#include <optional>

#include "probe/probe_cluster.h"
#include "weir/network_types.h"
#include "weir/send_side_estimator.h"
#include "weir/units.h"

namespace weir {

// Media in layers sends less than the target until the next layer fits, so the target is unproven: it is too high, or
// too low if the controller follows the receive rate. While more is desired, a cluster at the rate of the next layer
// tests it. After each success a larger one follows at once.
//
// A cluster adds at most 40 ms of queue to a path that carries only what was shown before, or more if the next layer
// needs over 3.7 times that, because a cluster lasts at least 15 ms. None is requested while there is a queue, above
// the desired rate, or beyond 2.5 % of all bytes sent in the long run. A cluster adds at most 40 kB, or 80 kB after a
// success, which is 21 or 42 Mbps for 15 ms.
//
// A target below the lowest layer ends all media, and with it the feedback that would raise the target. So while more
// is desired than was shown and no media were sent for 500 ms, clusters test the path whatever its state was, at twice
// the rate shown, without regard to the share of bytes, once nothing is in flight or after 2 s.
//
// A controller that `probes_start` begins without a desired rate and does not limit the target. Its first cluster, at
// three times the start rate, goes with the first packets, and each success is followed by one at twice what it showed,
// up to the highest rate. It ends at the first cluster that shows no more than was shown before, at the first queue, at
// the first desired rate, after eight clusters, or 5 s after the first.
class ProbeController {
 public:
  // The state now. Times are on the sender's clock.
  struct Facts {
    Timestamp now = Timestamp::MinusInfinity();
    DataRate target = DataRate::Zero();
    // The highest rate that a probe can show.
    DataRate max_rate = DataRate::PlusInfinity();
    DataRate receive_rate = DataRate::Zero();
    CongestionState state = CongestionState::kNormal;
    // Nothing is in flight.
    bool all_settled = false;
    // Arrival::delay_stands.
    bool delay_stands = false;
  };

  explicit ProbeController(DataRate start_rate, bool probes_start = false);

  // `rate` is the rate in force. The path counts as having carried it at the first call.
  void SetDesiredRate(const DesiredRate& desired, DataRate rate);
  void OnSentPacket(const PacketDeparture& packet);
  // Matters only for packets of a cluster that awaits its result. Most reports arrive while there is none.
  void OnReceived(int64_t sequence_number, Timestamp receive_time) {
    if (phase_ == Phase::kTaken) cluster_.OnReceived(sequence_number, receive_time);
  }
  void OnLost(int64_t sequence_number) {
    if (phase_ == Phase::kTaken) cluster_.OnLost(sequence_number);
  }
  // Called after feedback and timeouts. Returns a rate that a probe has just shown.
  std::optional<DataRate> OnProgress(const Facts& facts);

  // The rate that media may use instead of the estimator's `target`: the rate that the path was shown to carry, or a
  // quarter more than it carries now. With a queue it is `target`, but at least 0.7 of the receive rate of the last
  // second; without a limit if others keep the queue, since no probe is then possible. If media uses all of that rate,
  // it is the larger of `target` and the shown rate.
  DataRate TargetRate(DataRate target) const;
  // Returns the cluster to send now, each once.
  std::optional<ProbeClusterConfig> Take();
  const ProbeCounters& counters() const { return counters_; }
  // True while all media pause and nothing but clusters is in flight.
  bool resumes() const { return resumes_; }
  // When OnProgress() may request a cluster without feedback; PlusInfinity if never.
  Timestamp NextTimeout() const;

 private:
  enum class Phase : uint8_t { kIdle, kRequested, kTaken };

  std::optional<DataRate> EndCluster(const Facts& facts);
  void Request(const Facts& facts);
  void RequestAtStart(const Facts& facts);
  void Begin(const Facts& facts, DataRate rate, TimeDelta duration);

  bool any_desired() const { return !desired_.total.IsZero(); }
  bool MediaFills(DataRate rate) const;
  bool MediaPause(const Facts& facts) const;

  DesiredRate desired_;
  ProbeCluster cluster_;
  ProbeCounters counters_;
  Phase phase_ = Phase::kIdle;
  // A success is followed by a larger cluster at once.
  bool succeeded_ = false;
  // While a call starts, before there is a desired rate.
  bool starts_;
  Timestamp first_cluster_at_ = Timestamp::MinusInfinity();
  // `shown_` before the latest cluster at the start.
  DataRate shown_before_ = DataRate::Zero();
  Timestamp next_at_ = Timestamp::MinusInfinity();
  // The highest rate received or probed since the path was last congested, and when the rate was last close to it.
  DataRate shown_;
  Timestamp shown_at_ = Timestamp::MinusInfinity();
  DataRate receive_rate_ = DataRate::Zero();
  bool is_normal_ = true;
  bool delay_stands_ = false;
  Timestamp media_sent_at_ = Timestamp::MinusInfinity();
  Timestamp checked_at_ = Timestamp::MinusInfinity();
  // All media pause, and nothing is in flight.
  bool resumes_ = false;
  // The path's limit if the last cluster showed it, else zero.
  DataRate limit_ = DataRate::Zero();
  // Number of bytes that clusters may add. A cluster after a success may overdraw it.
  double budget_;
};

}  // namespace weir

#endif  // WEIR_PROBE_PROBE_CONTROLLER_H_
