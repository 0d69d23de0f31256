// A file's bytes, for tests.
#ifndef WEIR_TESTS_ESTIMATOR_READ_FILE_H_
#define WEIR_TESTS_ESTIMATOR_READ_FILE_H_

#include <cstddef>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace weir {

// Empty if the file cannot be read.
inline std::vector<std::byte> ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string content((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const auto* bytes = reinterpret_cast<const std::byte*>(content.data());
  return {bytes, bytes + content.size()};
}

}  // namespace weir

#endif  // WEIR_TESTS_ESTIMATOR_READ_FILE_H_
