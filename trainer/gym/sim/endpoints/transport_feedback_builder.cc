#include "endpoints/transport_feedback_builder.h"

#include <algorithm>

namespace weir::sim {
namespace {

constexpr int64_t kTickUs = 250;
// libwebrtc: a packet this much older than what has been reported is not reported any more.
constexpr int64_t kBackWindowUs = 500'000;

}  // namespace

void TransportFeedbackBuilder::OnPacket(int64_t sequence_number, int64_t arrival_time_ns) {
  if (sequence_number < first_sequence_number_) return;
  const size_t index = static_cast<size_t>(sequence_number - first_sequence_number_);
  if (index >= entries_.size()) entries_.resize(index + 1);
  if (entries_[index].receive_time_us != TransportFeedback::kNotReceived) return;
  entries_[index].receive_time_us = arrival_time_ns / 1000 / kTickUs * kTickUs;
  next_to_report_ = std::min(next_to_report_, sequence_number);
  news_ = true;
}

std::optional<TransportFeedback> TransportFeedbackBuilder::Build(int64_t now_ns) {
  if (!news_) return std::nullopt;
  news_ = false;
  const int64_t now_us = now_ns / 1000;
  TransportFeedback feedback;
  feedback.base_sequence_number = next_to_report_;
  feedback.receive_times_us.reserve(entries_.size());
  for (size_t i = static_cast<size_t>(next_to_report_ - first_sequence_number_); i < entries_.size(); ++i) {
    feedback.receive_times_us.push_back(entries_[i].receive_time_us);
    if (entries_[i].reported_us == 0) entries_[i].reported_us = now_us;
  }
  next_to_report_ = first_sequence_number_ + static_cast<int64_t>(entries_.size());
  while (!entries_.empty() && entries_.front().reported_us < now_us - kBackWindowUs) {
    entries_.pop_front();
    ++first_sequence_number_;
  }
  return feedback;
}

}  // namespace weir::sim
