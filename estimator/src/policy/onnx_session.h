// One model in ONNX Runtime, through its C API: loaded from memory, on one thread of the CPU, with tensors that live as
// long as the session.
#ifndef WEIR_ESTIMATOR_SRC_POLICY_ONNX_SESSION_H_
#define WEIR_ESTIMATOR_SRC_POLICY_ONNX_SESSION_H_

#include <onnxruntime_c_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "weir/result.h"

namespace weir::internal {

// An input or output as the model declares it. A dimension of -1 is free.
struct TensorInfo {
  std::string name;
  bool is_float32 = false;
  std::vector<int64_t> shape;
};

class OnnxSession {
 public:
  // `model` has passed FindOnnxObjection() and need not outlive the call.
  static Result<std::unique_ptr<OnnxSession>> Load(std::span<const std::byte> model);
  ~OnnxSession();
  OnnxSession(const OnnxSession&) = delete;
  OnnxSession& operator=(const OnnxSession&) = delete;

  const std::vector<TensorInfo>& inputs() const { return inputs_; }
  const std::vector<TensorInfo>& outputs() const { return outputs_; }
  // The value of a key of the model's metadata_props.
  std::optional<std::string> Metadata(const char* key) const;

  // Makes the tensors, free dimensions becoming 1; all inputs and outputs must be float32. Nothing when that worked.
  std::optional<Error> AllocateTensors();
  // The elements of the tensors, valid as long as the session. Inputs start at zero.
  std::span<float> input(size_t index) { return input_data_[index]; }
  std::span<const float> output(size_t index) const { return output_data_[index]; }

  // Computes the outputs from the inputs; nothing when that worked.
  std::optional<Error> Run();

 private:
  OnnxSession() = default;
  std::optional<Error> ReadSignature();
  std::optional<Error> AllocateTensors(const std::vector<TensorInfo>& infos, std::vector<std::vector<float>>& data,
                                       std::vector<const char*>& names, std::vector<OrtValue*>& values);

  OrtSession* session_ = nullptr;
  std::vector<TensorInfo> inputs_, outputs_;
  std::vector<std::vector<float>> input_data_, output_data_;
  std::vector<const char*> input_names_, output_names_;
  std::vector<OrtValue*> input_values_, output_values_;
};

// The version of the ONNX Runtime library that is in use, such as "1.31.1".
const char* OnnxRuntimeVersion();

}  // namespace weir::internal

#endif  // WEIR_ESTIMATOR_SRC_POLICY_ONNX_SESSION_H_
