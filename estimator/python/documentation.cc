// Gives the classes, functions and properties of the module the docstrings of weir/_core.pyi, for help().
#include <cstdlib>
#include <cstring>
#include <string>

#include "conversions.h"

namespace weir::python {
namespace {

struct Entry {
  const char* name;  // "Model.load"
  const char* text;
};

constexpr Entry kEntries[] = {
#include "documentation.inc"
};

// Appends the text to the signature, which pybind11 has written.
void Append(const py::object& function, const char* text) {
  PyObject* callable = function.ptr();
  if (PyInstanceMethod_Check(callable)) callable = PyInstanceMethod_GET_FUNCTION(callable);
  if (!PyCFunction_Check(callable)) throw py::type_error("documentation of what is no function");
  PyMethodDef* const definition = reinterpret_cast<PyCFunctionObject*>(callable)->m_ml;
  const std::string documented = std::string(definition->ml_doc) + "\n" + text;
  // pybind11 allocates and releases this text with the functions of C.
  std::free(const_cast<char*>(definition->ml_doc));
  definition->ml_doc = strdup(documented.c_str());
}

}  // namespace

void AddDocumentation(py::module_& module) {
  const py::object property = py::module_::import("builtins").attr("property");
  for (const Entry& entry : kEntries) {
    const std::string name = entry.name;
    const size_t dot = name.find('.');
    const py::object owner = dot == std::string::npos ? py::object(module) : module.attr(name.substr(0, dot).c_str());
    const std::string member = dot == std::string::npos ? name : name.substr(dot + 1);
    const py::object documented = owner.attr(member.c_str());
    if (PyType_Check(documented.ptr())) {
      documented.attr("__doc__") = entry.text;
    } else if (py::isinstance(documented, property)) {
      owner.attr(member.c_str()) =
          property(documented.attr("fget"), documented.attr("fset"), documented.attr("fdel"), entry.text);
    } else {
      Append(documented, entry.text);
    }
  }
}

}  // namespace weir::python
