// A model file, read once, and loaded once for all flows and runs that use it; and a custom policy, which is one under
// a name of its own.
#ifndef WEIR_TRAINER_GYM_SIM_ENDPOINTS_MODEL_FILE_H_
#define WEIR_TRAINER_GYM_SIM_ENDPOINTS_MODEL_FILE_H_

#include <memory>
#include <span>
#include <string>
#include <utility>

#include "program/input.h"
#include "weir/controllers.h"

namespace weir::sim {

class ModelFile {
 public:
  // Throws InputError when it cannot be read.
  explicit ModelFile(const std::string& path) : path_(path), bytes_(ReadInputFile(path, "model")) {}

  // Loaded with the first call. Throws InputError when it cannot be used.
  std::shared_ptr<const PolicyModel> Load() {
    if (model_) return model_;
    auto loaded = PolicyModel::Load(std::as_bytes(std::span(bytes_)));
    if (!loaded) throw InputError(path_ + ": " + loaded.error());
    model_ = std::move(loaded.value());
    bytes_ = {};
    return model_;
  }

 private:
  std::string path_;
  // Empty once it is loaded.
  std::string bytes_;
  std::shared_ptr<const PolicyModel> model_;
};

struct OwnPolicy {
  std::string model_path;
  // The file at `model_path`; set when a flow is made.
  std::shared_ptr<ModelFile> model;
  // Without it the model is measured bare: only finiteness and bounds are kept.
  bool guard = true;
};

}  // namespace weir::sim

#endif  // WEIR_TRAINER_GYM_SIM_ENDPOINTS_MODEL_FILE_H_
