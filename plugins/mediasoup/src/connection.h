// One direction of a transport: who is in charge of it, and the log that `weir report` reads
// (logs/event_log/README.md).
#ifndef WEIR_PLUGINS_MEDIASOUP_CONNECTION_H_
#define WEIR_PLUGINS_MEDIASOUP_CONNECTION_H_

#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include "settings.h"
#include "weir.h"

namespace weir::mediasoup {

class Connection {
 public:
  // `settings` must outlive this. `other` names the estimator beside Weir, such as "gcc".
  Connection(const Settings& settings, std::string id, std::string other);

  // Times are on one monotonic clock.
  bool IsWeirInCharge(int64_t now_us) const;
  // True each second in which there were packets, if there is a log.
  bool ObservationIsDue(int64_t latest_packet_us, int64_t now_us);
  // `other_bps` is absent while the other estimator has no target.
  void Observe(const weir_estimator_statistics& statistics, std::optional<int64_t> other_bps, int64_t now_us);

 private:
  void Write(const std::string& line);

  const Settings& settings_;
  const std::string id_;
  const std::string other_;
  const double share_;
  std::unique_ptr<std::FILE, Deleter<std::fclose>> file_;
  bool failed_ = false;
  size_t bytes_ = 0;
  std::optional<int64_t> observed_at_us_;
  // Added to the clock's times: Unix time at the first observation. No change of the system's clock turns back the log.
  int64_t unix_offset_us_ = 0;
};

}  // namespace weir::mediasoup

#endif  // WEIR_PLUGINS_MEDIASOUP_CONNECTION_H_
