#include "sender/feedback_delay.h"

#include <algorithm>

namespace weir {
namespace {

// With each message, so that a longer path is learnt within seconds: of the return path, and of both.
constexpr TimeDelta kReturnDelayGrowth = TimeDelta::Millis(1);
constexpr TimeDelta kForwardDelayGrowth = TimeDelta::Millis(3);
// The longest time between two packets of media.
constexpr TimeDelta kMaxArrivalGap = TimeDelta::Millis(50);
// Messages that come together were held up together: the first of them waited for the longest, and the next ones will
// come as late.
constexpr TimeDelta kBatch = TimeDelta::Millis(10);
// A return path that holds feedback again and again for so long does not fill the one of the media.
constexpr TimeDelta kShortestReturnStop = TimeDelta::Millis(100);
constexpr TimeDelta kLongestReturnStop = TimeDelta::Seconds(2);
// In the congestion window, beyond what feedback takes at present: the longest queue that a pacer adds to. On a long
// path a full window stops the pacer for the longer, and what waits meanwhile leaves in a burst: so it is a third of
// that time there. A link that stops holds more meanwhile.
constexpr TimeDelta kMaxQueueTime = TimeDelta::Millis(50);
constexpr double kMaxQueueShare = 1.0 / 3;
constexpr TimeDelta kMaxFeedbackDelay = TimeDelta::Seconds(5);
// A full packet, so that a link of 60 kbps has no standing queue.
constexpr DataSize kMinCongestionWindow = DataSize::Bytes(1500);
// The longest that it takes on a link: a rate may be lower because others leave no more.
constexpr TimeDelta kMaxOwnDelay = TimeDelta::Millis(150);

}  // namespace

Timestamp FeedbackDelay::OnFeedback(Timestamp now, Timestamp latest_arrival) {
  return_delay_ = std::min(return_delay_ + kReturnDelayGrowth, now - latest_arrival);
  return std::min(now - return_delay_, latest_arrival + kMaxArrivalGap);
}

void FeedbackDelay::OnReceived(Timestamp now, Timestamp latest_arrival, TimeDelta since_sent) {
  const TimeDelta return_delay = now - latest_arrival;
  forward_delay_ = std::min(since_sent - return_delay, forward_delay_ + kForwardDelayGrowth);
  if (now - batch_begins_ >= kBatch) {
    batch_begins_ = now;
    latest_return_delay_ = return_delay;
  }
  latest_return_delay_ = std::max(latest_return_delay_, return_delay);
  const TimeDelta stop = return_delay - return_delay_;
  if (stop >= kShortestReturnStop && stop <= kLongestReturnStop) return_stops_.Add(now, stop);
}

void FeedbackDelay::OnOneWayDelay(Timestamp now, TimeDelta delay, DataRate rate) {
  persistent_delay_.Update(now, delay, std::min(kMinCongestionWindow / rate, kMaxOwnDelay));
}

DataSize FeedbackDelay::CongestionWindow(Timestamp now, DataRate rate, TimeDelta recurring_stop) const {
  if (!forward_delay_.IsFinite() || persistent_delay_.persists()) return DataSize::PlusInfinity();
  const TimeDelta stop = return_stops_.Length(now);
  const TimeDelta held = stop.IsZero() ? latest_return_delay_ : std::max(latest_return_delay_, return_delay_ + stop);
  const TimeDelta delay = std::clamp(forward_delay_ + held, TimeDelta::Zero(), kMaxFeedbackDelay);
  const TimeDelta queue = std::max({kMaxQueueTime, delay * kMaxQueueShare, recurring_stop});
  return std::max(rate * (delay + queue), kMinCongestionWindow);
}

}  // namespace weir
