// Who is in charge of a connection, and its log, which `weir report` reads (logs/event_log/README.md).
#ifndef WEIR_PLUGINS_JANUS_OBSERVATION_H_
#define WEIR_PLUGINS_JANUS_OBSERVATION_H_

#include <sys/stat.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "weir.h"

namespace weir::janus {

// True for a share, 0 to 1, of the connections: the same ones as in all hosts of Weir (docs/sfus.md).
bool IsInShare(std::string_view connection, double share);

struct InCharge {
  double share = 1;
  std::set<std::string, std::less<>> except;

  bool Includes(std::string_view connection) const;
};

// The share on the first line, then a connection on each line of which Weir is not in charge. Returns nothing if the
// first line is no number from 0 to 1.
std::optional<InCharge> ParseInCharge(std::string_view text);

// The file in_charge of a folder: it replaces `configured` while it exists.
class InChargeFile {
 public:
  InChargeFile(std::string path, InCharge configured) : path_(std::move(path)), configured_(std::move(configured)) {}

  // Returns a change since the previous call. A file that is wrong changes nothing; *error then has the reason, once.
  std::optional<InCharge> Poll(std::string* error);

 private:
  std::string path_;
  InCharge configured_;
  struct stat last_{};
  bool found_ = false;
};

class ObservationLog {
 public:
  // Times are microseconds since 1970. The file appears with the first observation. An empty folder: no log.
  ObservationLog(std::string folder, const std::string& connection, bool transport_cc, int64_t begin_us);

  // `other_bps`: the REMB of the wrapped plug-in. Returns false if the log ends here: it cannot be written, or is full.
  bool Write(const weir_estimator_statistics& statistics, bool weir_in_charge, std::optional<uint32_t> other_bps,
             int64_t time_us);

 private:
  struct Close {
    void operator()(FILE* file) const { fclose(file); }
  };

  bool WriteLine(const std::string& line);

  std::string path_;
  std::string first_line_;
  std::unique_ptr<FILE, Close> file_;
  size_t bytes_ = 0;
};

}  // namespace weir::janus

#endif  // WEIR_PLUGINS_JANUS_OBSERVATION_H_
