// Decides of which connections Weir is in charge, as in the other hosts (docs/sfus.md, Observe before you switch).
#ifndef WEIR_PLUGINS_MEDIASOUP_CONTROL_FILE_H_
#define WEIR_PLUGINS_MEDIASOUP_CONTROL_FILE_H_

#include <cstdint>
#include <filesystem>
#include <limits>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

namespace weir::mediasoup {

// The share of a connection, 0 to 1, uniform over identifiers: Weir is in charge of those whose share is below the
// share in charge. The first 53 bits of the SHA-256 of the identifier, as in the hosts in Go.
double ShareOf(std::string_view connection);

// A file whose first line is the share in charge; the identifiers on further lines are excepted. Without the file the
// share is 0. A file that is wrong changes nothing, and is reported once on stderr.
class ControlFile {
 public:
  explicit ControlFile(std::string path) : path_(std::move(path)) {}

  // Reads the file again if it has changed, at most every 500 ms. `share` is ShareOf(connection).
  // Any thread may call it.
  bool IsInCharge(const std::string& connection, double share, int64_t now_us);

 private:
  // Returns an error, "" if there is none.
  std::string Read();

  const std::string path_;
  std::mutex mutex_;
  double share_ = 0;
  std::set<std::string, std::less<>> except_;
  int64_t read_at_us_ = std::numeric_limits<int64_t>::min();
  // The file that is in force.
  bool found_ = false;
  uintmax_t size_ = 0;
  std::filesystem::file_time_type changed_;
  std::string failure_;
};

}  // namespace weir::mediasoup

#endif  // WEIR_PLUGINS_MEDIASOUP_CONTROL_FILE_H_
