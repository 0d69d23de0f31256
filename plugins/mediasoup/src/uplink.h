// Weir for the media that a transport receives: estimates from the packets that arrive, and decides when to send which
// REMB.
#ifndef WEIR_PLUGINS_MEDIASOUP_UPLINK_H_
#define WEIR_PLUGINS_MEDIASOUP_UPLINK_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "observe/connection.h"
#include "settings.h"
#include "weir.h"

namespace weir::mediasoup {

struct Remb {
  int64_t bitrate_bps = 0;  // 0: no limit
  std::vector<uint32_t> ssrcs;
};

// Times are microseconds of one monotonic clock.
class Uplink {
 public:
  // `other` names the estimator beside Weir.
  Uplink(const Settings& settings, const std::string& connection, std::string other);

  void OnPacket(const weir_packet& packet);
  void RemoveStream(uint32_t ssrc);

  // Returns a REMB to send now, if there is one. Call it when `next_us()` has come.
  //
  // Until the first packet the start rate is repeated every 200 ms, for at most 10 s, so that the sender has it before
  // its media. When Weir is no longer in charge, four REMBs lift its limit, since one may be lost.
  std::optional<Remb> Poll(std::optional<int64_t> other_bps, int64_t now_us);
  int64_t next_us() const { return next_us_; }
  bool is_weir_in_charge() const { return is_weir_in_charge_; }
  int64_t target_bps() const;

 private:
  std::vector<uint32_t> Ssrcs() const;

  observe::Connection connection_;
  std::unique_ptr<weir_estimator, Deleter<weir_estimator_destroy>> estimator_;
  bool is_weir_in_charge_ = false;
  int lifts_ = 0;
  std::optional<int64_t> began_us_;
  std::optional<int64_t> latest_packet_us_;
  int64_t sent_us_ = INT64_MIN / 2;
  int64_t next_us_ = INT64_MIN;
};

}  // namespace weir::mediasoup

#endif  // WEIR_PLUGINS_MEDIASOUP_UPLINK_H_
