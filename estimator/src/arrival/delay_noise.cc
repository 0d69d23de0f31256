#include "weir/arrival/delay_noise.h"

#include <algorithm>
#include <cmath>

namespace weir {

double DelayNoise::Seconds() const {
  const size_t known = std::min(delays_, kDelays);
  if (known < 3) return 0;
  std::array<double, kDelays> bends{};
  const auto delay = [&](size_t age) { return delays_s_[(delays_ - 1 - age) % kDelays]; };
  for (size_t age = 0; age + 2 < known; ++age) {
    bends[age] = std::abs(delay(age) - 2 * delay(age + 1) + delay(age + 2));
  }
  const auto end = bends.begin() + static_cast<ptrdiff_t>(known - 2);
  const auto middle = bends.begin() + static_cast<ptrdiff_t>((known - 2) / 2);
  std::nth_element(bends.begin(), middle, end);
  return *middle;
}

}  // namespace weir
