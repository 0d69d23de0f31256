// A FIFO queue in one block of memory that never shrinks: no allocation once the queue has reached its largest size.
#ifndef WEIR_SIMULATOR_CORE_RING_BUFFER_H_
#define WEIR_SIMULATOR_CORE_RING_BUFFER_H_

#include <cstddef>
#include <utility>
#include <vector>

namespace weir::sim {

// T is default-constructible and movable.
template <class T>
class RingBuffer {
 public:
  bool empty() const { return size_ == 0; }
  size_t size() const { return size_; }
  T& front() { return slots_[head_]; }
  const T& front() const { return slots_[head_]; }
  T& back() { return (*this)[size_ - 1]; }
  const T& back() const { return (*this)[size_ - 1]; }
  T& operator[](size_t index) { return slots_[(head_ + index) & (slots_.size() - 1)]; }
  const T& operator[](size_t index) const { return slots_[(head_ + index) & (slots_.size() - 1)]; }

  void push_back(T&& value) { push_slot() = std::move(value); }
  // Adds a last element, which may hold a stale value, for the caller to assign.
  T& push_slot() {
    if (size_ == slots_.size()) Grow();
    return slots_[(head_ + size_++) & (slots_.size() - 1)];
  }
  void push_back(const T& value) { push_back(T(value)); }
  void pop_front() {
    head_ = (head_ + 1) & (slots_.size() - 1);
    --size_;
  }
  T take_front() {
    T value = std::move(slots_[head_]);
    pop_front();
    return value;
  }

 private:
  void Grow() {
    std::vector<T> larger(slots_.empty() ? 16 : 2 * slots_.size());
    for (size_t i = 0; i < size_; ++i) larger[i] = std::move((*this)[i]);
    slots_ = std::move(larger);
    head_ = 0;
  }

  // Its size is a power of two.
  std::vector<T> slots_;
  size_t head_ = 0;
  size_t size_ = 0;
};

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_CORE_RING_BUFFER_H_
