#include "endpoints/congestion_control_feedback.h"

#include <algorithm>
#include <utility>

#include "endpoints/rtp_format.h"

namespace weir::sim {
namespace {

// The minimum time between reports, and the time from the first packet to its report unless a frame ends earlier.
constexpr SimDuration kInterval = SimDuration::Millis(25);

// Converts to units of 1/1024 s, rounded down.
int64_t ArrivalTimeOffset(int64_t time_us) { return time_us * 1024 / 1'000'000; }

}  // namespace

void CongestionControlFeedbackGenerator::OnPacket(const Packet& packet, int64_t sequence_number, SimTime arrival_time) {
  if (!first_arrival_) first_arrival_ = arrival_time;
  marker_seen_ |= packet.frame_part.last;
  streams_[static_cast<size_t>(StreamOf(packet.rtp.kind))].OnPacket(sequence_number, arrival_time, packet.rtp.ecn,
                                                                    /*tick_us=*/1);
}

std::optional<CongestionControlFeedback> CongestionControlFeedbackGenerator::OnTimeout(SimTime now) {
  std::optional<CongestionControlFeedback> feedback;
  if (NextReport(now) <= now) {
    feedback.emplace().report_time_us = now.us();
    for (size_t i = 0; i < streams_.size(); ++i) {
      std::optional<TransportFeedback> news = streams_[i].Build(now);
      if (!news) continue;
      for (int64_t& time_us : news->receive_times_us) {
        if (time_us == TransportFeedback::kNotReceived) continue;
        time_us = feedback->report_time_us - ArrivalTimeOffset(feedback->report_time_us - time_us) * 1'000'000 / 1024;
      }
      feedback->streams[i] = std::move(*news);
    }
    first_arrival_.reset();
    marker_seen_ = false;
    next_allowed_ = now + kInterval;
  }
  if (poll_time_ <= now) SetPollTime(now);
  return feedback;
}

SimTime CongestionControlFeedbackGenerator::NextReport(SimTime now) const {
  if (!first_arrival_) return std::max(now + kInterval, next_allowed_);
  return marker_seen_ ? next_allowed_ : std::max(next_allowed_, *first_arrival_ + kInterval);
}

}  // namespace weir::sim
