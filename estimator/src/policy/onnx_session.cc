#include "onnx_session.h"

#include <algorithm>
#include <utility>

namespace weir::internal {
namespace {

// Policies are small; this keeps a hostile shape from asking for gigabytes.
constexpr int64_t kMaxElements = 1 << 20;

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

}  // namespace

Result<std::unique_ptr<OnnxSession>> OnnxSession::Load(std::span<const std::byte> model) {
  if (Api() == nullptr) {
    if (*OnnxRuntimeVersion() == '\0')
      return Error{"there is no ONNX Runtime (libonnxruntime.so.1); the Python package onnxruntime has it"};
    return Error{"the ONNX Runtime library (" + std::string(OnnxRuntimeVersion()) +
                 ") is older than the headers Weir was built with"};
  }
  const Environment& environment = ProcessEnvironment();
  if (environment.error) return *environment.error;
  Result<Handle<OrtSessionOptions>> options = MakeOptions();
  if (!options) return Error{options.error()};
  std::unique_ptr<OnnxSession> session(new OnnxSession);
  if (auto error = ToError(Api()->CreateSessionFromArray(environment.env, model.data(), model.size(),
                                                         options.value().get(), &session->session_))) {
    return *error;
  }
  if (auto error = session->ReadSignature()) return *error;
  return session;
}

OnnxSession::~OnnxSession() {
  for (OrtValue* value : input_values_) Api()->ReleaseValue(value);
  for (OrtValue* value : output_values_) Api()->ReleaseValue(value);
  if (session_ != nullptr) Api()->ReleaseSession(session_);
}

std::optional<Error> OnnxSession::ReadSignature() {
  OrtAllocator* allocator = nullptr;
  if (auto error = ToError(Api()->GetAllocatorWithDefaultOptions(&allocator))) return error;
  const auto read = [&](auto get_count, auto get_name, auto get_type,
                        std::vector<TensorInfo>& infos) -> std::optional<Error> {
    size_t count = 0;
    if (auto error = ToError(get_count(session_, &count))) return error;
    for (size_t i = 0; i < count; ++i) {
      TensorInfo& info = infos.emplace_back();
      char* name = nullptr;
      if (auto error = ToError(get_name(session_, i, allocator, &name))) return error;
      info.name = name;
      if (auto error = ToError(Api()->AllocatorFree(allocator, name))) return error;
      OrtTypeInfo* type = nullptr;
      if (auto error = ToError(get_type(session_, i, &type))) return error;
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

std::optional<std::string> OnnxSession::Metadata(const char* key) const {
  OrtModelMetadata* raw = nullptr;
  if (ToError(Api()->SessionGetModelMetadata(session_, &raw))) return std::nullopt;
  const Handle<OrtModelMetadata> metadata(raw, Api()->ReleaseModelMetadata);
  OrtAllocator* allocator = nullptr;
  char* value = nullptr;
  if (ToError(Api()->GetAllocatorWithDefaultOptions(&allocator)) ||
      ToError(Api()->ModelMetadataLookupCustomMetadataMap(raw, allocator, key, &value)) || value == nullptr) {
    return std::nullopt;
  }
  std::string result = value;
  if (ToError(Api()->AllocatorFree(allocator, value))) return std::nullopt;
  return result;
}

std::optional<Error> OnnxSession::AllocateTensors() {
  if (auto error = AllocateTensors(inputs_, input_data_, input_names_, input_values_)) return error;
  return AllocateTensors(outputs_, output_data_, output_names_, output_values_);
}

std::optional<Error> OnnxSession::AllocateTensors(const std::vector<TensorInfo>& infos,
                                                  std::vector<std::vector<float>>& data,
                                                  std::vector<const char*>& names, std::vector<OrtValue*>& values) {
  OrtMemoryInfo* raw = nullptr;
  if (auto error = ToError(Api()->CreateCpuMemoryInfo(OrtDeviceAllocator, OrtMemTypeDefault, &raw))) return error;
  const Handle<OrtMemoryInfo> memory(raw, Api()->ReleaseMemoryInfo);
  for (const TensorInfo& info : infos) {
    std::vector<int64_t> shape = info.shape;
    int64_t elements = 1;
    for (int64_t& dimension : shape) {
      if (dimension < 0) dimension = 1;
      if (dimension > kMaxElements) return Error{"'" + info.name + "' is too large"};
      elements *= dimension;
      if (elements > kMaxElements) return Error{"'" + info.name + "' is too large"};
    }
    std::vector<float>& elements_data = data.emplace_back(static_cast<size_t>(elements), 0.0f);
    names.push_back(info.name.c_str());
    OrtValue* value = nullptr;
    if (auto error = ToError(Api()->CreateTensorWithDataAsOrtValue(
            raw, elements_data.data(), elements_data.size() * sizeof(float), shape.data(), shape.size(),
            ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &value))) {
      return error;
    }
    values.push_back(value);
  }
  return std::nullopt;
}

std::optional<Error> OnnxSession::Run() {
  return ToError(Api()->Run(session_, nullptr, input_names_.data(), input_values_.data(), input_values_.size(),
                            output_names_.data(), output_names_.size(), output_values_.data()));
}

const char* OnnxRuntimeVersion() { return OrtGetApiBase()->GetVersionString(); }

}  // namespace weir::internal
