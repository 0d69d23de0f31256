// In place of policy_worker.cc in the library as one file, where there are no threads (WebAssembly): the calling thread
// computes the models.
#include "weir/controllers.h"

namespace weir {

PolicyExecutorFactory ProcessWorker() { return nullptr; }

}  // namespace weir
