// libFuzzer's entry, for the body that WEIR_FUZZ_TARGET names.
#include <cstddef>
#include <cstdint>

#include "fuzz_targets.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  weir::fuzz::WEIR_FUZZ_TARGET({data, size});
  return 0;
}
