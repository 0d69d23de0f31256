// OrtGetApiBase for programs and for the Python module: finds the ONNX Runtime when it is first asked for, instead of
// the dynamic linker at start.
//
// The Python package onnxruntime has its library under the full version's name only (libonnxruntime.so.1.31.1), where
// the dynamic linker, which goes by the SONAME, never finds it, whatever the run path. So it is looked for: first what
// the process has already, then beside the package of the Python module, or in the Python environment whose bin/ the
// program is in, then where the dynamic linker looks. Without any, all else works; only models that need it are
// refused.
#include <dlfcn.h>
#include <onnxruntime_c_api.h>

#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

namespace {

namespace fs = std::filesystem;

constexpr char kSoname[] = "libonnxruntime.so.1";

// The entries of the folder that begin with `start`; none when there is no such folder.
std::vector<fs::path> Find(const fs::path& folder, std::string_view start) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (entry->path().filename().string().starts_with(start)) found.push_back(entry->path());
  }
  return found;
}

// The library of the Python package among `packages`, such as PREFIX/lib/python3.11/site-packages; null without it.
void* OpenAmong(const fs::path& packages) {
  for (const fs::path& library : Find(packages / "onnxruntime/capi", kSoname)) {
    if (void* handle = dlopen(library.c_str(), RTLD_NOW)) return handle;
  }
  return nullptr;
}

// This code is in PACKAGES/weir/_core.so or in PREFIX/bin/PROGRAM.
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
