#include "user_code.h"

namespace weir::python {

int UserCode::Traverse(visitproc visit, void* arg) const {
  for (const py::object& object : objects_) Py_VISIT(object.ptr());
  return 0;
}

void UserCode::Clear() {
  // Releasing an object may run the user's code, which may call Clear() again.
  std::vector<py::object> objects(objects_.size());
  objects.swap(objects_);
}

void UserCode::OnRaised(const char* what, py::error_already_set& error) {
  if (!error.matches(PyExc_Exception)) {
    interrupt_ = std::current_exception();
  } else if (!std::exchange(reported_, true)) {
    error.discard_as_unraisable(what);
  }
}

void UserCode::OnWrongType(const char* what) {
  if (std::exchange(reported_, true)) return;
  PyErr_SetString(PyExc_TypeError, "a value of the wrong type was returned");
  PyErr_WriteUnraisable(py::str(what).ptr());
}

}  // namespace weir::python
