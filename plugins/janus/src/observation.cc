#include "observation.h"

#include <fcntl.h>
#include <glib.h>
#include <jansson.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <utility>

namespace weir::janus {
namespace {

// The estimator in charge where Weir is not: that of the browser.
constexpr char kOther[] = "gcc";
// Two weeks of observations.
constexpr size_t kMostLogBytes = size_t{1} << 28;
constexpr size_t kMostInChargeBytes = size_t{1} << 20;

std::array<guint8, 32> Sha256(std::string_view text) {
  std::array<guint8, 32> digest{};
  gsize size = digest.size();
  GChecksum* checksum = g_checksum_new(G_CHECKSUM_SHA256);
  g_checksum_update(checksum, reinterpret_cast<const guchar*>(text.data()), static_cast<gssize>(text.size()));
  g_checksum_get_digest(checksum, digest.data(), &size);
  g_checksum_free(checksum);
  return digest;
}

// `object` is released.
std::string Line(json_t* object) {
  char* text = json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(9));
  const std::string line = std::string(text == nullptr ? "" : text) + '\n';
  free(text);
  json_decref(object);
  return line;
}

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kSpaces = " \t\r";
  text.remove_prefix(std::min(text.find_first_not_of(kSpaces), text.size()));
  return text.substr(0, text.find_last_not_of(kSpaces) + 1);
}

std::optional<std::string> ReadRegularFile(const std::string& path) {
  // A FIFO in the file's place must not block.
  const int descriptor = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) return std::nullopt;
  struct stat status{};
  std::string text(kMostInChargeBytes + 1, '\0');
  ssize_t size = -1;
  if (fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode)) size = read(descriptor, text.data(), text.size());
  close(descriptor);
  if (size < 0 || static_cast<size_t>(size) > kMostInChargeBytes) return std::nullopt;
  text.resize(static_cast<size_t>(size));
  return text;
}

}  // namespace

bool IsInShare(std::string_view connection, double share) {
  const std::array<guint8, 32> digest = Sha256(connection);
  double fraction = 0;
  // 56 bits, beyond the precision of a double.
  for (size_t i = 7; i-- > 0;) fraction = (fraction + digest[i]) / 256;
  return fraction < share;
}

bool InCharge::Includes(std::string_view connection) const {
  return IsInShare(connection, share) && !except.contains(connection);
}

std::optional<InCharge> ParseInCharge(std::string_view text) {
  InCharge parsed;
  bool has_share = false;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = Trim(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty()) continue;
    if (has_share) {
      parsed.except.emplace(line);
      continue;
    }
    const auto [rest, error] = std::from_chars(line.data(), line.data() + line.size(), parsed.share);
    if (error != std::errc() || rest != line.data() + line.size()) return std::nullopt;
    if (!(parsed.share >= 0 && parsed.share <= 1)) return std::nullopt;
    has_share = true;
  }
  return has_share ? std::optional(parsed) : std::nullopt;
}

std::optional<InCharge> InChargeFile::Poll(std::string* error) {
  struct stat status{};
  if (stat(path_.c_str(), &status) != 0) {
    if (errno != ENOENT || !std::exchange(found_, false)) return std::nullopt;
    return configured_;
  }
  const bool is_same = found_ && status.st_size == last_.st_size && status.st_mtim.tv_sec == last_.st_mtim.tv_sec &&
                       status.st_mtim.tv_nsec == last_.st_mtim.tv_nsec;
  if (is_same) return std::nullopt;
  found_ = true;
  last_ = status;
  const std::optional<std::string> text = ReadRegularFile(path_);
  // An empty file is being written.
  if (text && text->empty()) return std::nullopt;
  std::optional<InCharge> parsed = text ? ParseInCharge(*text) : std::nullopt;
  if (!parsed) *error = path_ + ": must be a regular file whose first line is a share from 0 to 1; nothing changes";
  return parsed;
}

ObservationLog::ObservationLog(std::string folder, const std::string& connection, bool transport_cc, int64_t begin_us) {
  if (folder.empty()) return;
  path_ = std::move(folder) + '/' + connection + '-' + std::to_string(begin_us) + ".observed.jsonl";
  first_line_ = Line(json_pack("{s:s, s:I, s:s, s:s, s:s, s:s}", "type", "log", "begin_us", json_int_t{begin_us},
                               "feedback", transport_cc ? "transport-cc" : "remb", "connection", connection.c_str(),
                               "host", "janus", "other", kOther));
}

bool ObservationLog::WriteLine(const std::string& line) {
  bytes_ += line.size();
  return bytes_ <= kMostLogBytes && fwrite(line.data(), 1, line.size(), file_.get()) == line.size();
}

bool ObservationLog::Write(const weir_estimator_statistics& statistics, bool weir_in_charge,
                           std::optional<uint32_t> other_bps, int64_t time_us) {
  if (path_.empty()) return true;
  if (!file_) {
    const int descriptor = open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
    file_.reset(descriptor < 0 ? nullptr : fdopen(descriptor, "w"));
    if (!file_ || !WriteLine(first_line_)) return path_.clear(), false;
  }
  json_t* other = other_bps ? json_integer(*other_bps) : json_null();
  const std::string line =
      Line(json_pack("{s:s, s:I, s:s, s:o, s:I, s:s, s:I, s:f, s:f}", "type", "observation", "time_us",
                     json_int_t{time_us}, "in_charge", weir_in_charge ? "weir" : kOther, "other_bps", other, "weir_bps",
                     json_int_t{statistics.target_rate_bps}, "weir_reason", statistics.reason, "received_bps",
                     json_int_t{statistics.receive_rate_bps}, "loss_ratio", statistics.loss_ratio, "queueing_delay_ms",
                     1e-3 * static_cast<double>(statistics.queueing_delay_us)));
  if (WriteLine(line) && fflush(file_.get()) == 0) return true;
  file_.reset();
  path_.clear();
  return false;
}

}  // namespace weir::janus
