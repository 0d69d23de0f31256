#include "repair/nack_requester.h"

#include <algorithm>

#include "core/sim_time.h"

namespace weir::sim {
namespace {

// All libwebrtc's.
constexpr int kMaxRequests = 10;
constexpr int64_t kMaxMissing = 1000;
constexpr int64_t kMaxPacketAge = 10'000;
constexpr int64_t kUpdateIntervalNs = 20'000'000;

}  // namespace

bool NackRequester::OnOtherPacket(int64_t sequence_number) {
  if (newest_ < 0) newest_ = sequence_number;
  if (sequence_number <= newest_) {
    Forget(sequence_number);
    return true;
  }
  const int64_t first_missing = newest_ + 1;
  newest_ = sequence_number;
  ClearUpTo(sequence_number - kMaxPacketAge);
  if (static_cast<int64_t>(missing_.size()) + sequence_number - first_missing > kMaxMissing) {
    missing_.clear();
    return false;
  }
  for (int64_t i = first_missing; i < sequence_number; ++i) {
    missing_.push_back({.sequence_number = i, .requested_ns = kNeverNs});
  }
  return true;
}

void NackRequester::Forget(int64_t sequence_number) {
  const auto found = std::ranges::lower_bound(missing_, sequence_number, {}, &Missing::sequence_number);
  if (found != missing_.end() && found->sequence_number == sequence_number) missing_.erase(found);
}

void NackRequester::ClearUpTo(int64_t sequence_number) {
  if (missing_.empty()) return;
  missing_.erase(missing_.begin(), std::ranges::lower_bound(missing_, sequence_number, {}, &Missing::sequence_number));
}

int64_t NackRequester::next_timeout_ns() const {
  int64_t oldest_ns = kNeverNs;
  for (const Missing& missing : missing_) oldest_ns = std::min(oldest_ns, missing.requested_ns);
  if (oldest_ns == kNeverNs) return kNeverNs;
  // It looks at its list every 20 ms.
  return (oldest_ns + round_trip_time_ns_ + kUpdateIntervalNs - 1) / kUpdateIntervalNs * kUpdateIntervalNs;
}

std::vector<int64_t> NackRequester::TakeRequests(int64_t now_ns) {
  std::vector<int64_t> requests;
  std::erase_if(missing_, [&](Missing& missing) {
    if (missing.requested_ns != kNeverNs && now_ns - missing.requested_ns < round_trip_time_ns_) return false;
    requests.push_back(missing.sequence_number);
    missing.requested_ns = now_ns;
    return ++missing.requests >= kMaxRequests;
  });
  return requests;
}

}  // namespace weir::sim
