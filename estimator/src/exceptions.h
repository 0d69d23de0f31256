// Exceptions at the boundaries of the library. It is also compiled with -fno-exceptions: only a failed allocation could
// then throw, and it ends the process.
#ifndef WEIR_ESTIMATOR_SRC_EXCEPTIONS_H_
#define WEIR_ESTIMATOR_SRC_EXCEPTIONS_H_

#include <exception>
#include <new>

namespace weir::internal {

// `what` is valid only during the call that receives it.
struct CaughtException {
  bool out_of_memory = false;
  const char* what = "an exception of unknown type";
};

// Returns the result of `function`, or of `failed` for an exception that `function` threw.
template <class Function, class Failed>
auto WithoutExceptions(Function function, [[maybe_unused]] Failed failed) -> decltype(function()) {
#if defined(__cpp_exceptions)
  try {
    return function();
  } catch (const std::bad_alloc& exception) {
    return failed(CaughtException{.out_of_memory = true, .what = exception.what()});
  } catch (const std::exception& exception) {
    return failed(CaughtException{.what = exception.what()});
  } catch (...) {
    return failed(CaughtException{});
  }
#else
  return function();
#endif
}

}  // namespace weir::internal

#endif  // WEIR_ESTIMATOR_SRC_EXCEPTIONS_H_
