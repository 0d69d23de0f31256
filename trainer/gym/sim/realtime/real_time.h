// What a process needs that keeps to real time: a clock, and precedence over other processes.
#ifndef WEIR_TRAINER_GYM_SIM_REALTIME_REAL_TIME_H_
#define WEIR_TRAINER_GYM_SIM_REALTIME_REAL_TIME_H_

namespace weir::sim {

// The calling thread and those that it starts go before all ordinary ones, and nothing of the process is swapped out;
// both as far as this user may.
void PreferRealTime();

}  // namespace weir::sim

#endif  // WEIR_TRAINER_GYM_SIM_REALTIME_REAL_TIME_H_
