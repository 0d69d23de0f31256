// The models that make_test_models.py wrote for the tests.
#ifndef WEIR_TESTS_ESTIMATOR_TEST_MODELS_H_
#define WEIR_TESTS_ESTIMATOR_TEST_MODELS_H_

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "policy/policy.h"
#include "read_file.h"

namespace weir {

inline std::vector<std::byte> ReadTestModel(const std::string& name) {
  return ReadFile(std::string(WEIR_TEST_MODELS) + "/" + name + ".onnx");
}

// Fails the test and returns null if the model is refused.
inline std::unique_ptr<Policy> LoadTestModel(const std::string& name) {
  auto policy = Policy::Load(ReadTestModel(name));
  EXPECT_TRUE(policy) << name << ": " << (policy ? "" : policy.error());
  return policy ? std::move(policy.value()) : nullptr;
}

}  // namespace weir

#endif  // WEIR_TESTS_ESTIMATOR_TEST_MODELS_H_
