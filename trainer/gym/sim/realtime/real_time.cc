#include "realtime/real_time.h"

#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>

#include <ctime>

namespace weir::sim {

int64_t MonotonicNs() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

void PreferRealTime() {
  // The lowest of the real-time priorities suffices: ordinary threads all come after it.
  sched_param parameters{};
  parameters.sched_priority = sched_get_priority_min(SCHED_FIFO);
  pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameters);
  mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT);
}

}  // namespace weir::sim
