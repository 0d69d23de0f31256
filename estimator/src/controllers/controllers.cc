#include "weir/controllers.h"

#include "registry.h"
#include "weir/names.h"

namespace weir {

std::unique_ptr<ReceiverController> MakeBuiltInController(std::string_view name, DataRate fixed_rate) {
  const RegisteredController* const row = FindRow(kBuiltInControllers, name);
  return row ? row->make(fixed_rate) : nullptr;
}

}  // namespace weir
