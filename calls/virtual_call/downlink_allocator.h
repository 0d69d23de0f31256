// Selects the simulcast layers that an SFU forwards to one subscriber.
#ifndef WEIR_CALLS_VIRTUAL_CALL_DOWNLINK_ALLOCATOR_H_
#define WEIR_CALLS_VIRTUAL_CALL_DOWNLINK_ALLOCATOR_H_

#include <array>
#include <cstdint>
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
  // Packets of media so far, and retransmissions so far of packets that had been retransmitted before.
  int64_t packets = 0;
  int64_t repeated_retransmissions = 0;
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

// The rules of LiveKit's stream allocator with its default configuration, from its public source. The targets take the
// place of the subscriber's REMB, and are reported as often:
//
// 1. At first each stream has its highest layer.
// 2. When reports fall (Kendall's tau below -0.6 of twelve, or of eight in five seconds) and the latest is at most 0.95
//    times the forwarded rate, that report is committed, and so is, when more than 8 % of the packets of two seconds
//    were retransmitted more than once, the forwarded rate less 0.4 times that share, if it is lower: one layer after
//    the other, each stream in turn is given the layer that fits into what is left of it. No stream is paused.
// 3. While a stream lacks layers and nothing falls, a probe of 1.2 times what the next layer of the stream with the
//    fewest layers costs, at least 200 kbps, follows 3 s after the last one. A probe in which three reports fall
//    congests, and then the interval grows by half, up to 120 s. After one that does not, streams gain the layers that
//    fit into its highest report. Probes take 200 ms, and longer by half after each that does not congest.
// 4. When no stream lacks a layer, all is as at first.
//
// Left out: streams that change, temporal layers.
std::unique_ptr<DownlinkAllocator> MakeLivekitDownlinkAllocator();

}  // namespace weir::sim

#endif  // WEIR_CALLS_VIRTUAL_CALL_DOWNLINK_ALLOCATOR_H_
