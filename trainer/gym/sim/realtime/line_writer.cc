#include "realtime/line_writer.h"

#include <unistd.h>

#include <cerrno>
#include <utility>

namespace weir::sim {

LineWriter::LineWriter(int fd) : fd_(fd), thread_([this] { Run(); }) {}

LineWriter::~LineWriter() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void LineWriter::Write(const std::string& line) {
  {
    const std::lock_guard lock(mutex_);
    if (failed_ || waiting_.size() + line.size() >= kMaxWaitingBytes) {
      ++lines_left_out_;
      return;
    }
    waiting_ += line;
    waiting_ += '\n';
  }
  changed_.notify_one();
}

bool LineWriter::failed() const {
  const std::lock_guard lock(mutex_);
  return failed_;
}

size_t LineWriter::lines_left_out() const {
  const std::lock_guard lock(mutex_);
  return lines_left_out_;
}

void LineWriter::Run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return closing_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    const std::string text = std::exchange(waiting_, {});
    lock.unlock();
    const bool written = WriteAll(text);
    lock.lock();
    if (!written) failed_ = true;
  }
}

bool LineWriter::WriteAll(const std::string& text) const {
  for (size_t done = 0; done < text.size();) {
    const ssize_t count = write(fd_, text.data() + done, text.size() - done);
    if (count > 0) {
      done += static_cast<size_t>(count);
    } else if (count == 0 || errno != EINTR) {
      return false;
    }
  }
  return true;
}

}  // namespace weir::sim
