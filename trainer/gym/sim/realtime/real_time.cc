#include "realtime/real_time.h"

#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>

namespace weir::sim {

void PreferRealTime() {
  // The lowest of the real-time priorities suffices: ordinary threads all come after it.
  sched_param parameters{};
  parameters.sched_priority = sched_get_priority_min(SCHED_FIFO);
  pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameters);
  mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT);
}

}  // namespace weir::sim
