// What the trainer reads of the library's tables: the registry of features, and the numbers of the ten-line rule.
#ifndef WEIR_PYTHON_FEATURE_BINDING_H_
#define WEIR_PYTHON_FEATURE_BINDING_H_

#include <pybind11/pybind11.h>

namespace weir::python {

// Adds Feature, FEATURES, INTERVAL_STATISTICS_FIELDS and RULE to `module`.
void BindFeatures(pybind11::module_& module);

}  // namespace weir::python

#endif  // WEIR_PYTHON_FEATURE_BINDING_H_
