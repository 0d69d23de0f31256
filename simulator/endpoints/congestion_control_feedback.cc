#include "endpoints/congestion_control_feedback.h"

#include <algorithm>
#include <utility>

#include "endpoints/rtp_format.h"

namespace weir::sim {
namespace {

// The minimum time between reports, and the time from the first packet to its report unless a frame ends earlier.
constexpr int64_t kIntervalNs = 25'000'000;

// Converts to units of 1/1024 s, rounded down.
int64_t ArrivalTimeOffset(int64_t time_us) { return time_us * 1024 / 1'000'000; }

}  // namespace

void CongestionControlFeedbackGenerator::OnPacket(const Packet& packet, int64_t sequence_number,
                                                  int64_t arrival_time_ns) {
  if (!first_arrival_ns_) first_arrival_ns_ = arrival_time_ns;
  marker_seen_ |= packet.frame_part.last;
  streams_[static_cast<size_t>(StreamOf(packet.rtp.kind))].OnPacket(sequence_number, arrival_time_ns, packet.rtp.ecn,
                                                                    /*tick_us=*/1);
}

std::optional<CongestionControlFeedback> CongestionControlFeedbackGenerator::OnTimeout(int64_t now_ns) {
  std::optional<CongestionControlFeedback> feedback;
  if (NextReportNs(now_ns) <= now_ns) {
    feedback.emplace().report_time_us = now_ns / 1000;
    for (size_t i = 0; i < streams_.size(); ++i) {
      std::optional<TransportFeedback> news = streams_[i].Build(now_ns);
      if (!news) continue;
      for (int64_t& time_us : news->receive_times_us) {
        if (time_us == TransportFeedback::kNotReceived) continue;
        time_us = feedback->report_time_us - ArrivalTimeOffset(feedback->report_time_us - time_us) * 1'000'000 / 1024;
      }
      feedback->streams[i] = std::move(*news);
    }
    first_arrival_ns_.reset();
    marker_seen_ = false;
    next_allowed_ns_ = now_ns + kIntervalNs;
  }
  if (poll_time_ns_ <= now_ns) SetPollTime(now_ns);
  return feedback;
}

int64_t CongestionControlFeedbackGenerator::NextReportNs(int64_t now_ns) const {
  if (!first_arrival_ns_) return std::max(now_ns + kIntervalNs, next_allowed_ns_);
  return marker_seen_ ? next_allowed_ns_ : std::max(next_allowed_ns_, *first_arrival_ns_ + kIntervalNs);
}

}  // namespace weir::sim
