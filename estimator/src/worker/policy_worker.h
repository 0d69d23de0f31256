// The thread on which the decisions of many calls are computed, for hosts whose own must not wait for a model. Only who
// makes one has a thread; the rest of the library has none.
#ifndef WEIR_ESTIMATOR_SRC_WORKER_POLICY_WORKER_H_
#define WEIR_ESTIMATOR_SRC_WORKER_POLICY_WORKER_H_

#include "policy/policy_executor.h"

namespace weir {

// Starts a thread, where ProcessWorker() of weir/controllers.h shares one. Throws std::system_error when there is none.
// The executors of the result compute on it, in the order of their first question; those that wait when it becomes free
// are computed together, see Policy::Run(). An executor takes its newest question there: a policy that is slow misses
// some, and its recurrent state with it.
//
// No function of an executor waits or allocates, nor does its destructor wait, however long a decision takes. The
// thread ends after its decision when the result and all executors are gone; the executors may be on any threads.
PolicyExecutorFactory MakePolicyWorker();

}  // namespace weir

#endif  // WEIR_ESTIMATOR_SRC_WORKER_POLICY_WORKER_H_
