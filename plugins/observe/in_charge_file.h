// The file `in_charge`, which decides of which connections Weir is in charge (docs/sfus.md, Observe before you switch).
#ifndef WEIR_PLUGINS_OBSERVE_IN_CHARGE_FILE_H_
#define WEIR_PLUGINS_OBSERVE_IN_CHARGE_FILE_H_

#include <sys/stat.h>

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "connection_id.h"

namespace weir::observe {

using Report = std::function<void(const std::string& error)>;

// Returns nothing if `text`, without spaces at its ends, is no number from 0 to 1.
std::optional<double> ParseShare(std::string_view text);

// Its first line is the share in charge; the identifiers on further lines are excepted. A file that is wrong changes
// nothing and is reported once.
class InChargeFile {
 public:
  // Without the file, or with an empty path, `share` is in force. `report` is called from Includes().
  InChargeFile(std::string path, double share, Report report);

  // Returns true if Weir is in charge of the connection. Reads the file again if it has changed, at most every 500 ms.
  // Times are microseconds of one monotonic clock. Any thread may call it.
  bool Includes(const ConnectionId& connection, int64_t now_us);

 private:
  // Returns an error, "" if there is none.
  std::string Read();
  std::string Follow(std::string_view text);

  const std::string path_;
  const double share_without_file_;
  const Report report_;
  std::mutex mutex_;
  double share_;
  std::set<std::string, std::less<>> except_;
  std::optional<int64_t> read_at_us_;
  std::string failure_;
  // The file that was read.
  bool found_ = false;
  struct stat stat_{};
};

}  // namespace weir::observe

#endif  // WEIR_PLUGINS_OBSERVE_IN_CHARGE_FILE_H_
