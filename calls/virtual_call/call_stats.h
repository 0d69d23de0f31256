// The W3C statistics of a virtual call, in its flow's record.
#ifndef WEIR_CALLS_VIRTUAL_CALL_CALL_STATS_H_
#define WEIR_CALLS_VIRTUAL_CALL_CALL_STATS_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "virtual_call/call_controller.h"

namespace weir::sim {

class CallStats {
 public:
  // Adopts the report of one peer, an array of webrtc-stats objects.
  void OnReport(CallEnd end, nlohmann::ordered_json report) {
    (end == CallEnd::kSender ? sender_ : receiver_) = std::move(report);
  }

  // Adds the counts of repair, and with `audio` the share of concealed audio. Counts without a report are 0.
  void AddTo(nlohmann::ordered_json& record, bool audio) const {
    record["retransmitted_packets_sent"] = Find(sender_, "outbound-rtp", "video", "retransmittedPacketsSent");
    record["nack_count"] = Find(receiver_, "inbound-rtp", "video", "nackCount");
    record["pli_count"] = Find(receiver_, "inbound-rtp", "video", "pliCount");
    const int64_t samples = Find(receiver_, "inbound-rtp", "audio", "totalSamplesReceived");
    if (!audio || samples == 0) return;
    const int64_t concealed = Find(receiver_, "inbound-rtp", "audio", "concealedSamples");
    record["rendered"] = {{"concealed_share", static_cast<double>(concealed) / static_cast<double>(samples)}};
  }

 private:
  static int64_t Find(const nlohmann::ordered_json& report, std::string_view type, std::string_view kind,
                      const char* field) {
    for (const nlohmann::ordered_json& entry : report) {
      if (entry["type"] == type && entry.value("kind", "") == kind) return entry.value(field, int64_t{0});
    }
    return 0;
  }

  nlohmann::ordered_json sender_;
  nlohmann::ordered_json receiver_;
};

}  // namespace weir::sim

#endif  // WEIR_CALLS_VIRTUAL_CALL_CALL_STATS_H_
