// The log of a connection, which `weir report` reads (logs/event_log/README.md).
#ifndef WEIR_PLUGINS_OBSERVE_OBSERVATION_LOG_H_
#define WEIR_PLUGINS_OBSERVE_OBSERVATION_LOG_H_

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "connection_id.h"
#include "weir.h"

namespace weir::observe {

// The first line of a log.
struct LogHeader {
  std::string feedback;    // "transport-cc", or "remb" for REMB alone
  std::string connection;  // UTF-8
  std::string host;        // the program, such as "janus"
  std::string other;       // the estimator beside Weir, such as "gcc"
};

class ObservationLog {
 public:
  // The file appears with the first observation. Without a folder there is none.
  ObservationLog(std::string folder, const ConnectionId& id, LogHeader header);

  // False if there is no folder, or the log has ended.
  bool is_open() const { return !folder_.empty(); }
  // `other_bps` is absent while the other estimator has no target. `now_us` is microseconds of one monotonic clock; the
  // log has Unix time, which no change of the system's clock turns back. Returns false if the log ends here: it cannot
  // be written, or has 256 MiB, which are two weeks.
  bool Write(const weir_estimator_statistics& statistics, bool weir_in_charge, std::optional<int64_t> other_bps,
             int64_t now_us);

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  bool Begin(int64_t now_us);
  bool WriteLine(const std::string& line);

  std::string folder_;
  const uint64_t hash_;
  const LogHeader header_;
  std::unique_ptr<std::FILE, Close> file_;
  size_t bytes_ = 0;
  int64_t unix_minus_monotonic_us_ = 0;
};

}  // namespace weir::observe

#endif  // WEIR_PLUGINS_OBSERVE_OBSERVATION_LOG_H_
