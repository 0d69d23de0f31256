// Replaces policy_worker.cc in the amalgamation on platforms without threads (WebAssembly): the calling thread computes
// the models.
#include "weir/controllers.h"

namespace weir {

PolicyExecutorFactory ProcessWorker() { return nullptr; }

}  // namespace weir
