# Settings of every target: of the whole tree (../../CMakeLists.txt), or of the library alone (../CMakeLists.txt).
if(SKBUILD_STATE STREQUAL "wheel")
  if(NOT ONNXRUNTIME_ROOT AND EXISTS "${CMAKE_CURRENT_LIST_DIR}/../../docker/onnxruntime.sh")
    # A wheel is built by a Python of its own, which is gone afterwards: it has its own folder, made here and now.
    find_package(Python 3.11 COMPONENTS Interpreter REQUIRED)
    set(ONNXRUNTIME_ROOT "${PROJECT_BINARY_DIR}/onnxruntime")
    execute_process(
      COMMAND "${CMAKE_CURRENT_LIST_DIR}/../../docker/onnxruntime.sh" "${ONNXRUNTIME_ROOT}" "${Python_EXECUTABLE}"
      COMMAND_ERROR_IS_FATAL ANY)
  endif()
  if(ONNXRUNTIME_ROOT)
    set(WEIR_ONNXRUNTIME ON)
  endif()
endif()
set(WEIR_SANITIZE "" CACHE STRING "Sanitizers to build with, for example address,undefined")
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
# For clang-tidy and editors.
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
# The library goes into shared objects (the Python module), whatever else it goes into.
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CCACHE_PROGRAM}")
endif()

add_compile_options(-Wall -Wextra)
if(WEIR_SANITIZE)
  add_compile_options(-fsanitize=${WEIR_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${WEIR_SANITIZE})
  # gcc defines macros of its own for sanitizers, clang other ones.
  add_compile_definitions(WEIR_IS_SANITIZED)
endif()
