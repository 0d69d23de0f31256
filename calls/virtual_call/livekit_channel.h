// Signs of congestion, as LiveKit's observer of a channel sees them: an estimate that falls, and repeated NACKs.
#ifndef WEIR_CALLS_VIRTUAL_CALL_LIVEKIT_CHANNEL_H_
#define WEIR_CALLS_VIRTUAL_CALL_LIVEKIT_CHANNEL_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>

#include "weir/units.h"

namespace weir::sim {

struct LivekitChannelConfig {
  // Number of the latest reports that are compared, and the number that is enough if they span more than five seconds.
  size_t reports = 12;
  size_t least_reports = 8;
  // The estimate falls if Kendall's tau of the reports is below this.
  double threshold = -0.6;
  // A report equal to the one before it counts only after this time.
  TimeDelta equal_after = TimeDelta::Millis(500);
  // Repeated NACKs count for at least and at most these times after the first one; more than this share of the packets
  // is congestion.
  TimeDelta least_window = TimeDelta::Seconds(2);
  TimeDelta most_window = TimeDelta::Seconds(3);
  double lossy_above = 0.08;
};

class LivekitChannel {
 public:
  explicit LivekitChannel(const LivekitChannelConfig& config = {}) : config_(config) {}

  void Add(DataRate estimate, Timestamp now) {
    ++count_;
    highest_ = std::max(highest_, estimate);
    if (!reports_.empty() && reports_.back().estimate == estimate && now - reports_.back().at < config_.equal_after)
      return;
    reports_.push_back({estimate, now});
    if (reports_.size() > config_.reports) reports_.pop_front();
    while (now - reports_.front().at >= TimeDelta::Seconds(10)) reports_.pop_front();
    // Only the latest of equal reports at the front counts.
    while (reports_.size() > 1 && reports_[0].estimate == reports_[1].estimate) reports_.pop_front();
  }

  // Packets, and packets that were retransmitted once more, since the last call.
  void AddPackets(int64_t packets, int64_t repeated, Timestamp now) {
    if (window_start_.IsFinite() && now - window_start_ > config_.most_window) {
      window_start_ = Timestamp::MinusInfinity();
      packets_ = repeated_ = 0;
    }
    if (repeated_ == 0 && repeated > 0) window_start_ = now;
    if (!window_start_.IsFinite()) return;
    packets_ += packets;
    repeated_ += repeated;
  }

  bool is_lossy(Timestamp now) const {
    return window_start_.IsFinite() && now - window_start_ > config_.least_window &&
           repeated_share() > config_.lossy_above;
  }
  double repeated_share() const {
    return packets_ == 0 ? 0 : std::min(1.0, static_cast<double>(repeated_) / static_cast<double>(packets_));
  }
  bool falls() const {
    if (reports_.size() < config_.least_reports) return false;
    const bool long_enough = reports_.back().at - reports_.front().at > TimeDelta::Seconds(5);
    return (reports_.size() >= config_.reports || long_enough) && Tau() < config_.threshold;
  }
  bool has_enough() const { return count_ >= config_.reports; }
  DataRate highest() const { return highest_; }

 private:
  struct Report {
    DataRate estimate;
    Timestamp at;
  };

  double Tau() const {
    int rises = 0;
    int falls = 0;
    for (size_t i = 0; i < reports_.size(); ++i) {
      for (size_t later = i + 1; later < reports_.size(); ++later) {
        rises += reports_[i].estimate < reports_[later].estimate ? 1 : 0;
        falls += reports_[i].estimate > reports_[later].estimate ? 1 : 0;
      }
    }
    return rises + falls == 0 ? 0 : static_cast<double>(rises - falls) / (rises + falls);
  }

  LivekitChannelConfig config_;
  std::deque<Report> reports_;
  size_t count_ = 0;
  DataRate highest_ = DataRate::Zero();
  Timestamp window_start_ = Timestamp::MinusInfinity();
  int64_t packets_ = 0;
  int64_t repeated_ = 0;
};

}  // namespace weir::sim

#endif  // WEIR_CALLS_VIRTUAL_CALL_LIVEKIT_CHANNEL_H_
