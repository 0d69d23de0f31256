// A library without ONNX Runtime: it computes dense networks, and its refusal of any other model names the need.
#include <gtest/gtest.h>

#include <string>

#include "policy/policy.h"
#include "test_models.h"

namespace weir {
namespace {

TEST(WithoutOnnxRuntimeTest, LoadsDenseNetworks) {
  ASSERT_STREQ(OnnxRuntimeVersion(), "");
  for (const auto& bytes : {ReadFile(WEIR_SHIPPED_MODEL), ReadTestModel("recurrent"), ReadTestModel("discrete")}) {
    const auto model = PolicyModel::Load(bytes);
    ASSERT_TRUE(model) << model.error();
    EXPECT_FALSE(model.value()->needs_onnxruntime());
  }
}

TEST(WithoutOnnxRuntimeTest, RefusesOtherModelsAndNamesTheOperatorAndOnnxRuntime) {
  struct Case {
    const char* model;
    const char* part;
  };
  for (const auto& [model, part] :
       {Case{"lstm_sized", "operator 'Slice'"}, Case{"muses_sized", "operator 'TreeEnsembleRegressor'"},
        Case{"foreign_operator", "operator 'Abs'"}, Case{"every_operator_21", "operators of ONNX's opset 21"}}) {
    const auto loaded = PolicyModel::Load(ReadTestModel(model));
    ASSERT_FALSE(loaded) << model;
    const std::string wanted = std::string("the model cannot be used: it needs ONNX Runtime for its ") + part;
    EXPECT_TRUE(loaded.error().starts_with(wanted)) << loaded.error();
    EXPECT_NE(loaded.error().find("built without it (CMake's option WEIR_ONNXRUNTIME)"), std::string::npos)
        << loaded.error();
  }
}

}  // namespace
}  // namespace weir
