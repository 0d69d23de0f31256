// The W3C statistics of a virtual call, in its flow's record.
#ifndef WEIR_CALLS_VIRTUAL_CALL_CALL_STATS_H_
#define WEIR_CALLS_VIRTUAL_CALL_CALL_STATS_H_

#include <algorithm>
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
    if (end == CallEnd::kReceiver) MeasureLipSync();
  }

  // Adds for how long audio is played before the video of the same time, and after it, as means over the reports; only
  // if there was more than one, as in a call with a playout delay.
  void AddLipSync(nlohmann::ordered_json& record) const {
    if (reports_ < 2) return;
    record["rendered"]["audio_ahead_ms"] = audio_ahead_ms_ / reports_;
    record["rendered"]["audio_behind_ms"] = audio_behind_ms_ / reports_;
  }

  // Adds the counts of repair, and with `audio` the share of concealed audio. Counts without a report are 0.
  void AddTo(nlohmann::ordered_json& record, bool audio) const {
    record["retransmitted_packets_sent"] = Find(sender_, "outbound-rtp", "video", "retransmittedPacketsSent");
    record["nack_count"] = Find(receiver_, "inbound-rtp", "video", "nackCount");
    record["pli_count"] = Find(receiver_, "inbound-rtp", "video", "pliCount");
    const int64_t samples = Find(receiver_, "inbound-rtp", "audio", "totalSamplesReceived");
    if (!audio || samples == 0) return;
    const int64_t concealed = Find(receiver_, "inbound-rtp", "audio", "concealedSamples");
    record["rendered"]["concealed_share"] = static_cast<double>(concealed) / static_cast<double>(samples);
  }

 private:
  template <class Number = int64_t>
  static Number Find(const nlohmann::ordered_json& report, std::string_view type, std::string_view kind,
                     const char* field) {
    for (const nlohmann::ordered_json& entry : report) {
      if (entry["type"] == type && entry.value("kind", "") == kind) return entry.value(field, Number{0});
    }
    return 0;
  }

  // W3C's estimatedPlayoutTimestamp is known after the first sender reports.
  void MeasureLipSync() {
    const auto played_ms = [this](std::string_view kind) {
      return Find<double>(receiver_, "inbound-rtp", kind, "estimatedPlayoutTimestamp");
    };
    const double audio_ms = played_ms("audio"), video_ms = played_ms("video");
    if (audio_ms == 0 || video_ms == 0) return;
    audio_ahead_ms_ += std::max(audio_ms - video_ms, 0.0);
    audio_behind_ms_ += std::max(video_ms - audio_ms, 0.0);
    ++reports_;
  }

  // Sums over the reports with playout times.
  double audio_ahead_ms_ = 0;
  double audio_behind_ms_ = 0;
  int reports_ = 0;
  nlohmann::ordered_json sender_;
  nlohmann::ordered_json receiver_;
};

}  // namespace weir::sim

#endif  // WEIR_CALLS_VIRTUAL_CALL_CALL_STATS_H_
