// A model file, read once, and loaded once for all flows and runs that use it.
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

}  // namespace weir::sim

#endif  // WEIR_TRAINER_GYM_SIM_ENDPOINTS_MODEL_FILE_H_
