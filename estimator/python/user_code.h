// The user's Python code in one estimator: the objects that decide, and their exceptions.
#ifndef WEIR_PYTHON_USER_CODE_H_
#define WEIR_PYTHON_USER_CODE_H_

#include <pybind11/pybind11.h>

#include <cstddef>
#include <exception>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

namespace weir::python {

namespace py = pybind11;

// Runs the user's functions. An exception costs only one decision; the first is reported as unraisable. The
// estimator's method raises KeyboardInterrupt and SystemExit.
class UserCode {
 public:
  // One object of the user. The estimator owns all references, so that Python's garbage collector finds them: a
  // controller may refer to its own estimator.
  class Reference {
   public:
    Reference(std::shared_ptr<UserCode> code, py::object object)
        : code_(std::move(code)), index_(code_->objects_.size()) {
      code_->objects_.push_back(std::move(object));
    }
    ~Reference() { code_->objects_[index_] = py::object(); }
    Reference(const Reference&) = delete;
    Reference& operator=(const Reference&) = delete;

    // Null once the garbage collector has cleared the estimator.
    const py::object& get() const { return code_->objects_[index_]; }

   private:
    const std::shared_ptr<UserCode> code_;
    const size_t index_;
  };

  // Returns the result of `function`, which calls the user's code; `otherwise` if that raises. `what` names it in the
  // report.
  template <class Function, class Value>
  Value Call(const char* what, Function function, Value otherwise) {
    const bool outer = std::exchange(running_, true);
    try {
      Value value = function();
      running_ = outer;
      return value;
    } catch (py::error_already_set& error) {
      OnRaised(what, error);
    } catch (const py::cast_error&) {
      OnWrongType(what);
    }
    running_ = outer;
    return otherwise;
  }

  // Returns the result of `function`, which changes the estimator. Raises RuntimeError during a decision, because it
  // would replace or change the running controller. Raises KeyboardInterrupt or SystemExit if `function` caused one.
  template <class Function>
  auto Change(Function function) {
    if (running_) throw std::runtime_error("a controller cannot change its own estimator while it decides");
    if constexpr (std::is_void_v<decltype(function())>) {
      function();
      RaiseInterrupt();
    } else {
      auto value = function();
      RaiseInterrupt();
      return value;
    }
  }

  // Implement tp_traverse and tp_clear of Python types.
  int Traverse(visitproc visit, void* argument) const;
  void Clear();

 private:
  void OnRaised(const char* what, py::error_already_set& error);
  void OnWrongType(const char* what);
  void RaiseInterrupt() {
    if (interrupt_) std::rethrow_exception(std::exchange(interrupt_, nullptr));
  }

  std::vector<py::object> objects_;
  std::exception_ptr interrupt_;
  bool running_ = false;
  bool reported_ = false;
};

// Makes the type's objects take part in garbage collection through their member `user_code`, a
// std::shared_ptr<UserCode>.
template <class Estimator>
void CollectGarbageOf(PyHeapTypeObject* heap_type) {
  PyTypeObject& type = heap_type->ht_type;
  type.tp_flags |= Py_TPFLAGS_HAVE_GC;
  type.tp_traverse = [](PyObject* self, visitproc visit, void* arg) -> int {
    Py_VISIT(Py_TYPE(self));
    if (!py::detail::is_holder_constructed(self)) return 0;
    return py::cast<Estimator&>(py::handle(self)).user_code->Traverse(visit, arg);
  };
  type.tp_clear = [](PyObject* self) -> int {
    if (py::detail::is_holder_constructed(self)) py::cast<Estimator&>(py::handle(self)).user_code->Clear();
    return 0;
  };
}

}  // namespace weir::python

#endif  // WEIR_PYTHON_USER_CODE_H_
