// The model in the repository, which every benchmark of a decision loads.
#ifndef WEIR_TESTS_BENCH_SHIPPED_MODEL_H_
#define WEIR_TESTS_BENCH_SHIPPED_MODEL_H_

#include <cstddef>
#include <fstream>
#include <iterator>
#include <vector>

namespace weir {

// Its bytes; none when the file cannot be read.
inline std::vector<std::byte> ShippedModel() {
  std::ifstream file(WEIR_SHIPPED_MODEL, std::ios::binary);
  const std::vector<char> content((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const auto* const bytes = reinterpret_cast<const std::byte*>(content.data());
  return {bytes, bytes + content.size()};
}

}  // namespace weir

#endif  // WEIR_TESTS_BENCH_SHIPPED_MODEL_H_
