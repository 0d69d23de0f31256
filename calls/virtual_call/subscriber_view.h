// The video and the layers that a subscriber of an SFU receives.
#ifndef WEIR_CALLS_VIRTUAL_CALL_SUBSCRIBER_VIEW_H_
#define WEIR_CALLS_VIRTUAL_CALL_SUBSCRIBER_VIEW_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <vector>

#include "core/sim_time.h"
#include "link/link.h"
#include "virtual_call/simulcast_publisher.h"
#include "virtual_call/viewing.h"
#include "weir/units.h"

namespace weir::sim {

// Measures one subscriber. Its record has, for each second of the scenario, the nominal rate of the forwarded layers
// and that of the best layers that fit: of all streams' layers in the order lowest layer first, each that fits with
// those before it into kFittingShare of the link's mean capacity of that second.
class SubscriberView {
 public:
  static constexpr double kFittingShare = 0.9;

  using Publishers = std::span<const std::unique_ptr<SimulcastPublisher>>;
  // `link` is that of the media. Everything must outlive this object.
  SubscriberView(Publishers publishers, const Link* link, SimTime start, SimTime end);

  // A decoded frame with its render time.
  void OnFrame(size_t stream, SimTime rendered_time, SimTime capture_time);
  // The forwarded layers, -1 for none; call when they may have changed.
  void OnLayers(std::span<const int> layers, SimTime now);
  // Call once, at the end.
  nlohmann::ordered_json Finish(SimTime now);

 private:
  void AddForwarded(SimTime until);
  DataRate FittingRate(double capacity_bps) const;

  const Publishers publishers_;
  const Link* const link_;
  const SimTime start_;
  const SimTime end_;
  std::vector<Viewing> viewings_;
  std::vector<double> delays_ms_;
  std::vector<SimTime> last_rendered_;
  std::vector<int> layers_;
  SimTime added_until_;
  // By second of the scenario.
  std::vector<double> forwarded_bits_;
  int64_t lowered_ = 0;
  int64_t raised_ = 0;
};

}  // namespace weir::sim

#endif  // WEIR_CALLS_VIRTUAL_CALL_SUBSCRIBER_VIEW_H_
