// Builds the output lines of statistics and estimates.
#ifndef WEIR_CALLS_PEER_RECORD_LINES_H_
#define WEIR_CALLS_PEER_RECORD_LINES_H_

#include <nlohmann/json.hpp>
#include <string_view>

#include "api/stats/rtc_stats_report.h"
#include "receive_side_switch.h"

namespace weir::peer {

// Converts a report of getStats() to a browser's format: timestamps in milliseconds since 1970.
nlohmann::ordered_json StatsReport(const webrtc::RTCStatsReport& report);

// Build the line "estimate" of a receiver, and that of a sender that runs Weir, which has fewer fields.
nlohmann::ordered_json EstimateLine(const ReceiveSideDecision& decision);
nlohmann::ordered_json SenderEstimateLine(std::string_view controller, const Estimate& estimate);

}  // namespace weir::peer

#endif  // WEIR_CALLS_PEER_RECORD_LINES_H_
