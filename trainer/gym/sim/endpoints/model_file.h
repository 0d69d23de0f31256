// A model file, read once, and loaded once for all flows and runs that use it; and a custom policy, which is one under
// a name of its own.
#ifndef WEIR_TRAINER_GYM_SIM_ENDPOINTS_MODEL_FILE_H_
#define WEIR_TRAINER_GYM_SIM_ENDPOINTS_MODEL_FILE_H_

#include <memory>
#include <string>

#include "weir/controllers.h"

namespace weir::sim {

class ModelFile {
 public:
  // Throws InputError when it cannot be read.
  explicit ModelFile(const std::string& path);

  // Loaded with the first call. Throws InputError when it cannot be used.
  std::shared_ptr<const PolicyModel> Load();

 private:
  std::string path_;
  // Empty once it is loaded.
  std::string bytes_;
  std::shared_ptr<const PolicyModel> model_;
};

struct OwnPolicy {
  std::string model_path;
  // What lies there; there when a flow is made.
  std::shared_ptr<ModelFile> model;
  // Without it the model is measured bare: only finiteness and bounds are kept.
  bool guard = true;
};

}  // namespace weir::sim

#endif  // WEIR_TRAINER_GYM_SIM_ENDPOINTS_MODEL_FILE_H_
