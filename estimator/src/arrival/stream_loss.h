// Loss of one stream, compared with that of the others which share the link.
#ifndef WEIR_ARRIVAL_STREAM_LOSS_H_
#define WEIR_ARRIVAL_STREAM_LOSS_H_

#include <algorithm>
#include <cstdint>

#include "weir/arrival.h"

namespace weir {

// Packets of one audio or video stream during the last seconds. A selective forwarding unit passes on the gaps of a
// publisher that loses packets on its own uplink; the downlink, which all publishers share, did not lose them.
class StreamLoss {
 public:
  void Add(PacketKind kind, int32_t lost_change) {
    kind_ = kind;
    expected_ = std::max(expected_ + 1 + lost_change, 0);
    lost_ = std::max(lost_ + lost_change, 0);
  }
  // Halves the weight of everything before now.
  void Age() {
    expected_ /= 2;
    lost_ /= 2;
  }
  bool has_loss() const { return lost_ >= kFewestLost; }
  // True if `other` is of the same kind and had enough packets, half as many at least, to show the loss of this stream
  // if the link had caused it. Audio and streams with fewer packets have shorter bursts, which a short queue drops less
  // often.
  bool IsComparable(const StreamLoss& other) const {
    return other.kind_ == kind_ && 2 * other.expected_ >= expected_ &&
           int64_t{other.expected_} * lost_ >= int64_t{kFewestLost} * std::max(expected_, 1);
  }
  // True if `other`, which is comparable, had less than a quarter of this stream's loss fraction.
  bool IsContradictedBy(const StreamLoss& other) const {
    return int64_t{4} * other.lost_ * expected_ < int64_t{lost_} * other.expected_;
  }

  // The part of a change of the stream's loss that counts for the link: zero while the loss `is_upstream`, and for late
  // packets whose loss did not count.
  int32_t ForLink(int32_t lost_change, bool is_upstream) {
    const int32_t excluded = lost_change > 0 ? (is_upstream ? lost_change : 0) : std::max(lost_change, -excluded_);
    excluded_ += excluded;
    return lost_change - excluded;
  }

 private:
  static constexpr int32_t kFewestLost = 8;

  PacketKind kind_ = PacketKind::kVideo;
  int32_t expected_ = 0;
  int32_t lost_ = 0;
  // Lost packets that did not count for the link, less those that arrived late.
  int32_t excluded_ = 0;
};

}  // namespace weir

#endif  // WEIR_ARRIVAL_STREAM_LOSS_H_
