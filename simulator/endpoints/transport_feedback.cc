#include "endpoints/transport_feedback.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace weir::sim {
namespace {

// libwebrtc keeps packets for 60 s. Packets that have been reported on are no longer needed after kReportedWindow.
constexpr TimeDelta kWindow = TimeDelta::Seconds(60);
constexpr TimeDelta kReportedWindow = TimeDelta::Seconds(5);

}  // namespace

void SentPacketHistory::OnSentPacket(SentPacket& packet, int stream) {
  Forget(packet.send_time);
  data_in_flight_ += packet.size;
  packet.data_in_flight = data_in_flight_;
  entries_.push_back({.packet = packet, .stream = stream});
  streams_[static_cast<size_t>(stream)].packets.push_back(packet.sequence_number);
}

std::optional<TransportPacketsFeedback> SentPacketHistory::OnTransportFeedback(const TransportFeedback& feedback,
                                                                               Timestamp now) {
  std::vector<PacketResult> results;
  results.reserve(feedback.receive_times_us.size());
  int64_t sequence_number = feedback.base_sequence_number;
  for (const int64_t receive_time_us : feedback.receive_times_us) {
    Entry* const entry = Find(sequence_number++);
    if (entry == nullptr || entry->received) continue;
    PacketResult& packet = results.emplace_back();
    packet.sent_packet = entry->packet;
    if (receive_time_us == TransportFeedback::kNotReceived) continue;
    entry->received = true;
    packet.receive_time = Timestamp::Micros(receive_time_us);
  }
  return Finish(std::move(results), sequence_number, now);
}

std::optional<TransportPacketsFeedback> SentPacketHistory::OnCongestionControlFeedback(
    const CongestionControlFeedback& feedback, Timestamp now) {
  std::vector<PacketResult> results;
  int64_t begin = std::numeric_limits<int64_t>::max(), end = 0;
  for (size_t i = 0; i < streams_.size(); ++i) {
    const TransportFeedback& reports = feedback.streams[i];
    for (size_t k = 0; k < reports.receive_times_us.size(); ++k) {
      const int64_t receive_time_us = reports.receive_times_us[k];
      const int64_t current = reports.base_sequence_number - streams_[i].first + static_cast<int64_t>(k);
      if (current < 0 || current >= static_cast<int64_t>(streams_[i].packets.size())) continue;
      Entry& entry = *Find(streams_[i].packets[static_cast<size_t>(current)]);
      if (entry.received) continue;
      begin = std::min(begin, entry.packet.sequence_number);
      end = std::max(end, entry.packet.sequence_number + 1);
      PacketResult& packet = results.emplace_back();
      packet.sent_packet = entry.packet;
      entry.received = receive_time_us != TransportFeedback::kNotReceived;
      packet.reported_recovered_for_the_first_time = entry.received && entry.reported_lost;
      packet.reported_lost_for_the_first_time = !entry.received && !entry.reported_lost;
      entry.reported_lost = !entry.received;
      if (!entry.received) continue;
      packet.receive_time = Timestamp::Micros(receive_time_us);
      packet.arrival_time_offset = TimeDelta::Micros(feedback.report_time_us - receive_time_us);
      if (!reports.ecn.empty()) packet.ecn = reports.ecn[k];
    }
  }
  for (int64_t sequence_number = begin; sequence_number < end; ++sequence_number) {
    Entry& entry = *Find(sequence_number);
    if (entry.received || entry.reported_lost) continue;
    entry.reported_lost = true;
    results.push_back({.sent_packet = entry.packet, .reported_lost_for_the_first_time = true});
  }
  std::ranges::sort(results, {}, [](const PacketResult& result) { return result.sent_packet.sequence_number; });
  return Finish(std::move(results), end, now);
}

std::optional<TransportPacketsFeedback> SentPacketHistory::Finish(std::vector<PacketResult> results, int64_t end,
                                                                  Timestamp now) {
  end = std::min(end, first_sequence_number_ + static_cast<int64_t>(entries_.size()));
  for (; next_in_flight_ < end; ++next_in_flight_) {
    Entry& entry = *Find(next_in_flight_);
    if (entry.in_flight) data_in_flight_ -= entry.packet.size;
    entry.in_flight = false;
  }
  if (results.empty()) return std::nullopt;
  return TransportPacketsFeedback{
      .feedback_time = now, .data_in_flight = data_in_flight_, .packet_feedbacks = std::move(results)};
}

SentPacketHistory::Entry* SentPacketHistory::Find(int64_t sequence_number) {
  const int64_t place = sequence_number - first_sequence_number_;
  return place < 0 || place >= static_cast<int64_t>(entries_.size()) ? nullptr : &entries_[static_cast<size_t>(place)];
}

void SentPacketHistory::Forget(Timestamp now) {
  while (!entries_.empty()) {
    const Entry& front = entries_.front();
    if (now - front.packet.send_time < (front.in_flight ? kWindow : kReportedWindow)) break;
    if (front.in_flight) data_in_flight_ -= front.packet.size;
    Stream& stream = streams_[static_cast<size_t>(front.stream)];
    stream.packets.pop_front();
    ++stream.first;
    entries_.pop_front();
    ++first_sequence_number_;
  }
  next_in_flight_ = std::max(next_in_flight_, first_sequence_number_);
}

namespace {

// libwebrtc: packets first reported this long ago, and all before them, are not reported again.
constexpr int64_t kBackWindowUs = 500'000;

}  // namespace

void TransportFeedbackBuilder::OnPacket(int64_t sequence_number, SimTime arrival_time, EcnMarking ecn,
                                        int64_t tick_us) {
  if (sequence_number < first_sequence_number_) return;
  const size_t index = static_cast<size_t>(sequence_number - first_sequence_number_);
  if (index >= entries_.size()) entries_.resize(index + 1);
  if (entries_[index].receive_time_us != TransportFeedback::kNotReceived) return;
  entries_[index].receive_time_us = arrival_time.us() / tick_us * tick_us;
  entries_[index].ecn = ecn;
  next_to_report_ = std::min(next_to_report_, sequence_number);
  news_ = true;
}

std::optional<TransportFeedback> TransportFeedbackBuilder::Build(SimTime now) {
  if (!news_) return std::nullopt;
  news_ = false;
  const int64_t now_us = now.us();
  TransportFeedback feedback;
  feedback.base_sequence_number = next_to_report_;
  feedback.receive_times_us.reserve(entries_.size());
  feedback.ecn.reserve(entries_.size());
  for (size_t i = static_cast<size_t>(next_to_report_ - first_sequence_number_); i < entries_.size(); ++i) {
    feedback.receive_times_us.push_back(entries_[i].receive_time_us);
    feedback.ecn.push_back(entries_[i].ecn);
    if (entries_[i].reported_us == 0) entries_[i].reported_us = now_us;
  }
  next_to_report_ = first_sequence_number_ + static_cast<int64_t>(entries_.size());
  while (!entries_.empty() && entries_.front().reported_us < now_us - kBackWindowUs) {
    entries_.pop_front();
    ++first_sequence_number_;
  }
  return feedback;
}

std::vector<TransportFeedback> WithoutLosses(const TransportFeedback& feedback) {
  std::vector<TransportFeedback> messages;
  bool after_loss = true;
  for (size_t i = 0; i < feedback.receive_times_us.size(); ++i) {
    const bool lost = feedback.receive_times_us[i] == TransportFeedback::kNotReceived;
    if (!lost && after_loss)
      messages.push_back({feedback.base_sequence_number + static_cast<int64_t>(i), /*receive_times_us=*/{}});
    if (!lost) messages.back().receive_times_us.push_back(feedback.receive_times_us[i]);
    after_loss = lost;
  }
  return messages;
}

std::optional<TransportLossReport> LossReports::OnReceiverReport(const ReceiverReport& report, Timestamp now) {
  int64_t expected = 0;
  int64_t lost = 0;
  for (size_t i = 0; i < last_blocks_.size(); ++i) {
    if (!report.blocks[i]) continue;
    ReportBlock& last = last_blocks_[i];
    expected += report.blocks[i]->extended_highest_sequence_number - last.extended_highest_sequence_number;
    lost += report.blocks[i]->cumulative_packets_lost - last.cumulative_packets_lost;
    last = *report.blocks[i];
  }
  if (expected == 0) return std::nullopt;
  const Timestamp start = std::exchange(last_report_, now);
  if (expected - lost < 1) return std::nullopt;
  return TransportLossReport{.receive_time = now,
                             .start_time = start,
                             .end_time = now,
                             .packets_lost_delta = lost,
                             .packets_received_delta = expected - lost};
}

}  // namespace weir::sim
