#include <onnxruntime_c_api.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "onnx/model_session.h"

namespace weir::internal {
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

// The library prints nothing; errors come back as statuses.
void ORT_API_CALL IgnoreLog(void*, OrtLoggingLevel, const char*, const char*, const char*, const char*) {}

struct Environment {
  OrtEnv* env = nullptr;
  std::optional<Error> error;
};

// One per process, never released: sessions may outlive static destructors.
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

std::optional<Error> ReadTensorInfo(OrtTypeInfo* type, TensorInfo& info) {
  const OrtTensorTypeAndShapeInfo* tensor = nullptr;
  if (auto error = ToError(Api()->CastTypeInfoToTensorInfo(type, &tensor))) return error;
  if (tensor == nullptr) return std::nullopt;  // a sequence or map: not float32
  ONNXTensorElementDataType element = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  if (auto error = ToError(Api()->GetTensorElementType(tensor, &element))) return error;
  size_t rank = 0;
  if (auto error = ToError(Api()->GetDimensionsCount(tensor, &rank))) return error;
  info.is_float32 = element == ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT;
  info.shape.resize(rank);
  return ToError(Api()->GetDimensions(tensor, info.shape.data(), rank));
}

// The tensors of one side, inputs or outputs.
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
      const Result<size_t> elements = TensorElements(info);
      if (!elements) return Error{elements.error()};
      std::vector<int64_t> shape = info.shape;
      for (int64_t& dimension : shape) dimension = dimension < 0 ? 1 : dimension;
      std::vector<float>& data = data_.emplace_back(elements.value(), 0.0f);
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
  explicit OnnxRuntimeModel(OrtSession* session) : session_(session, Api()->ReleaseSession) {}

  std::optional<Error> ReadSignature();
  const std::vector<TensorInfo>& inputs() const override { return inputs_; }
  const std::vector<TensorInfo>& outputs() const override { return outputs_; }
  // ONNX Runtime's session may run on several threads at once.
  Result<std::unique_ptr<ModelSession>> MakeSession() const override {
    auto session = std::make_unique<OnnxRuntimeSession>(session_.get());
    if (auto error = session->Allocate(inputs_, outputs_)) return *error;
    return std::unique_ptr<ModelSession>(std::move(session));
  }

 private:
  const Handle<OrtSession> session_;
  std::vector<TensorInfo> inputs_, outputs_;
};

std::optional<Error> OnnxRuntimeModel::ReadSignature() {
  OrtAllocator* allocator = nullptr;
  if (auto error = ToError(Api()->GetAllocatorWithDefaultOptions(&allocator))) return error;
  const auto read = [&](auto get_count, auto get_name, auto get_type,
                        std::vector<TensorInfo>& infos) -> std::optional<Error> {
    size_t count = 0;
    if (auto error = ToError(get_count(session_.get(), &count))) return error;
    for (size_t i = 0; i < count; ++i) {
      TensorInfo& info = infos.emplace_back();
      char* name = nullptr;
      if (auto error = ToError(get_name(session_.get(), i, allocator, &name))) return error;
      info.name = name;
      if (auto error = ToError(Api()->AllocatorFree(allocator, name))) return error;
      OrtTypeInfo* type = nullptr;
      if (auto error = ToError(get_type(session_.get(), i, &type))) return error;
      const Handle<OrtTypeInfo> owner(type, Api()->ReleaseTypeInfo);
      if (auto error = ReadTensorInfo(type, info)) return error;
    }
    return std::nullopt;
  };
  if (auto error =
          read(Api()->SessionGetInputCount, Api()->SessionGetInputName, Api()->SessionGetInputTypeInfo, inputs_))
    return error;
  return read(Api()->SessionGetOutputCount, Api()->SessionGetOutputName, Api()->SessionGetOutputTypeInfo, outputs_);
}

}  // namespace

Result<std::unique_ptr<ModelEvaluator>> LoadInOnnxRuntime(std::span<const std::byte> model) {
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
  if (auto error = ToError(Api()->CreateSessionFromArray(environment.env, model.data(), model.size(),
                                                         options.value().get(), &session))) {
    return *error;
  }
  auto loaded = std::make_unique<OnnxRuntimeModel>(session);
  if (auto error = loaded->ReadSignature()) return *error;
  return std::unique_ptr<ModelEvaluator>(std::move(loaded));
}

const char* OnnxRuntimeVersion() { return OrtGetApiBase()->GetVersionString(); }

}  // namespace weir::internal
