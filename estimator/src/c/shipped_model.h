// The shipped model, which the build embeds in the library (estimator/amalgamate.py).
#ifndef WEIR_ESTIMATOR_SRC_C_SHIPPED_MODEL_H_
#define WEIR_ESTIMATOR_SRC_C_SHIPPED_MODEL_H_

#include <span>

namespace weir::internal {

std::span<const unsigned char> ShippedModel();

}  // namespace weir::internal

#endif  // WEIR_ESTIMATOR_SRC_C_SHIPPED_MODEL_H_
