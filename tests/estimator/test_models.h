// The models that make_test_models.py wrote for the tests.
#ifndef WEIR_TESTS_ESTIMATOR_TEST_MODELS_H_
#define WEIR_TESTS_ESTIMATOR_TEST_MODELS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "read_file.h"

namespace weir {

inline std::vector<std::byte> ReadTestModel(const std::string& name) {
  return ReadFile(std::string(WEIR_TEST_MODELS) + "/" + name + ".onnx");
}

}  // namespace weir

#endif  // WEIR_TESTS_ESTIMATOR_TEST_MODELS_H_
