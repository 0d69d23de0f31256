// Selects the simulcast layers that an SFU forwards to one subscriber.
#ifndef WEIR_CALLS_VIRTUAL_CALL_DOWNLINK_ALLOCATOR_H_
#define WEIR_CALLS_VIRTUAL_CALL_DOWNLINK_ALLOCATOR_H_

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "virtual_call/simulcast_publisher.h"
#include "weir/send_side_estimator.h"
#include "weir/units.h"

namespace weir::sim {

// One publisher, for the allocator.
struct DownlinkStream {
  // Measured, as IP packets.
  std::array<DataRate, kSimulcastLayers> rates;
  // The layer that is forwarded now; -1: none.
  int forwarded = -1;
};

class DownlinkAllocator {
 public:
  virtual ~DownlinkAllocator() = default;

  // Returns the layer of each stream, -1 to pause. Called after feedback and every 25 ms at most.
  virtual std::vector<int> Allocate(DataRate target, std::span<const DownlinkStream> streams, Timestamp now) = 0;
  // The targets that would allow more, for the estimator.
  virtual DesiredRate desired_rate() const = 0;
};

// A LayerAllocator. The first stream may not pause.
std::unique_ptr<DownlinkAllocator> MakeWeirDownlinkAllocator();

// The rules of mediasoup's worker for consumers of equal priority, from its public source:
//
// 1. Layers are distributed each second, and at once when an update of the target is below 0.75 times, or above 1.5
//    times, the previous one.
// 2. From none, each stream in turn is given one more layer that fits into what the target leaves, until none fits.
//    There is neither a margin nor a wait.
// 3. A stream that was lowered, more than 8 s after it began, gains no layer above the forwarded one for 10 s.
// 4. The desired rate is the sum of the highest layers.
std::unique_ptr<DownlinkAllocator> MakeMediasoupDownlinkAllocator();

}  // namespace weir::sim

#endif  // WEIR_CALLS_VIRTUAL_CALL_DOWNLINK_ALLOCATOR_H_
