// Policies with the models of the tests.
#ifndef WEIR_TESTS_ESTIMATOR_TEST_POLICIES_H_
#define WEIR_TESTS_ESTIMATOR_TEST_POLICIES_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "policy/policy.h"
#include "test_models.h"

namespace weir {

// Fails the test and returns null if the model is refused.
inline std::unique_ptr<Policy> LoadTestModel(const std::string& name) {
  auto policy = Policy::Load(ReadTestModel(name));
  EXPECT_TRUE(policy) << name << ": " << (policy ? "" : policy.error());
  return policy ? std::move(policy.value()) : nullptr;
}

}  // namespace weir

#endif  // WEIR_TESTS_ESTIMATOR_TEST_POLICIES_H_
