#include "programs/json_lines.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iostream>
#include <utility>

#include "programs/input.h"
#include "programs/json.h"
#include "programs/monotonic_clock.h"

namespace weir {
namespace {

using nlohmann::ordered_json;

// poll() guarantees this much room in a pipe; a larger write() could block.
constexpr size_t kPipeRoom = 4096;
constexpr int kPollMs = 100;
constexpr int kPollsBeforeGivingUp = 20;

}  // namespace

JsonOutput::JsonOutput(int fd, std::string program)
    : fd_(fd), program_(std::move(program)), thread_([this] { Run(); }) {}

JsonOutput::~JsonOutput() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void JsonOutput::Write(ordered_json line) {
  if (!line.contains("time_us")) line["time_us"] = MonotonicMicros();
  const std::lock_guard lock(mutex_);
  if (waiting_bytes_ > kMaxWaitingBytes) {
    ++dropped_;
    return;
  }
  if (dropped_ > 0) {
    Enqueue({{"type", "error"},
             {"message", std::to_string(dropped_) + " lines were dropped: the reader is too slow"},
             {"fatal", false},
             {"time_us", MonotonicMicros()}});
    dropped_ = 0;
  }
  Enqueue(line);
}

void JsonOutput::Enqueue(const ordered_json& line) {
  lines_.push_back(JsonText(line) + '\n');
  waiting_bytes_ += lines_.back().size();
  changed_.notify_all();
}

void JsonOutput::WriteError(std::string_view message, bool fatal) {
  if (!program_.empty()) std::cerr << program_ << ": " << Printable(message) << '\n';
  Write({{"type", "error"}, {"message", message}, {"fatal", fatal}});
}

bool JsonOutput::good() const {
  const std::lock_guard lock(mutex_);
  return !broken_;
}

void JsonOutput::Run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return closing_ || !lines_.empty(); });
    if (lines_.empty() || broken_) return;
    const std::string text = std::move(lines_.front());
    lines_.pop_front();
    lock.unlock();
    const bool written = WriteAll(text);
    lock.lock();
    waiting_bytes_ -= text.size();
    broken_ = !written;
  }
}

bool JsonOutput::WriteAll(std::string_view text) {
  int idle_polls = 0;
  while (!text.empty()) {
    pollfd poll_fd{.fd = fd_, .events = POLLOUT, .revents = 0};
    const int ready = poll(&poll_fd, 1, kPollMs);
    if (ready < 0 && errno != EINTR) return false;
    if (ready <= 0) {
      const std::lock_guard lock(mutex_);
      if (closing_ && ++idle_polls >= kPollsBeforeGivingUp) return false;
      continue;
    }
    const ssize_t written = write(fd_, text.data(), std::min(text.size(), kPipeRoom));
    if (written < 0 && errno != EINTR && errno != EAGAIN) return false;
    if (written > 0) text.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

LineBuffer::Next LineBuffer::Take(std::string& line) {
  const size_t end = bytes_.find('\n', searched_);
  if (end == std::string::npos) {
    searched_ = bytes_.size();
    if (skipping_ || bytes_.size() > max_line_size_) {
      skipping_ = true;
      bytes_.clear();
      searched_ = 0;
    }
    return Next::kNothing;
  }
  const bool too_long = std::exchange(skipping_, false) || end > max_line_size_;
  if (!too_long) line.assign(bytes_, 0, end);
  bytes_.erase(0, end + 1);
  searched_ = 0;
  return too_long ? Next::kTooLong : Next::kLine;
}

LineBuffer::Next LineBuffer::TakeLast(std::string& line) {
  if (std::exchange(skipping_, false)) return Next::kTooLong;
  if (bytes_.empty()) return Next::kNothing;
  line = std::exchange(bytes_, {});
  searched_ = 0;
  return Next::kLine;
}

}  // namespace weir
