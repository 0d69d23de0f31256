// A file descriptor with an owner, who closes it.
#ifndef WEIR_TRAINER_GYM_SIM_CORE_FILE_DESCRIPTOR_H_
#define WEIR_TRAINER_GYM_SIM_CORE_FILE_DESCRIPTOR_H_

#include <unistd.h>

#include <utility>

namespace weir::sim {

class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~FileDescriptor() {
    if (fd_ >= 0) close(fd_);
  }

  int get() const { return fd_; }
  // Whether it holds one: calls that fail return -1.
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

}  // namespace weir::sim

#endif  // WEIR_TRAINER_GYM_SIM_CORE_FILE_DESCRIPTOR_H_
