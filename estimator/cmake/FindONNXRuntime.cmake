# Finds the ONNX Runtime C API in the folder ONNXRUNTIME_ROOT (include/onnxruntime_c_api.h and lib/libonnxruntime.so),
# else in the system.
# Defines the imported target onnxruntime::onnxruntime and ONNXRuntime_API_VERSION, the version of the headers.
find_path(ONNXRuntime_INCLUDE_DIR onnxruntime_c_api.h HINTS "${ONNXRUNTIME_ROOT}/include" PATH_SUFFIXES onnxruntime)
find_library(ONNXRuntime_LIBRARY onnxruntime HINTS "${ONNXRUNTIME_ROOT}/lib")
mark_as_advanced(ONNXRuntime_INCLUDE_DIR ONNXRuntime_LIBRARY)

if(ONNXRuntime_INCLUDE_DIR)
  file(STRINGS "${ONNXRuntime_INCLUDE_DIR}/onnxruntime_c_api.h" _version_line REGEX "^#define ORT_API_VERSION [0-9]+")
  string(REGEX MATCH "[0-9]+" ONNXRuntime_API_VERSION "${_version_line}")
  unset(_version_line)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  ONNXRuntime
  REQUIRED_VARS ONNXRuntime_LIBRARY ONNXRuntime_INCLUDE_DIR
  REASON_FAILURE_MESSAGE
    "run docker/onnxruntime.sh build/onnxruntime PYTHON, or set ONNXRUNTIME_ROOT to a folder with include/onnxruntime_c_api.h and lib/libonnxruntime.so")

if(ONNXRuntime_FOUND AND NOT TARGET onnxruntime::onnxruntime)
  # The linker records the SONAME; the library's folder becomes the run path of build trees.
  add_library(onnxruntime::onnxruntime UNKNOWN IMPORTED)
  set_target_properties(onnxruntime::onnxruntime PROPERTIES IMPORTED_LOCATION "${ONNXRuntime_LIBRARY}"
                                                            INTERFACE_INCLUDE_DIRECTORIES "${ONNXRuntime_INCLUDE_DIR}")
endif()
