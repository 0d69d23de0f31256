// Sends probe clusters one after another: media that leaves meanwhile, filled up with padding.
#ifndef WEIR_CALLS_VIRTUAL_CALL_PROBE_SENDER_H_
#define WEIR_CALLS_VIRTUAL_CALL_PROBE_SENDER_H_

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>

#include "weir/network_types.h"
#include "weir/units.h"

namespace weir::sim {

class ProbeSender {
 public:
  // How often the host sends what is due while a cluster is under way.
  static constexpr TimeDelta kTick = TimeDelta::Millis(1);

  void Add(const ProbeClusterConfig& cluster) { clusters_.push_back(cluster); }
  bool is_active() const { return !clusters_.empty(); }
  // The cluster of a packet that is sent now; 0: none.
  int32_t cluster_id() const { return clusters_.empty() ? 0 : clusters_.front().id; }

  // Bytes that padding has to add now.
  int64_t BytesDue(Timestamp now) {
    if (clusters_.empty()) return 0;
    if (!start_) start_ = now;
    const TimeDelta elapsed = std::min(now - *start_ + kTick, Front().target_duration);
    return (Front().target_data_rate * elapsed).bytes() - sent_bytes_;
  }
  void OnSent(int64_t bytes) {
    if (clusters_.empty()) return;
    sent_bytes_ += bytes;
    ++sent_packets_;
  }
  // Ends the cluster once its time has passed and it is complete. Call after each tick.
  void EndIfComplete(Timestamp now) {
    if (clusters_.empty() || !start_ || now - *start_ + kTick < Front().target_duration) return;
    if (BytesDue(now) > 0 || sent_packets_ < Front().target_probe_count) return;
    clusters_.pop_front();
    start_.reset();
    sent_bytes_ = sent_packets_ = 0;
  }
  // The size of a packet with which the cluster has its number of packets.
  int64_t PacketBytes() const {
    return (Front().target_data_rate * Front().target_duration).bytes() /
           std::max<int64_t>(Front().target_probe_count, 1);
  }

 private:
  const ProbeClusterConfig& Front() const { return clusters_.front(); }

  std::deque<ProbeClusterConfig> clusters_;
  std::optional<Timestamp> start_;
  int64_t sent_bytes_ = 0;
  int64_t sent_packets_ = 0;
};

}  // namespace weir::sim

#endif  // WEIR_CALLS_VIRTUAL_CALL_PROBE_SENDER_H_
