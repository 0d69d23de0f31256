// The median of the last values of a series, kept in order so that none needs sorting again.
#ifndef WEIR_ARRIVAL_SLIDING_MEDIAN_H_
#define WEIR_ARRIVAL_SLIDING_MEDIAN_H_

#include <algorithm>
#include <array>
#include <cstddef>

namespace weir {

// Of the last kValues, which must be finite.
template <size_t kValues>
class SlidingMedian {
 public:
  void Add(double value) {
    double& oldest = ring_[added_++ % kValues];
    if (added_ <= kValues) {
      count_ = added_;
    } else {
      const size_t place = Below(oldest, count_);
      std::copy(sorted_.begin() + place + 1, sorted_.begin() + count_, sorted_.begin() + place);
    }
    oldest = value;
    const size_t place = Below(value, count_ - 1);
    std::copy_backward(sorted_.begin() + place, sorted_.begin() + count_ - 1, sorted_.begin() + count_);
    sorted_[place] = value;
  }

  // Of an even number the larger of the two in the middle; 0 before the first.
  double median() const { return count_ == 0 ? 0 : sorted_[count_ / 2]; }

 private:
  // How many of the first so many are smaller: counting them all is quicker than a search whose steps depend on chance.
  size_t Below(double value, size_t among) const {
    size_t below = 0;
    for (size_t i = 0; i < among; ++i) below += sorted_[i] < value;
    return below;
  }

  std::array<double, kValues> ring_{};
  std::array<double, kValues> sorted_{};
  size_t added_ = 0;
  size_t count_ = 0;
};

}  // namespace weir

#endif  // WEIR_ARRIVAL_SLIDING_MEDIAN_H_
