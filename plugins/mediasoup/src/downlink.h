// Weir for the media that a transport sends: estimates from transport-wide feedback, and asks for the probe clusters
// that show whether the next layer fits.
#ifndef WEIR_PLUGINS_MEDIASOUP_DOWNLINK_H_
#define WEIR_PLUGINS_MEDIASOUP_DOWNLINK_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "observe/connection.h"
#include "settings.h"
#include "weir.h"

namespace weir::mediasoup {

// Rates that are 0 or less are unknown.
struct Constraints {
  int64_t min_bps = 0;
  int64_t start_bps = 0;
  int64_t max_bps = 0;
};

// Times are microseconds of one monotonic clock, sizes those of RTP packets.
class Downlink {
 public:
  Downlink(const Settings& settings, const std::string& connection, const Constraints& constraints);

  void OnSentPacket(uint16_t number, int64_t sent_us, uint32_t size_bytes, int32_t probe_cluster_id);
  void OnFeedback(const std::vector<weir_packet_feedback>& packets, int64_t now_us);
  void OnRoundTripTime(int64_t round_trip_us, int64_t now_us);
  // The start rate does not matter any more.
  void SetConstraints(const Constraints& constraints, int64_t now_us);
  // The rate of all layers. The target is then at most what the path was shown to carry, by media or by clusters. While
  // Weir is not in charge none are sent for it.
  void SetDesiredRate(int64_t total_bps);

  // Returns true if Weir is in charge. Call it after each of the calls above, and every 25 ms. `other_bps` is the
  // target of the estimator beside Weir.
  bool Update(std::optional<int64_t> other_bps, int64_t now_us);
  int64_t target_bps() const;
  // Returns the cluster to send now, with the id 0 if there is none. Only while Weir is in charge.
  //
  // mediasoup sends nothing while the target is below its lowest layer. Nothing would then ever raise the target, so a
  // small cluster at the target is sent after each second without a packet.
  weir_probe_cluster TakeProbeCluster();

 private:
  observe::Connection connection_;
  weir_target_rate_constraints constraints_{};
  std::unique_ptr<weir_send_side, Deleter<weir_send_side_destroy>> estimator_;
  std::optional<int64_t> latest_sent_us_;
};

}  // namespace weir::mediasoup

#endif  // WEIR_PLUGINS_MEDIASOUP_DOWNLINK_H_
