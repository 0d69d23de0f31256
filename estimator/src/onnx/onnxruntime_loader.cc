// OrtGetApiBase for programs and for the Python module. Loads ONNX Runtime on first use instead of at program start.
//
// The Python package onnxruntime names its library by the full version (libonnxruntime.so.1.31.1). The dynamic linker
// searches for the SONAME and never finds it, whatever the run path. This searches, in this order: the libraries
// already in the process; the Python packages beside the Python module, or in the environment whose bin/ contains the
// program; the dynamic linker's path. If there is none, only models that need ONNX Runtime are refused.
#include <dlfcn.h>
#include <onnxruntime_c_api.h>

#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

namespace {

namespace fs = std::filesystem;

constexpr char kSoname[] = "libonnxruntime.so.1";

// Returns the entries of the folder that begin with `start`, or none if there is no such folder.
std::vector<fs::path> Find(const fs::path& folder, std::string_view start) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (entry->path().filename().string().starts_with(start)) found.push_back(entry->path());
  }
  return found;
}

// Opens the library of the Python package in `packages`, such as PREFIX/lib/python3.11/site-packages. Null if there is
// none.
void* OpenAmong(const fs::path& packages) {
  for (const fs::path& library : Find(packages / "onnxruntime/capi", kSoname)) {
    if (void* handle = dlopen(library.c_str(), RTLD_NOW)) return handle;
  }
  return nullptr;
}

// Searches relative to this code, which is in PACKAGES/weir/_core.so or in PREFIX/bin/PROGRAM.
void* OpenBesideThis() {
  Dl_info here{};
  std::error_code error;
  if (dladdr(reinterpret_cast<const void*>(&OpenAmong), &here) == 0) return nullptr;
  const fs::path above = fs::absolute(here.dli_fname, error).parent_path().parent_path();
  if (void* handle = OpenAmong(above)) return handle;
  const fs::path prefix = fs::read_symlink("/proc/self/exe", error).parent_path().parent_path();
  for (const fs::path& python : Find(prefix / "lib", "python3")) {
    // Debian's own Python installs below dist-packages.
    for (const char* packages : {"site-packages", "dist-packages"}) {
      if (void* handle = OpenAmong(python / packages)) return handle;
    }
  }
  return nullptr;
}

const OrtApi* ORT_API_CALL NoApi(uint32_t) noexcept { return nullptr; }
const char* ORT_API_CALL NoVersion() noexcept { return ""; }
constexpr OrtApiBase kNoRuntime{&NoApi, &NoVersion};

const OrtApiBase* Load() {
  void* library = dlopen(kSoname, RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) library = OpenBesideThis();
  if (library == nullptr) library = dlopen(kSoname, RTLD_NOW);
  if (library == nullptr) return &kNoRuntime;
  const auto get_api_base = reinterpret_cast<decltype(&OrtGetApiBase)>(dlsym(library, "OrtGetApiBase"));
  return get_api_base == nullptr ? &kNoRuntime : get_api_base();
}

}  // namespace

const OrtApiBase* ORT_API_CALL OrtGetApiBase() noexcept {
  static const OrtApiBase* const base = Load();
  return base;
}
