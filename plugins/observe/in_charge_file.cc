#include "in_charge_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <system_error>
#include <utility>

namespace weir::observe {
namespace {

constexpr int64_t kIntervalUs = 500'000;
constexpr size_t kMaxBytes = size_t{1} << 20;

bool IsSame(const struct stat& a, const struct stat& b) {
  return a.st_size == b.st_size && a.st_mtim.tv_sec == b.st_mtim.tv_sec && a.st_mtim.tv_nsec == b.st_mtim.tv_nsec;
}

}  // namespace

std::optional<double> ParseShare(std::string_view text) {
  const std::string number = NormalizedId(text);
  double share = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), share);
  if (error != std::errc() || end != number.data() + number.size() || !(share >= 0 && share <= 1)) return std::nullopt;
  return share;
}

InChargeFile::InChargeFile(std::string path, double share, Report report)
    : path_(std::move(path)), share_without_file_(share), report_(std::move(report)), share_(share) {}

bool InChargeFile::Includes(const ConnectionId& connection, int64_t now_us) {
  const std::lock_guard lock(mutex_);
  if (!path_.empty() && (!read_at_us_ || now_us - *read_at_us_ >= kIntervalUs)) {
    read_at_us_ = now_us;
    const std::string error = Read();
    if (!error.empty() && error != failure_) report_(path_ + ": " + error);
    failure_ = error;
  }
  return connection.share() < share_ && !except_.contains(connection.text);
}

std::string InChargeFile::Read() {
  struct stat status{};
  if (stat(path_.c_str(), &status) != 0) {
    if (errno != ENOENT) return std::strerror(errno);
    if (std::exchange(found_, false)) {
      share_ = share_without_file_;
      except_.clear();
    }
    return "";
  }
  if (found_ && IsSame(status, stat_)) return "";
  // A FIFO must not block, neither now nor if it replaces the file now.
  if (!S_ISREG(status.st_mode)) return "not a regular file";
  const int file = open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return std::strerror(errno);
  std::string text(kMaxBytes + 1, '\0');
  const ssize_t size = read(file, text.data(), text.size());
  const int error = errno;
  close(file);
  if (size < 0) return std::strerror(error);
  if (static_cast<size_t>(size) > kMaxBytes) return "more than 1 MiB";
  found_ = true;
  stat_ = status;
  return Follow(std::string_view(text).substr(0, static_cast<size_t>(size)));
}

std::string InChargeFile::Follow(std::string_view text) {
  std::optional<double> share;
  std::set<std::string, std::less<>> except;
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of("\r\n"), text.size());
    const std::string line = NormalizedId(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty()) continue;
    if (share) {
      except.insert(line);
    } else if (share = ParseShare(line); !share) {
      return "the first line must be a share from 0 to 1";
    }
  }
  // An empty file is being written.
  if (!share) return "";
  share_ = *share;
  except_ = std::move(except);
  return "";
}

}  // namespace weir::observe
