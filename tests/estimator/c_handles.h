// Handles of the C interface that destroy themselves, and how tests make them.
#ifndef WEIR_TESTS_ESTIMATOR_C_HANDLES_H_
#define WEIR_TESTS_ESTIMATOR_C_HANDLES_H_

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "weir.h"

namespace weir {

struct HandleDestroyer {
  void operator()(weir_model* model) const { weir_model_destroy(model); }
  void operator()(weir_controller* controller) const { weir_controller_destroy(controller); }
  void operator()(weir_estimator* estimator) const { weir_estimator_destroy(estimator); }
  void operator()(weir_send_side* send_side) const { weir_send_side_destroy(send_side); }
  void operator()(weir_mocc* mocc) const { weir_mocc_destroy(mocc); }
};
template <class Handle>
using Owned = std::unique_ptr<Handle, HandleDestroyer>;

// The handle that `create`, a function of the C interface, makes from `arguments`.
template <class Handle, class Create, class... Arguments>
Owned<Handle> Created(Create create, Arguments... arguments) {
  Handle* handle = nullptr;
  EXPECT_EQ(create(arguments..., &handle), WEIR_OK) << weir_last_error();
  return Owned<Handle>(handle);
}

// The error of such a function, which leaves no handle.
template <class Handle, class Create, class... Arguments>
int CreationError(Create create, Arguments... arguments) {
  Handle* handle = reinterpret_cast<Handle*>(1);
  const int error = create(arguments..., &handle);
  EXPECT_EQ(handle, nullptr);
  return error;
}

inline Owned<weir_model> LoadedModel(const std::vector<std::byte>& onnx) {
  return Created<weir_model>(weir_model_load, onnx.data(), onnx.size());
}

inline Owned<weir_controller> PolicyController(const std::vector<std::byte>& onnx, int worker = 0) {
  return Created<weir_controller>(weir_controller_create_policy, LoadedModel(onnx).get(), worker);
}

inline Owned<weir_controller> BuiltInController(const char* name) {
  return Created<weir_controller>(weir_controller_create_built_in, name);
}

inline Owned<weir_controller> PooledController(const char* specification) {
  return Created<weir_controller>(weir_controller_create_pool, specification, nullptr, size_t{0}, nullptr, nullptr);
}

inline Owned<weir_estimator> EstimatorWith(const Owned<weir_controller>& controller,
                                           const weir_estimator_config& config = weir_estimator_default_config()) {
  return Created<weir_estimator>(weir_estimator_create, controller.get(), &config);
}

}  // namespace weir

#endif  // WEIR_TESTS_ESTIMATOR_C_HANDLES_H_
