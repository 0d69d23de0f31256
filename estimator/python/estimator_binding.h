// The estimator's part of the module: Estimate and BandwidthEstimator.
#ifndef WEIR_PYTHON_ESTIMATOR_BINDING_H_
#define WEIR_PYTHON_ESTIMATOR_BINDING_H_

#include <pybind11/pybind11.h>

namespace weir::python {

// Adds Estimate and BandwidthEstimator to `module`.
void BindEstimator(pybind11::module_& module);

}  // namespace weir::python

#endif  // WEIR_PYTHON_ESTIMATOR_BINDING_H_
