// The `weir.*` keys of a model's metadata, read with one clear message for what is missing or makes no sense.
#ifndef WEIR_ESTIMATOR_SRC_POLICY_MODEL_METADATA_H_
#define WEIR_ESTIMATOR_SRC_POLICY_MODEL_METADATA_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "onnx/onnx_model.h"
#include "weir/result.h"

namespace weir::internal {

// The first failure is kept; the values read after it are placeholders.
class ModelMetadata {
 public:
  // `model` must outlive it.
  explicit ModelMetadata(const OnnxModel& model) : model_(model) {}

  // `key` is without the prefix "weir.".
  std::string Text(std::string_view key);
  std::string OptionalText(std::string_view key) const;
  int64_t Integer(std::string_view key, int64_t min, int64_t max);
  double Number(std::string_view key, double min, double max);
  std::vector<std::string> TextList(std::string_view key);
  std::vector<double> NumberList(std::string_view key, double min, double max);

  void Fail(std::string message);
  const std::optional<Error>& error() const { return error_; }

 private:
  double ParseNumber(std::string_view key, std::string_view text, double min, double max);

  std::optional<std::string> Find(std::string_view key) const;

  const OnnxModel& model_;
  std::optional<Error> error_;
};

}  // namespace weir::internal

#endif  // WEIR_ESTIMATOR_SRC_POLICY_MODEL_METADATA_H_
