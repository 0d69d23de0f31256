// What Python reads of the registry: rate controllers, kinds of flows, presets of the objective.
#ifndef WEIR_PYTHON_REGISTRY_BINDING_H_
#define WEIR_PYTHON_REGISTRY_BINDING_H_

#include <pybind11/pybind11.h>

namespace weir::python {

void BindRegistry(pybind11::module_& module);

}  // namespace weir::python

#endif  // WEIR_PYTHON_REGISTRY_BINDING_H_
