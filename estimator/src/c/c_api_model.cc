// The models' part of the C interface.
#include "c_api_model.h"

#include <utility>

#include "c_api_support.h"

namespace weir::internal {

Result<std::shared_ptr<const PolicyModel>> ModelOf(const weir_model* loaded, const void* model,
                                                   size_t model_size_bytes) {
  if (loaded != nullptr && model != nullptr) return Error{"give either a loaded model or one in memory, not both"};
  if (loaded != nullptr) return loaded->model;
  if (model == nullptr) return Error{"the model is NULL"};
  return PolicyModel::Load({static_cast<const std::byte*>(model), model_size_bytes});
}

}  // namespace weir::internal

int weir_model_load(const void* model, size_t model_size_bytes, weir_model** out, char* error,
                    size_t error_size_bytes) noexcept {
  using weir::internal::Fail;
  using weir::internal::FailArgument;
  const weir::internal::ErrorText text{error, error_size_bytes};
  if (out == nullptr) return text.Told(FailArgument("the pointer for the model is NULL"));
  *out = nullptr;
  if (model == nullptr) return text.Told(FailArgument("the model is NULL"));
  return text.Told(weir::internal::Guarded([&] {
    auto loaded = weir::internal::ModelOf(nullptr, model, model_size_bytes);
    if (!loaded) return Fail(WEIR_ERROR_INVALID_MODEL, loaded.error());
    *out = new weir_model{std::move(loaded.value())};
    return static_cast<int>(WEIR_OK);
  }));
}

void weir_model_destroy(weir_model* model) noexcept { delete model; }
