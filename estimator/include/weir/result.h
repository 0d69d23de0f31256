// A value or an error: the result of a function that can fail because of its input.
#ifndef WEIR_RESULT_H_
#define WEIR_RESULT_H_

#include <string>
#include <utility>
#include <variant>

namespace weir {

// A sentence for the user, without a full stop: the failure, its location and how to fix it.
struct Error {
  std::string message;
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : content_(std::in_place_index<0>, std::move(value)) {}      // NOLINT: converts on purpose
  Result(Error error) : content_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: converts on purpose

  bool ok() const { return content_.index() == 0; }
  explicit operator bool() const { return ok(); }

  // Requires ok().
  T& value() { return *std::get_if<0>(&content_); }
  const T& value() const { return *std::get_if<0>(&content_); }
  const std::string& error() const { return std::get_if<1>(&content_)->message; }  // only when not ok()

 private:
  std::variant<T, Error> content_;
};

}  // namespace weir

#endif  // WEIR_RESULT_H_
