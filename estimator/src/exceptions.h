// Exceptions at the borders of the library, which is compiled without them too (-fno-exceptions): there only a failed
// allocation could begin one, and ends the process.
#ifndef WEIR_ESTIMATOR_SRC_EXCEPTIONS_H_
#define WEIR_ESTIMATOR_SRC_EXCEPTIONS_H_

#include <exception>
#include <new>

namespace weir::internal {

// `what` is valid during the call that receives it.
struct CaughtException {
  bool out_of_memory = false;
  const char* what = "an exception of unknown type";
};

// The result of `function`; that of `failed` for the exception that left it.
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
