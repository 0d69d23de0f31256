#include "endpoints/model_file.h"

#include <span>
#include <utility>

#include "program/input.h"

namespace weir::sim {

ModelFile::ModelFile(const std::string& path) : path_(path), bytes_(ReadInputFile(path, "model")) {}

std::shared_ptr<const PolicyModel> ModelFile::Load() {
  if (!model_) {
    auto loaded = PolicyModel::Load(std::as_bytes(std::span(bytes_)));
    if (!loaded) throw InputError(path_ + ": " + loaded.error());
    model_ = std::move(loaded.value());
    bytes_ = {};
  }
  return model_;
}

}  // namespace weir::sim
