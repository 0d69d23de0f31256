#include "feedback_without_losses.h"

#include <utility>

#include "api/units/time_delta.h"
#include "api/units/timestamp.h"
#include "modules/rtp_rtcp/source/rtcp_packet/transport_feedback.h"

namespace weir::adapter {
namespace {

using webrtc::rtcp::TransportFeedback;

void AppendWithoutLosses(const TransportFeedback& feedback, FeedbackWithoutLosses::Messages& messages) {
  TransportFeedback* latest = nullptr;
  feedback.ForAllPackets([&](uint16_t sequence_number, webrtc::TimeDelta since_base) {
    if (!since_base.IsFinite()) {
      latest = nullptr;
      return;
    }
    const webrtc::Timestamp arrival_time = feedback.BaseTime() + since_base;
    if (latest && latest->AddReceivedPacket(sequence_number, arrival_time)) return;
    auto message = std::make_unique<TransportFeedback>();
    latest = message.get();
    latest->SetMediaSsrc(feedback.media_ssrc());
    latest->SetBase(sequence_number, arrival_time);
    latest->AddReceivedPacket(sequence_number, arrival_time);
    messages.push_back(std::move(message));
  });
}

}  // namespace

FeedbackWithoutLosses::Messages FeedbackWithoutLosses::Filter(Messages messages, bool omits_losses) {
  Messages filtered;
  for (auto& message : messages) {
    const auto& feedback = static_cast<const TransportFeedback&>(*message);
    if (omits_losses && feedback.IncludeTimestamps()) {
      AppendWithoutLosses(feedback, filtered);
    } else {
      filtered.push_back(std::move(message));
    }
  }
  for (const auto& message : filtered) {
    static_cast<TransportFeedback&>(*message).SetFeedbackSequenceNumber(next_number_++);
  }
  return filtered;
}

}  // namespace weir::adapter
