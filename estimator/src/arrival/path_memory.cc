#include "arrival/path_memory.h"

#include <algorithm>

#include "weir/interval_statistics_fields.h"

namespace weir {
namespace {

// Slightly less than a second, since the sum of ten intervals of 0.1 s may be.
constexpr double kSlotS = 0.999;
// Rates over shorter times are too noisy.
constexpr double kShortestRateS = 0.5;
constexpr double kShortQueueS = 0.015;
// Shortest outage: nothing arrives for this time, and packets sent during it are missing afterwards. Packets that
// waited arrive first.
constexpr double kOutageS = 2;
constexpr double kBacklogS = 1;

}  // namespace

void PathMemory::WriteLossByRate(IntervalStatistics& statistics) const {
  struct Sent {
    double packets_per_s = 0;
    const Slot* slot = nullptr;
  };
  std::array<Sent, kSlots> slots{};
  size_t known = 0;
  for (const Slot& slot : slots_) {
    if (slot.duration_s >= kShortestRateS) slots[known++] = {(slot.received + slot.lost) / slot.duration_s, &slot};
  }
  std::sort(slots.begin(), slots.begin() + static_cast<ptrdiff_t>(known),
            [](const Sent& a, const Sent& b) { return a.packets_per_s < b.packets_per_s; });
  const auto loss_ratio = [&](size_t begin, size_t end) {
    double lost = 0, sent = 0;
    for (size_t i = begin; i < end; ++i) {
      lost += slots[i].slot->lost;
      sent += slots[i].slot->lost + slots[i].slot->received;
    }
    return sent > 0 ? lost / sent : 0;
  };
  statistics.loss_ratio_slow_10s = loss_ratio(0, known / 2);
  statistics.loss_ratio_fast_10s = loss_ratio(known / 2, known);
}

void PathMemory::ForgetOutage(const IntervalStatistics& statistics) {
  if (statistics.packets_received == 0) {
    silence_s_ += statistics.interval_s;
    return;
  }
  if (silence_s_ >= kOutageS) backlog_s_ = kBacklogS;
  silence_s_ = 0;
  if (backlog_s_ <= 0) return;
  backlog_s_ -= statistics.interval_s;
  if (statistics.packets_lost > 0) slots_ = {};
}

void PathMemory::Add(IntervalStatistics& statistics) {
  const bool has_delay = statistics.packets_received > 0;
  if (has_delay) noise_.Add(statistics.queueing_delay_min_s);
  if (slots_[slot_].duration_s >= kSlotS) {
    slot_ = (slot_ + 1) % kSlots;
    slots_[slot_] = {};
  }
  Slot& slot = slots_[slot_];
  slot.duration_s += statistics.interval_s;
  slot.bytes += statistics.bytes_received;
  slot.received += statistics.packets_received;
  slot.lost += statistics.packets_lost;
  if (has_delay) {
    slot.queue_min_s =
        slot.has_delay ? std::min(slot.queue_min_s, statistics.queueing_delay_min_s) : statistics.queueing_delay_min_s;
    slot.queue_max_s = std::max(slot.queue_max_s, statistics.queueing_delay_max_s);
    slot.has_delay = true;
  }
  if (statistics.queueing_delay_max_s < kShortQueueS) {
    slot.received_at_short_queue += statistics.packets_received;
    slot.lost_at_short_queue += statistics.packets_lost;
  }

  ForgetOutage(statistics);
  double lost = 0, expected = 0, highest_bps = 0, lowest_bps = kMaxPolicyRateBps, queue_max_s = 0;
  double queue_min_s = statistics.queueing_delay_min_s;
  for (const Slot& one : slots_) {
    lost += one.lost_at_short_queue;
    expected += one.lost_at_short_queue + one.received_at_short_queue;
    queue_max_s = std::max(queue_max_s, one.queue_max_s);
    if (one.has_delay) queue_min_s = std::min(queue_min_s, one.queue_min_s);
    if (one.duration_s < kShortestRateS) continue;
    const double rate_bps = one.bytes * 8 / one.duration_s;
    highest_bps = std::max(highest_bps, rate_bps);
    lowest_bps = std::min(lowest_bps, rate_bps);
  }
  WriteLossByRate(statistics);
  statistics.delay_noise_s = noise_.Seconds();
  statistics.loss_at_short_queue_10s = expected > 0 ? lost / expected : 0;
  statistics.receive_rate_max_10s_bps = highest_bps;
  statistics.receive_rate_min_10s_bps = std::min(lowest_bps, highest_bps);
  statistics.queueing_delay_min_10s_s = queue_min_s;
  statistics.queueing_delay_max_10s_s = queue_max_s;
}

}  // namespace weir
