// Weir beside the estimator that a connection has (docs/sfus.md, Observe before you switch): who is in charge, and the
// log. For the plug-ins in C++; those in Go have plugins/pion/observe, which behaves the same and has metrics, and the
// adapter to libwebrtc, which is built without plug-ins, has webrtc_patch/adapter/sender/observation.h.
#ifndef WEIR_PLUGINS_OBSERVE_CONNECTION_H_
#define WEIR_PLUGINS_OBSERVE_CONNECTION_H_

#include <cstdint>
#include <optional>
#include <string>

#include "connection_id.h"
#include "in_charge_file.h"
#include "observation_log.h"
#include "weir.h"

namespace weir::observe {

// The connections of a process.
class Connections {
 public:
  // `host` names the program in logs. `folder` gets the logs and may have the file in_charge; "": neither. Without that
  // file Weir is in charge of `share` of the connections, 0 to 1. `report` takes errors of both, which change nothing
  // else; it is called from the thread that uses a connection.
  Connections(std::string host, std::string folder, double share, Report report);

  bool IsWeirInCharge(const ConnectionId& id, int64_t now_us) { return in_charge_.Includes(id, now_us); }

 private:
  friend class Connection;

  const std::string host_;
  const std::string folder_;
  const Report report_;
  InChargeFile in_charge_;
};

// One direction of a connection. Not thread-safe, but the connections of a process may have different threads. Times
// are microseconds of one monotonic clock.
class Connection {
 public:
  // `connections` must outlive this. `other` names the estimator beside Weir, such as "gcc"; `feedback` is
  // "transport-cc", or "remb" for REMB alone.
  Connection(Connections& connections, ConnectionId id, std::string other, std::string feedback = "transport-cc");

  bool IsWeirInCharge(int64_t now_us) const { return connections_.IsWeirInCharge(id_, now_us); }
  // True each second in which there were packets, if there is a log.
  bool ObservationIsDue(int64_t latest_packet_us, int64_t now_us);
  // `other_bps` is absent while the other estimator has no target.
  void Observe(const weir_estimator_statistics& statistics, std::optional<int64_t> other_bps, int64_t now_us);

 private:
  Connections& connections_;
  const ConnectionId id_;
  ObservationLog log_;
  std::optional<int64_t> observed_at_us_;
};

}  // namespace weir::observe

#endif  // WEIR_PLUGINS_OBSERVE_CONNECTION_H_
