// Reacts to the CE marks of an L4S queue (RFC 9331), which keeps packets from waiting, so that delays show no queue.
//
// With f the share of packets marked with CE since the previous decision, a the mean of f over 16 round trips of 50 ms,
// and R the receive rate of the last 400 ms, the limit begins at the rate in force. It
//   1. falls with marks, by a / 2; if half of the packets since it last fell are marked, to 0.98 R or lower, since the
//      queue takes no more. It falls at most once in 200 ms, because earlier marks are on packets sent before;
//   2. rises without marks, by 0.4 packets in 50 ms.
// A multiplicative decrease and an additive increase make flows converge to equal rates, and do not starve TCP in the
// classic queue (DCTCP, RFC 8257; draft-ietf-ccwg-rfc8298bis). After two seconds without marks there is no limit.
//
// A path that marks every packet must not starve the call: if the rate fell to a quarter, and nearly all packets are
// marked but none waits, marks are ignored for a minute.
#include <algorithm>
#include <utility>

#include "guard/guard_rule.h"

namespace weir {
namespace {

constexpr TimeDelta kRoundTrip = TimeDelta::Millis(50);
constexpr TimeDelta kObeyed = TimeDelta::Millis(200);
constexpr double kGain = 0.0625;
constexpr double kMostMarked = 0.5;
constexpr double kBelow = 0.98;
constexpr double kRisePackets = 0.4;
constexpr TimeDelta kUnmarked = TimeDelta::Seconds(2);
constexpr double kAll = 0.9;
constexpr double kFallen = 0.25;
constexpr TimeDelta kIgnored = TimeDelta::Seconds(60);
constexpr TimeDelta kRepeat = TimeDelta::Millis(25);

class EcnRule final : public GuardRule {
  DataRate Apply(DataRate rate, GuardFacts& facts) override {
    const ArrivalTotals& totals = facts.arrivals.totals();
    const int64_t packets = totals.packets - packets_;
    const int64_t marked = totals.packets_with_ce - marked_;
    packets_ = totals.packets;
    marked_ = totals.packets_with_ce;
    if (packets > 0 && facts.now >= ignored_until_) OnPackets(packets, marked, facts);
    return Limited(rate, limit_, facts);
  }
  Timestamp NextTimeout(const GuardFacts& facts, bool) const override {
    return limit_.IsFinite() ? facts.now + kRepeat : Timestamp::PlusInfinity();
  }

  void OnPackets(int64_t packets, int64_t marked, const GuardFacts& facts) {
    const double round_trips = std::min(facts.elapsed / kRoundTrip, 4.0);
    const double share = static_cast<double>(marked) / static_cast<double>(packets);
    smoothed_ += (share - smoothed_) * std::min(kGain * round_trips, 1.0);
    packets_since_cut_ += packets;
    marked_since_cut_ += marked;
    if (marked > 0) {
      OnMarks(share, facts);
      return;
    }
    begin_ = DataRate::Zero();
    if (!limit_.IsFinite()) return;
    limit_ += kFullPacket / kRoundTrip * (kRisePackets * round_trips);
    if (facts.now - latest_marks_ >= kUnmarked) limit_ = DataRate::PlusInfinity();
  }

  void OnMarks(double marked, const GuardFacts& facts) {
    latest_marks_ = facts.now;
    if (begin_.IsZero() || marked < kAll) begin_ = facts.rate;
    if (facts.rate < begin_ * kFallen && facts.arrivals.Sign() == QueueSign::kNone) {
      *this = {};
      ignored_until_ = facts.now + kIgnored;
      return;
    }
    if (facts.now - latest_cut_ < kObeyed) return;
    latest_cut_ = facts.now;
    limit_ = std::min(limit_, facts.rate) * (1 - smoothed_ / 2);
    const auto packets = static_cast<double>(std::exchange(packets_since_cut_, 0));
    const auto marked_of_them = static_cast<double>(std::exchange(marked_since_cut_, 0));
    const DataRate received = facts.arrivals.LatestReceiveRate();
    if (marked_of_them >= packets * kMostMarked && !received.IsZero()) limit_ = std::min(limit_, received * kBelow);
    limit_ = std::max(limit_, facts.constraints.min_rate);
  }

  int64_t packets_ = 0;
  int64_t marked_ = 0;
  int64_t packets_since_cut_ = 0;
  int64_t marked_since_cut_ = 0;
  double smoothed_ = 0;
  DataRate limit_ = DataRate::PlusInfinity();
  Timestamp latest_cut_ = Timestamp::MinusInfinity();
  Timestamp latest_marks_ = Timestamp::MinusInfinity();
  // The rate when nearly all packets began to be marked; zero if they are not.
  DataRate begin_ = DataRate::Zero();
  Timestamp ignored_until_ = Timestamp::MinusInfinity();
};

}  // namespace

std::unique_ptr<GuardRule> MakeEcnRule() { return std::make_unique<EcnRule>(); }

}  // namespace weir
