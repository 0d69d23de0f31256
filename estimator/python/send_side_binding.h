// weir.SendSideEstimator: the C++ class as Python sees it.
#ifndef WEIR_PYTHON_SEND_SIDE_BINDING_H_
#define WEIR_PYTHON_SEND_SIDE_BINDING_H_

#include <pybind11/pybind11.h>

namespace weir::python {

// Adds SendSideEstimator to `module`.
void BindSendSide(pybind11::module_& module);

}  // namespace weir::python

#endif  // WEIR_PYTHON_SEND_SIDE_BINDING_H_
