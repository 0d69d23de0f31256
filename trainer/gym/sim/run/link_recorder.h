// What `run` keeps of a link: the queueing delay at the end of each step of the series.
#ifndef WEIR_TRAINER_GYM_SIM_RUN_LINK_RECORDER_H_
#define WEIR_TRAINER_GYM_SIM_RUN_LINK_RECORDER_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "core/timer.h"
#include "link/link.h"

namespace weir::sim {

class LinkRecorder {
 public:
  // Both outlive the simulation's last event.
  LinkRecorder(const Link* link, int64_t duration_ns);

  // Call once, after the last event.
  void Finish();

  // Nothing where the queue would never empty.
  const std::vector<std::optional<double>>& queueing_delays_ms() const { return queueing_delays_ms_; }

 private:
  void OnTimeout();
  void Sample();

  const Link* const link_;
  const int64_t duration_ns_;
  std::vector<std::optional<double>> queueing_delays_ms_;
  Timer<LinkRecorder, &LinkRecorder::OnTimeout> timer_;
};

}  // namespace weir::sim

#endif  // WEIR_TRAINER_GYM_SIM_RUN_LINK_RECORDER_H_
