// One probe cluster: the packets sent in it, and the result of their arrivals.
#ifndef WEIR_PROBE_PROBE_CLUSTER_H_
#define WEIR_PROBE_PROBE_CLUSTER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "weir/network_types.h"
#include "weir/units.h"

namespace weir {

// The rate that the path carried. There is none if too few packets arrived, or if their spacing shows nothing.
struct ProbeResult {
  DataRate rate = DataRate::Zero();
  bool is_limit = false;  // less arrived than was sent: the path carries no more
};

// After libwebrtc's ProbeBitrateEstimator: the lower of the send rate and the receive rate. Media that are sent between
// packets of the cluster count as its packets: a host that does not pace sends each frame at once, and the path carries
// both.
class ProbeCluster {
 public:
  // Packets of padding alone have at most 255 bytes, so a cluster of 15 ms shows up to 76 Mbps.
  static constexpr size_t kMaxPackets = 512;

  // Begins a cluster and clears the packets of the previous one.
  void Begin(const ProbeClusterConfig& config);
  void OnSent(int64_t sequence_number, Timestamp send_time, DataSize size);
  // A packet that is sent beside the cluster. Counts between the cluster's first packet and its last.
  void OnSentBeside(int64_t sequence_number, Timestamp send_time, DataSize size);
  void OnReceived(int64_t sequence_number, Timestamp receive_time);
  void OnLost(int64_t sequence_number);

  const ProbeClusterConfig& config() const { return config_; }
  // MinusInfinity before the first packet.
  Timestamp latest_send_time() const;
  // True if enough was sent and the fate of each packet is known.
  bool IsComplete() const;
  std::optional<ProbeResult> Result() const;

 private:
  struct Packet {
    int64_t sequence_number = 0;
    Timestamp send_time = Timestamp::MinusInfinity();
    Timestamp receive_time = Timestamp::PlusInfinity();
    DataSize size = DataSize::Zero();
    bool settled = false;
  };
  Packet* Find(int64_t sequence_number);
  void Add(int64_t sequence_number, Timestamp send_time, DataSize size);
  // A `receive_time` of PlusInfinity means lost.
  void Settle(int64_t sequence_number, Timestamp receive_time);

  ProbeClusterConfig config_;
  std::array<Packet, kMaxPackets> all_;
  // Those up to the cluster's last, and all.
  size_t packets_ = 0;
  size_t added_ = 0;
  // Without those beside it.
  int32_t own_packets_ = 0;
  DataSize own_size_ = DataSize::Zero();
};

}  // namespace weir

#endif  // WEIR_PROBE_PROBE_CLUSTER_H_
