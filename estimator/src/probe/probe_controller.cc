#include "probe/probe_controller.h"

#include <algorithm>
#include <utility>

namespace weir {
namespace {

constexpr double kBytesShare = 0.025;
constexpr double kFirstBudget = 4000;
constexpr double kMaxBudget = 40'000;
// Amount by which a cluster after a success may overdraw the budget.
constexpr double kCredit = 40'000;

constexpr TimeDelta kMaxQueue = TimeDelta::Millis(40);
// libwebrtc's minimum; shorter clusters are lost in jitter.
constexpr TimeDelta kMinDuration = TimeDelta::Millis(15);
constexpr TimeDelta kMaxDuration = TimeDelta::Millis(30);
// A limit this close to the rate may be caused by a packet that waited for another. A longer cluster distinguishes
// them.
constexpr double kNearLimit = 0.75;
constexpr TimeDelta kLongDuration = TimeDelta::Millis(100);
constexpr int32_t kFewestPackets = 5;
// Packets of padding alone have at most 255 bytes, and the history must hold all packets of a cluster.
constexpr DataSize kMaxSize = DataSize::Bytes(280) * ProbeCluster::kMaxPackets;

// Steps without a layer to reach, and after a success.
constexpr double kFirstStep = 2;
constexpr double kNextStep = 3;
// libwebrtc's steps at the start of a call. Its second probe, at six times the start rate, goes before the result of
// the first, and fills slow paths.
constexpr double kStartStep = 3;
constexpr double kStartNextStep = 2;
// Limits of what a receiver that lies, or a host that sends clusters more slowly than requested, can cause at the
// start.
constexpr uint64_t kMostAtStart = 8;
constexpr TimeDelta kLongestStart = TimeDelta::Seconds(5);
constexpr double kKnown = 0.95;
constexpr double kWorthwhile = 1.05;
constexpr TimeDelta kInterval = TimeDelta::Seconds(2);
// Longest time until the host sends a cluster, and until all feedback on it has arrived.
constexpr TimeDelta kExpiry = TimeDelta::Seconds(1);

// Encoders are uneven, so media may use this much more than is received.
constexpr double kHeadroom = 1.25;
constexpr double kNear = 0.8;
// A queue drains at the rest. Deeper falls end layers that fit, and servers wait for up to 10 s before they add them.
constexpr double kDrains = 0.7;
constexpr TimeDelta kMaxAge = TimeDelta::Seconds(30);
// Without media for this time all wait for a higher target, or the application has none to send.
constexpr TimeDelta kPause = TimeDelta::Millis(500);
constexpr TimeDelta kPausedInterval = TimeDelta::Seconds(1);
constexpr TimeDelta kCheckInterval = TimeDelta::Millis(100);
// Packets that were lost before a pause may never be reported.
constexpr TimeDelta kMaxUnanswered = TimeDelta::Seconds(2);
// Age at which a shown rate is probed again. Leaves time for several clusters before it expires.
constexpr TimeDelta kRenewalAge = TimeDelta::Seconds(20);

}  // namespace

ProbeController::ProbeController(DataRate start_rate, bool probes_start)
    : starts_(probes_start), shown_(start_rate), budget_(kFirstBudget) {}

void ProbeController::SetDesiredRate(const DesiredRate& desired, DataRate rate) {
  if (!any_desired()) {
    shown_ = rate;
    phase_ = Phase::kIdle;
    starts_ = false;
  }
  desired_ = desired;
}

void ProbeController::OnSentPacket(const PacketDeparture& packet) {
  budget_ = std::min(budget_ + kBytesShare * static_cast<double>(packet.size.bytes()), kMaxBudget);
  const bool is_media = packet.kind == PacketKind::kVideo || packet.kind == PacketKind::kAudio;
  if (is_media) media_sent_at_ = packet.send_time;
  if (phase_ != Phase::kTaken) return;
  if (packet.probe_cluster_id != cluster_.config().id) {
    cluster_.OnSentBeside(packet.sequence_number, packet.send_time, packet.size);
    return;
  }
  cluster_.OnSent(packet.sequence_number, packet.send_time, packet.size);
  if (is_media) return;
  counters_.size += packet.size;
  if (!resumes_) budget_ -= static_cast<double>(packet.size.bytes());
}

bool ProbeController::MediaFills(DataRate rate) const { return receive_rate_ >= rate * kNear; }

DataRate ProbeController::TargetRate(DataRate target) const {
  if (!any_desired()) return target;
  const DataRate limit = std::max(shown_, receive_rate_ * kHeadroom);
  const DataRate lowest = !is_normal_ ? receive_rate_ * kDrains : MediaFills(limit) ? shown_ : limit;
  return std::clamp(target, lowest, delay_stands_ ? DataRate::PlusInfinity() : limit);
}

bool ProbeController::MediaPause(const Facts& facts) const {
  if (!any_desired() || !media_sent_at_.IsFinite()) return false;
  const TimeDelta pause = facts.now - media_sent_at_;
  return pause >= (facts.all_settled ? kPause : kMaxUnanswered);
}

Timestamp ProbeController::NextTimeout() const {
  const bool waits = any_desired() && media_sent_at_.IsFinite() && (!is_normal_ || shown_ < desired_.total);
  return waits ? std::max(checked_at_ + kCheckInterval, media_sent_at_ + kPause) : Timestamp::PlusInfinity();
}

std::optional<ProbeClusterConfig> ProbeController::Take() {
  if (phase_ != Phase::kRequested) return std::nullopt;
  phase_ = Phase::kTaken;
  return cluster_.config();
}

std::optional<DataRate> ProbeController::OnProgress(const Facts& facts) {
  receive_rate_ = facts.receive_rate;
  delay_stands_ = facts.delay_stands;
  checked_at_ = facts.now;
  const bool is_normal = facts.state == CongestionState::kNormal, resumed = std::exchange(resumes_, MediaPause(facts));
  // The path's state was that of before the pause.
  const bool begins_anew = resumes_ && !resumed && !is_normal;
  if (begins_anew || (!resumes_ && facts.state == CongestionState::kCongested)) shown_ = std::min(shown_, facts.target);
  is_normal_ = is_normal || resumes_;
  if (MediaFills(shown_) || !shown_at_.IsFinite()) shown_at_ = facts.now;
  shown_ = facts.now - shown_at_ > kMaxAge ? receive_rate_ : std::max(shown_, receive_rate_);
  if (phase_ != Phase::kIdle) return EndCluster(facts);
  Request(facts);
  return std::nullopt;
}

std::optional<DataRate> ProbeController::EndCluster(const Facts& facts) {
  const Timestamp since = std::max(cluster_.config().at_time, cluster_.latest_send_time());
  if (!cluster_.IsComplete() && facts.now - since < kExpiry) return std::nullopt;
  const std::optional<ProbeResult> result = cluster_.Result();
  succeeded_ = result && !result->is_limit;
  phase_ = Phase::kIdle;
  next_at_ = succeeded_ ? facts.now : facts.now + (resumes_ ? kPausedInterval : kInterval);
  limit_ = result && result->is_limit ? result->rate : DataRate::Zero();
  if (!result) return std::nullopt;
  if (!succeeded_) {
    ++counters_.limited;
    shown_ = std::max(result->rate, receive_rate_);
    return std::nullopt;
  }
  ++counters_.carried;
  // A renewal that was too small for the old rate shows its own.
  const bool renews = facts.now - shown_at_ > kRenewalAge && result->rate < shown_ * kNear;
  shown_ = renews ? std::max(result->rate, receive_rate_) : std::max(shown_, result->rate);
  shown_at_ = facts.now;
  Request(facts);
  return result->rate;
}

void ProbeController::RequestAtStart(const Facts& facts) {
  const bool is_first = counters_.clusters == 0;
  const bool has_risen = succeeded_ && shown_ > shown_before_ * kWorthwhile && counters_.clusters < kMostAtStart &&
                         facts.now - first_cluster_at_ < kLongestStart;
  starts_ = is_normal_ && (is_first || has_risen);
  const DataRate rate =
      std::min({shown_ * (is_first ? kStartStep : kStartNextStep), facts.max_rate, kMaxSize / kMinDuration});
  if (!starts_ || rate <= std::max(shown_, facts.target) * kWorthwhile) return;
  if (is_first) first_cluster_at_ = facts.now;
  shown_before_ = shown_;
  Begin(facts, rate, kMinDuration);
}

void ProbeController::Begin(const Facts& facts, DataRate rate, TimeDelta duration) {
  const auto id = static_cast<int32_t>(++counters_.clusters);
  cluster_.Begin({facts.now, id, rate, duration, kFewestPackets});
  phase_ = Phase::kRequested;
  succeeded_ = false;
}

void ProbeController::Request(const Facts& facts) {
  if (starts_) RequestAtStart(facts);
  if (!any_desired()) return;
  const DataRate shown = TargetRate(facts.target);
  const DataRate wanted = desired_.next.IsZero() ? shown * kFirstStep : desired_.next;
  const DataRate next = succeeded_ ? std::max(wanted, shown * kNextStep) : wanted;
  // Rates above the maximum need no probe, and a receiver that lies would otherwise cause one cluster after another.
  const DataRate most = std::min(desired_.total, facts.max_rate);
  // A step to the next layer is worth a probe however small it is.
  const bool is_step = std::min(most, next) > (desired_.next.IsZero() ? shown * kWorthwhile : shown);
  const DataRate rate = std::min(most, is_step ? next : shown);
  const bool renews = !is_step && facts.now - shown_at_ > kRenewalAge && rate > receive_rate_ * kHeadroom;
  const bool is_due = facts.now >= next_at_ && is_normal_ && (resumes_ || !receive_rate_.IsZero());
  if (!is_due || !(is_step || renews)) return;
  const bool is_near = limit_ >= rate * kNearLimit;
  const DataRate carried = is_near ? std::min(limit_, rate * kKnown) : renews ? receive_rate_ : shown;
  const TimeDelta longest = is_near ? kLongDuration : kMaxDuration;
  const TimeDelta within_queue = std::min(kMaxQueue * (carried / (rate - carried)), longest);
  const double most_bytes = kMaxBudget + (succeeded_ ? kCredit : 0);
  const DataSize most_added = DataSize::Bytes(static_cast<int64_t>(most_bytes));
  const DataRate beyond = std::max(rate - receive_rate_, DataRate::BitsPerSecond(1));
  const TimeDelta duration = std::max(std::min({within_queue, kMaxSize / rate, most_added / beyond}), kMinDuration);
  const DataRate possible = std::min({rate, kMaxSize / duration, receive_rate_ + most_added / duration});
  // A cluster that cannot be as large as needed shows nothing new once the path has carried its rate.
  if (is_step && possible < rate && possible <= shown * kWorthwhile) return;
  const DataSize added = (possible - receive_rate_) * duration;
  if (!resumes_ && budget_ + (succeeded_ ? kCredit : 0) < static_cast<double>(added.bytes())) return;
  Begin(facts, possible, duration);
}

}  // namespace weir
