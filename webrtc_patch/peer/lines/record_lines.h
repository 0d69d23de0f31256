// libwebrtc's statistics and the estimator's decisions as this process writes them.
#ifndef WEIR_WEBRTC_PATCH_PEER_LINES_RECORD_LINES_H_
#define WEIR_WEBRTC_PATCH_PEER_LINES_RECORD_LINES_H_

#include <nlohmann/json.hpp>

#include "api/stats/rtc_stats_report.h"
#include "receive_side_switch.h"

namespace weir::peer {

// The list of getStats(), as a browser gives it: timestamps in milliseconds since 1970.
nlohmann::ordered_json StatsReport(const webrtc::RTCStatsReport& report);

// The line "estimate": of a receiver; of a sender that decides itself, with less in it.
nlohmann::ordered_json EstimateLine(const ReceiveSideDecision& decision);
nlohmann::ordered_json SenderEstimateLine(const Estimate& estimate);

}  // namespace weir::peer

#endif  // WEIR_WEBRTC_PATCH_PEER_LINES_RECORD_LINES_H_
