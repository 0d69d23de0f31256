// Passes the newest value from one thread to another.
#ifndef WEIR_ESTIMATOR_SRC_WORKER_MAILBOX_H_
#define WEIR_ESTIMATOR_SRC_WORKER_MAILBOX_H_

#include <array>
#include <atomic>
#include <cstdint>

namespace weir {

// One thread writes and one reads. A value replaces one that has not been read. Both sides are wait-free: each thread
// owns one of three values and exchanges it for the one in the middle. Allocates nothing.
template <class T>
class Mailbox {
 public:
  explicit Mailbox(const T& value) : values_{value, value, value} {}

  // The value for the next Send(), with older content. For the writer only.
  T& outgoing() { return values_[written_]; }
  void Send() { written_ = middle_.exchange(written_ | kNew, std::memory_order_acq_rel) & ~kNew; }
  // Returns the newest value since the last call, or null if there is none. It is valid until the next call that
  // returns a value.
  const T* Receive() {
    if ((middle_.load(std::memory_order_relaxed) & kNew) == 0) return nullptr;
    read_ = middle_.exchange(read_, std::memory_order_acq_rel) & ~kNew;
    return &values_[read_];
  }

 private:
  // A flag in `middle_`, in addition to the index.
  static constexpr uint32_t kNew = 4;

  std::array<T, 3> values_;
  std::atomic<uint32_t> middle_ = 1;
  uint32_t written_ = 0;
  uint32_t read_ = 2;
};

}  // namespace weir

#endif  // WEIR_ESTIMATOR_SRC_WORKER_MAILBOX_H_
