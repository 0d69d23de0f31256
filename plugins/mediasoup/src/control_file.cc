#include "control_file.h"

#include <openssl/sha.h>

#include <array>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <system_error>
#include <utility>
#include <vector>

namespace weir::mediasoup {
namespace {

constexpr int64_t kIntervalUs = 500'000;
constexpr uintmax_t kMaxBytes = 1 << 20;

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kSpaces = " \t\r\n\v\f";
  const size_t first = text.find_first_not_of(kSpaces);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpaces) - first + 1);
}

// The lines that are not empty.
std::vector<std::string_view> Lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    if (const auto line = Trimmed(text.substr(0, end)); !line.empty()) lines.push_back(line);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

}  // namespace

double ShareOf(std::string_view connection) {
  std::array<uint8_t, SHA256_DIGEST_LENGTH> digest{};
  SHA256(reinterpret_cast<const uint8_t*>(connection.data()), connection.size(), digest.data());
  uint64_t first = 0;
  for (size_t i = 0; i < sizeof first; ++i) first = first << 8 | digest[i];
  return static_cast<double>(first >> 11) / static_cast<double>(uint64_t{1} << 53);
}

bool ControlFile::IsInCharge(const std::string& connection, double share, int64_t now_us) {
  const std::lock_guard lock(mutex_);
  if (read_at_us_ == std::numeric_limits<int64_t>::min() || now_us - read_at_us_ >= kIntervalUs) {
    read_at_us_ = now_us;
    const std::string error = Read();
    if (!error.empty() && error != failure_) std::fprintf(stderr, "weir: %s: %s\n", path_.c_str(), error.c_str());
    failure_ = error;
  }
  return share < share_ && !except_.contains(connection);
}

std::string ControlFile::Read() {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path_, error);
  if (status.type() == std::filesystem::file_type::not_found) {
    if (std::exchange(found_, false)) {
      share_ = 0;
      except_.clear();
    }
    return "";
  }
  // A FIFO would block.
  if (status.type() != std::filesystem::file_type::regular) return "is not a regular file";
  const auto size = std::filesystem::file_size(path_, error);
  const auto changed = std::filesystem::last_write_time(path_, error);
  if (error) return error.message();
  if (found_ && size == size_ && changed == changed_ && failure_.empty()) return "";
  if (size > kMaxBytes) return "has more than 1 MiB";
  std::string text(size, '\0');
  std::ifstream file(path_, std::ios::binary);
  file.read(text.data(), static_cast<std::streamsize>(size));
  if (!file.is_open() || file.bad()) return "cannot be read";
  text.resize(static_cast<size_t>(file.gcount()));
  const std::vector<std::string_view> lines = Lines(text);
  // An empty file is being written.
  if (lines.empty()) return "";
  double share = 0;
  const auto [end, invalid] = std::from_chars(lines[0].data(), lines[0].data() + lines[0].size(), share);
  if (invalid != std::errc() || end != lines[0].data() + lines[0].size() || !(share >= 0 && share <= 1)) {
    return "the first line must be a share from 0 to 1";
  }
  found_ = true;
  size_ = size;
  changed_ = changed;
  share_ = share;
  except_ = {lines.begin() + 1, lines.end()};
  return "";
}

}  // namespace weir::mediasoup
