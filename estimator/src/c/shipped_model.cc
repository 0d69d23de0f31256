#include "c/shipped_model.h"

namespace weir::internal {
namespace {

constexpr unsigned char kShippedModel[] = {
#include "weir_model.h"
};

}  // namespace

std::span<const unsigned char> ShippedModel() { return kShippedModel; }

}  // namespace weir::internal
