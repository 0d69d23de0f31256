#include "sender/feedback_delay.h"

#include <algorithm>

namespace weir {
namespace {

// Growth of the shortest delays with each message, so that a longer path is learned within seconds: of the return path,
// and of the forward path.
constexpr TimeDelta kReturnDelayGrowth = TimeDelta::Millis(1);
constexpr TimeDelta kForwardDelayGrowth = TimeDelta::Millis(3);
// The longest time between two packets of media.
constexpr TimeDelta kMaxArrivalGap = TimeDelta::Millis(50);
// Messages that arrive within this time were held up together. The first of them waited the longest, and the next ones
// will be as late.
constexpr TimeDelta kBatch = TimeDelta::Millis(10);
// A return path that repeatedly holds feedback for this time does not fill the forward path.
constexpr TimeDelta kShortestReturnStop = TimeDelta::Millis(100);
// Longer times without feedback are outages.
constexpr TimeDelta kLongestStop = TimeDelta::Seconds(2);
// Queue that the congestion window allows beyond the present delay of feedback. On a long path a full window stops the
// pacer for longer, and the packets that wait then leave in a burst, so it allows a third of that delay there. A link
// that stops holds more packets during a stop, but only those of 500 ms count: if the link does not recover as
// expected, they take seconds. Packets whose feedback was lost are in flight until the next message.
constexpr TimeDelta kMaxQueueTime = TimeDelta::Millis(50);
constexpr double kMaxQueueShare = 1.0 / 3;
constexpr TimeDelta kMaxStopTime = TimeDelta::Millis(500);
constexpr TimeDelta kMaxFeedbackDelay = TimeDelta::Seconds(5);
// One full packet, so that a link of 60 kbps has no standing queue.
constexpr DataSize kMinCongestionWindow = DataSize::Bytes(1500);
// Longest transmission time assumed for it: the rate may be lower only because of competing flows.
constexpr TimeDelta kMaxOwnDelay = TimeDelta::Millis(150);

}  // namespace

Timestamp FeedbackDelay::OnFeedback(Timestamp now, Timestamp latest_arrival) {
  return_delay_ = std::min(return_delay_ + kReturnDelayGrowth, now - latest_arrival);
  return std::min(now - return_delay_, latest_arrival + kMaxArrivalGap);
}

void FeedbackDelay::OnReceived(Timestamp now, Timestamp latest_arrival, const OldestPackets& oldest) {
  if (oldest.skipped > oldest.received && oldest.skipped - oldest.received <= kLongestStop)
    lost_feedback_.Add(now, oldest.skipped - oldest.received);
  const TimeDelta return_delay = now - latest_arrival;
  forward_delay_ = std::min(oldest.received - return_delay, forward_delay_ + kForwardDelayGrowth);
  if (now - batch_begins_ >= kBatch) {
    batch_begins_ = now;
    latest_return_delay_ = return_delay;
  }
  latest_return_delay_ = std::max(latest_return_delay_, return_delay);
  const TimeDelta stop = return_delay - return_delay_;
  if (stop >= kShortestReturnStop && stop <= kLongestStop) return_stops_.Add(now, stop);
}

void FeedbackDelay::OnOneWayDelay(Timestamp now, TimeDelta delay, DataRate rate) {
  persistent_delay_.Update(now, delay, std::min(kMinCongestionWindow / rate, kMaxOwnDelay));
}

DataSize FeedbackDelay::CongestionWindow(Timestamp now, DataRate rate, TimeDelta recurring_stop) const {
  if (!forward_delay_.IsFinite() || persistent_delay_.persists()) return DataSize::PlusInfinity();
  const TimeDelta stop = return_stops_.Length(now);
  const TimeDelta held = stop.IsZero() ? latest_return_delay_ : std::max(latest_return_delay_, return_delay_ + stop);
  const TimeDelta delay = std::clamp(forward_delay_ + held, TimeDelta::Zero(), kMaxFeedbackDelay);
  const TimeDelta queue = std::max(
      {kMaxQueueTime, delay * kMaxQueueShare, std::min(recurring_stop, kMaxStopTime), lost_feedback_.Length(now)});
  return std::max(rate * (delay + queue), kMinCongestionWindow);
}

}  // namespace weir
