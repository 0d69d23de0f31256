// In place of policy_worker.cc in the library as one file, where there are no threads (WebAssembly): the calling thread
// computes the models.
#include <memory>
#include <utility>

#include "weir/controllers.h"

namespace weir {

std::unique_ptr<ReceiverController> MakeWorkerPolicyController(std::shared_ptr<const PolicyModel> model) {
  return MakePolicyController(std::move(model));
}

}  // namespace weir
