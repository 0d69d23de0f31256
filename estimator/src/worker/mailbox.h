// The newest value from one thread to another.
#ifndef WEIR_ESTIMATOR_SRC_WORKER_MAILBOX_H_
#define WEIR_ESTIMATOR_SRC_WORKER_MAILBOX_H_

#include <array>
#include <atomic>
#include <cstdint>

namespace weir {

// One thread writes and one reads; a value replaces one that has not been read. Both are wait-free: of three values
// each thread owns one, and exchanges it for the one in the middle. Allocates nothing.
template <class T>
class Mailbox {
 public:
  explicit Mailbox(const T& value) : values_{value, value, value} {}

  // The writer's, for the next Send(); it has an older content.
  T& outgoing() { return values_[written_]; }
  void Send() { written_ = middle_.exchange(written_ | kNew, std::memory_order_acq_rel) & ~kNew; }
  // The newest value since the last call, valid until the next that returns one; null when there is none.
  const T* Receive() {
    if ((middle_.load(std::memory_order_relaxed) & kNew) == 0) return nullptr;
    read_ = middle_.exchange(read_, std::memory_order_acq_rel) & ~kNew;
    return &values_[read_];
  }

 private:
  // In `middle_`, beside an index.
  static constexpr uint32_t kNew = 4;

  std::array<T, 3> values_;
  std::atomic<uint32_t> middle_ = 1;
  uint32_t written_ = 0;
  uint32_t read_ = 2;
};

}  // namespace weir

#endif  // WEIR_ESTIMATOR_SRC_WORKER_MAILBOX_H_
