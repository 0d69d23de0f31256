// The time series of a result record.
#ifndef WEIR_SIMULATOR_RUN_SERIES_RECORD_H_
#define WEIR_SIMULATOR_RUN_SERIES_RECORD_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "core/event.h"
#include "core/sim_time.h"
#include "flows/flow_recorder.h"
#include "link/link.h"
#include "media/frame_recorder.h"
#include "media/playout_limits.h"
#include "scenario/scenario.h"

namespace weir::sim {

class LinkRecorder {
 public:
  // The link and this object must outlive the simulation's last event.
  LinkRecorder(const Link* link, SimDuration duration);

  // Call once, after the last event.
  void Finish();

  // Empty where the queue would never drain.
  const std::vector<std::optional<double>>& queueing_delays_ms() const { return queueing_delays_ms_; }

 private:
  void OnTimeout();
  void Sample();

  const Link* const link_;
  const SimDuration duration_;
  std::vector<std::optional<double>> queueing_delays_ms_;
  Timer<LinkRecorder, &LinkRecorder::OnTimeout> timer_;
};

// One value per step of kSeriesInterval. `is_rtp` adds the columns of RTP flows, such as target rates.
nlohmann::ordered_json FlowSeries(const FlowRecorder& recorder, SimDuration duration, bool is_rtp);

// Columns with one row per frame. Times are whole microseconds, which are exact enough and fast to print.
nlohmann::ordered_json FrameSeries(const FrameRecorder& recorder, const PlayoutLimits& limits, SimTime end);

// Capacity and queueing delay of the forward link.
nlohmann::ordered_json PathSeries(const Scenario& scenario, const LinkRecorder& recorder);

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_RUN_SERIES_RECORD_H_
