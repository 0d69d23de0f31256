// Weir for one publisher: takes its packets, and returns what to send. The caller serializes all calls.
#ifndef WEIR_PLUGINS_JANUS_CONNECTION_H_
#define WEIR_PLUGINS_JANUS_CONNECTION_H_

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "rtp_packets.h"
#include "weir.h"

namespace weir::janus {

// RTCP that is due.
struct Feedback {
  std::optional<uint32_t> remb_bps;
  std::optional<std::array<uint8_t, WEIR_REMOTE_ESTIMATE_SIZE>> remote_estimate;  // after the REMB
};

class Connection {
 public:
  // Returns nullptr if the library refuses; weir_last_error() has the reason. Times are microseconds of one monotonic
  // clock.
  static std::unique_ptr<Connection> Create(const weir_controller* controller, int64_t max_rate_bps,
                                            const Negotiated& negotiated, bool in_charge);

  void SetNegotiated(const Negotiated& negotiated) { negotiated_ = negotiated; }
  void OnPacket(std::span<const uint8_t> packet, int64_t now_us);
  // The REMB of the wrapped plug-in bounds Weir's; 0: no limit.
  void OnOtherRemb(uint32_t bps, int64_t now_us);
  // Observing, Weir computes and sends nothing. The next OnTimeout() brings the change into force.
  void SetInCharge(bool in_charge) { in_charge_ = in_charge; }
  bool in_charge() const { return in_charge_; }

  // Call it from a timer, every 5 ms or so, once the PeerConnection is up.
  Feedback OnTimeout(int64_t now_us);
  weir_estimator_statistics GetStatistics(int64_t now_us);
  // Returns nothing before the first one.
  std::optional<int64_t> latest_packet_us() const { return latest_packet_us_; }
  std::optional<uint32_t> other_remb_bps() const { return other_remb_bps_; }

 private:
  struct Destroy {
    void operator()(weir_estimator* estimator) const { weir_estimator_destroy(estimator); }
  };

  Connection(weir_estimator* estimator, const weir_target_rate_constraints& constraints, const Negotiated& negotiated,
             bool in_charge);
  Feedback Limit(int64_t target_bps) const;
  Feedback LiftLimits() const;

  std::unique_ptr<weir_estimator, Destroy> estimator_;
  weir_target_rate_constraints constraints_;
  Negotiated negotiated_;
  RetransmissionFinder retransmissions_;
  bool in_charge_;
  bool limits_ = false;  // a REMB of Weir is in force
  std::optional<uint32_t> other_remb_bps_;
  std::optional<int64_t> latest_packet_us_;
};

}  // namespace weir::janus

#endif  // WEIR_PLUGINS_JANUS_CONNECTION_H_
