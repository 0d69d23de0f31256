#include <onnxruntime_c_api.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "onnx/model_session.h"
#include "weir/controllers.h"

namespace weir {
namespace internal {
namespace {

const OrtApi* Api() {
  static const OrtApi* const api = OrtGetApiBase()->GetApi(ORT_API_VERSION);
  return api;
}

template <class T>
using Handle = std::unique_ptr<T, void (*)(T*)>;

// Takes ownership of `status`.
std::optional<Error> ToError(OrtStatus* status) {
  if (status == nullptr) return std::nullopt;
  std::string message = Api()->GetErrorMessage(status);
  Api()->ReleaseStatus(status);
  message = message.substr(0, 300);
  std::replace(message.begin(), message.end(), '\n', ' ');
  return Error{"ONNX Runtime refuses it: " + message};
}

// Discards the log: Weir prints nothing, and errors are returned as statuses.
void ORT_API_CALL IgnoreLog(void*, OrtLoggingLevel, const char*, const char*, const char*, const char*) {}

struct Environment {
  OrtEnv* env = nullptr;
  std::optional<Error> error;
};

// The one environment of the process. It is never released, because sessions may outlive static destructors.
const Environment& ProcessEnvironment() {
  static const Environment* const environment = [] {
    auto* created = new Environment;
    created->error =
        ToError(Api()->CreateEnvWithCustomLogger(&IgnoreLog, nullptr, ORT_LOGGING_LEVEL_FATAL, "weir", &created->env));
    if (!created->error) created->error = ToError(Api()->DisableTelemetryEvents(created->env));
    return created;
  }();
  return *environment;
}

Result<Handle<OrtSessionOptions>> MakeOptions() {
  OrtSessionOptions* raw = nullptr;
  if (auto error = ToError(Api()->CreateSessionOptions(&raw))) return *error;
  Handle<OrtSessionOptions> options(raw, Api()->ReleaseSessionOptions);
  std::optional<Error> first_error;
  for (OrtStatus* status : {
           Api()->SetIntraOpNumThreads(raw, 1),
           Api()->SetInterOpNumThreads(raw, 1),
           Api()->SetSessionExecutionMode(raw, ORT_SEQUENTIAL),
           Api()->SetSessionGraphOptimizationLevel(raw, ORT_ENABLE_ALL),
           Api()->SetSessionLogSeverityLevel(raw, ORT_LOGGING_LEVEL_FATAL),
           Api()->AddSessionConfigEntry(raw, "session.intra_op.allow_spinning", "0"),
           Api()->AddSessionConfigEntry(raw, "session.inter_op.allow_spinning", "0"),
           Api()->AddSessionConfigEntry(raw, "session.load_model_format", "ONNX"),
       }) {
    if (auto error = ToError(status); error && !first_error) first_error = error;
  }
  if (first_error) return *first_error;
  return options;
}

// Type and shape of an input or output. A dimension of -1 is free.
struct TensorInfo {
  std::string name;
  OnnxShape shape;
};

std::vector<TensorInfo> Infos(const std::vector<OnnxValueInfo>& declared) {
  std::vector<TensorInfo> infos;
  infos.reserve(declared.size());
  for (const OnnxValueInfo& info : declared) infos.push_back({std::string(info.name), *info.shape});
  return infos;
}

// The inputs, or the outputs, of a session.
class Tensors {
 public:
  Tensors() = default;
  ~Tensors() {
    for (OrtValue* value : values_) Api()->ReleaseValue(value);
  }
  Tensors(const Tensors&) = delete;
  Tensors& operator=(const Tensors&) = delete;

  std::optional<Error> Allocate(const std::vector<TensorInfo>& infos) {
    OrtMemoryInfo* raw = nullptr;
    if (auto error = ToError(Api()->CreateCpuMemoryInfo(OrtDeviceAllocator, OrtMemTypeDefault, &raw))) return error;
    const Handle<OrtMemoryInfo> memory(raw, Api()->ReleaseMemoryInfo);
    for (const TensorInfo& info : infos) {
      const OnnxShape shape = Bound(info.shape);
      const auto elements = std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies());
      std::vector<float>& data = data_.emplace_back(static_cast<size_t>(elements), 0.0f);
      names_.push_back(info.name.c_str());
      OrtValue* value = nullptr;
      if (auto error = ToError(Api()->CreateTensorWithDataAsOrtValue(raw, data.data(), data.size() * sizeof(float),
                                                                     shape.data(), shape.size(),
                                                                     ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &value))) {
        return error;
      }
      values_.push_back(value);
    }
    return std::nullopt;
  }

  std::vector<float>& data(size_t index) { return data_[index]; }
  const std::vector<float>& data(size_t index) const { return data_[index]; }
  const std::vector<const char*>& names() const { return names_; }
  std::vector<OrtValue*>& values() { return values_; }

 private:
  std::vector<std::vector<float>> data_;
  std::vector<const char*> names_;
  std::vector<OrtValue*> values_;
};

class OnnxRuntimeSession final : public ModelSession {
 public:
  explicit OnnxRuntimeSession(OrtSession* session) : session_(session) {}

  std::optional<Error> Allocate(const std::vector<TensorInfo>& inputs, const std::vector<TensorInfo>& outputs) {
    if (auto error = inputs_.Allocate(inputs)) return error;
    return outputs_.Allocate(outputs);
  }
  std::span<float> input(size_t index) override { return inputs_.data(index); }
  std::span<const float> output(size_t index) const override { return outputs_.data(index); }
  std::optional<Error> Run() override {
    return ToError(Api()->Run(session_, nullptr, inputs_.names().data(), inputs_.values().data(),
                              inputs_.values().size(), outputs_.names().data(), outputs_.names().size(),
                              outputs_.values().data()));
  }

 private:
  OrtSession* const session_;
  Tensors inputs_, outputs_;
};

class OnnxRuntimeModel final : public ModelEvaluator {
 public:
  OnnxRuntimeModel(OrtSession* session, const OnnxModel& model)
      : session_(session, Api()->ReleaseSession), inputs_(Infos(model.inputs)), outputs_(Infos(model.outputs)) {}

  // ONNX Runtime's session may run on several threads at once.
  Result<std::unique_ptr<ModelSession>> MakeSession() const override {
    auto session = std::make_unique<OnnxRuntimeSession>(session_.get());
    if (auto error = session->Allocate(inputs_, outputs_)) return *error;
    return std::unique_ptr<ModelSession>(std::move(session));
  }

 private:
  const Handle<OrtSession> session_;
  const std::vector<TensorInfo> inputs_, outputs_;
};

}  // namespace

Result<std::unique_ptr<ModelEvaluator>> LoadInOnnxRuntime(std::span<const std::byte> bytes, const OnnxModel& model) {
  if (Api() == nullptr) {
    if (*OnnxRuntimeVersion() == '\0')
      return Error{
          "there is no ONNX Runtime (libonnxruntime.so.1): the extra `bench` of weir-bwe, or the Python package "
          "onnxruntime, brings it"};
    return Error{"the ONNX Runtime library (" + std::string(OnnxRuntimeVersion()) +
                 ") is older than the headers Weir was built with"};
  }
  const Environment& environment = ProcessEnvironment();
  if (environment.error) return *environment.error;
  Result<Handle<OrtSessionOptions>> options = MakeOptions();
  if (!options) return Error{options.error()};
  OrtSession* session = nullptr;
  if (auto error = ToError(Api()->CreateSessionFromArray(environment.env, bytes.data(), bytes.size(),
                                                         options.value().get(), &session))) {
    return *error;
  }
  return std::unique_ptr<ModelEvaluator>(std::make_unique<OnnxRuntimeModel>(session, model));
}

}  // namespace internal

const char* OnnxRuntimeVersion() { return OrtGetApiBase()->GetVersionString(); }

}  // namespace weir
