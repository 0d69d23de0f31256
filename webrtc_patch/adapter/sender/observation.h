// The record of a connection on which Weir runs beside another network controller, as lines of JSON that `weir report`
// reads (logs/event_log/README.md). The host writes the lines to a file NAME.observed.jsonl.
#ifndef WEIR_WEBRTC_PATCH_ADAPTER_SENDER_OBSERVATION_H_
#define WEIR_WEBRTC_PATCH_ADAPTER_SENDER_OBSERVATION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "weir/bandwidth_estimator.h"
#include "weir/units.h"

namespace weir {

// One second of a connection.
struct Observation {
  Timestamp at_time = Timestamp::MinusInfinity();  // libwebrtc's clock
  bool weir_is_in_charge = false;
  // The targets of both; absent before the other controller has one.
  std::optional<DataRate> other_target;
  EstimatorStatistics weir;
};

// True for a share, 0 to 1, of the connections: those whose identifier has a SHA-256 with its first 64 bits, as a
// fraction of 2^64, below `share`. The plug-ins choose the same, if the identifier is UTF-8, has at most 256 bytes
// and neither begins nor ends with a space.
bool IsInShare(std::string_view connection, double share);

// The lines, without a line break. `begin`, on the clock of the times that follow, comes with the first line. `other`
// names the other controller, such as "gcc".
std::string FirstLine(Timestamp begin, std::string_view connection, std::string_view host, std::string_view other);
std::string ObservationLine(const Observation& observation, std::string_view other);
// The receiver's getStats since the call began: freezeCount and totalFreezesDuration of its video.
std::string ViewerLine(Timestamp at_time, int64_t freezes, TimeDelta frozen);

}  // namespace weir

#endif  // WEIR_WEBRTC_PATCH_ADAPTER_SENDER_OBSERVATION_H_
