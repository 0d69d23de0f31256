#include "settings.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

namespace weir::mediasoup {
namespace {

constexpr std::streamsize kMaxModelBytes = 16 << 20;

std::string Variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

weir_estimator_config EstimatorConfig() {
  weir_estimator_config config = weir_estimator_default_config();
  config.clock = [](void* /*argument*/) -> int64_t {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
  };
  return config;
}

std::unique_ptr<Settings> LoadSettings(const std::string& model, const std::string& folder, std::string& error) {
  std::ifstream file(model, std::ios::binary);
  std::vector<char> onnx(kMaxModelBytes + 1);
  file.read(onnx.data(), kMaxModelBytes + 1);
  if (file.gcount() == 0 || file.gcount() > kMaxModelBytes) {
    error = "the model that WEIR_MODEL names cannot be read, or has over 16 MiB: " + model;
    return nullptr;
  }
  weir_model* loaded = nullptr;
  if (weir_model_load(onnx.data(), static_cast<size_t>(file.gcount()), &loaded) != WEIR_OK) {
    error = "the model that WEIR_MODEL names, " + model + ": " + weir_last_error();
    return nullptr;
  }
  weir_controller* controller = nullptr;
  const int created = weir_controller_create_policy(loaded, 0, &controller);
  weir_model_destroy(loaded);
  auto settings = std::make_unique<Settings>();
  settings->controller.reset(controller);
  if (created != WEIR_OK) {
    error = std::string("no controller: ") + weir_last_error();
    return nullptr;
  }
  std::error_code ignored;
  if (!folder.empty() && !std::filesystem::is_directory(folder, ignored)) {
    error = "WEIR_OBSERVE: " + folder + " is no folder";
    return nullptr;
  }
  settings->connections = std::make_unique<observe::Connections>(
      "mediasoup", folder, folder.empty() ? 1 : 0,
      [](const std::string& error) { std::fprintf(stderr, "weir: %s\n", error.c_str()); });
  return settings;
}

const Settings* ProcessSettings() {
  static const std::unique_ptr<Settings> settings = []() -> std::unique_ptr<Settings> {
    const std::string model = Variable("WEIR_MODEL"), folder = Variable("WEIR_OBSERVE");
    if (model.empty()) return nullptr;
    std::string error;
    auto loaded = LoadSettings(model, folder, error);
    if (loaded == nullptr) {
      std::fprintf(stderr, "weir: %s\n", error.c_str());
      std::_Exit(2);
    }
    return loaded;
  }();
  return settings.get();
}

}  // namespace weir::mediasoup
