#include "endpoints/sent_packet_history.h"

#include <algorithm>

namespace weir::sim {
namespace {

// libwebrtc's window is 60 s; what has been reported on and is this old will not be asked for again.
constexpr TimeDelta kWindow = TimeDelta::Seconds(60);
constexpr TimeDelta kReportedWindow = TimeDelta::Seconds(5);

}  // namespace

void SentPacketHistory::OnSentPacket(SentPacket& packet) {
  Forget(packet.send_time);
  data_in_flight_ += packet.size;
  packet.data_in_flight = data_in_flight_;
  entries_.push_back({.packet = packet});
}

std::optional<TransportPacketsFeedback> SentPacketHistory::OnTransportFeedback(const TransportFeedback& feedback,
                                                                               Timestamp now) {
  TransportPacketsFeedback result;
  result.feedback_time = now;
  result.packet_feedbacks.reserve(feedback.receive_times_us.size());
  const int64_t end = first_sequence_number_ + static_cast<int64_t>(entries_.size());
  int64_t sequence_number = feedback.base_sequence_number;
  for (const int64_t receive_time_us : feedback.receive_times_us) {
    const int64_t current = sequence_number++;
    if (current < first_sequence_number_ || current >= end) continue;
    Entry& entry = entries_[static_cast<size_t>(current - first_sequence_number_)];
    if (entry.received) continue;
    PacketResult& packet = result.packet_feedbacks.emplace_back();
    packet.sent_packet = entry.packet;
    if (receive_time_us == TransportFeedback::kNotReceived) continue;
    entry.received = true;
    packet.receive_time = Timestamp::Micros(receive_time_us);
  }
  for (; next_in_flight_ < std::min(sequence_number, end); ++next_in_flight_) {
    Entry& entry = entries_[static_cast<size_t>(next_in_flight_ - first_sequence_number_)];
    if (entry.in_flight) data_in_flight_ -= entry.packet.size;
    entry.in_flight = false;
  }
  if (result.packet_feedbacks.empty()) return std::nullopt;
  result.data_in_flight = data_in_flight_;
  return result;
}

void SentPacketHistory::Forget(Timestamp now) {
  while (!entries_.empty()) {
    const Entry& front = entries_.front();
    if (now - front.packet.send_time < (front.in_flight ? kWindow : kReportedWindow)) break;
    if (front.in_flight) data_in_flight_ -= front.packet.size;
    entries_.pop_front();
    ++first_sequence_number_;
  }
  next_in_flight_ = std::max(next_in_flight_, first_sequence_number_);
}

}  // namespace weir::sim
