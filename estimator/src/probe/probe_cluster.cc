#include "probe/probe_cluster.h"

#include <algorithm>
#include <span>

namespace weir {
namespace {

// Smallest share of the cluster's packets, and of its bytes, as in libwebrtc.
constexpr double kFewestShare = 0.8;
constexpr TimeDelta kLongestInterval = TimeDelta::Seconds(1);
// Packets whose spacing shrinks by more than this factor were held up together on the path, which shows no rate.
constexpr double kMaxCompression = 2;
// Receiving less than this share of the sent rate shows the path's limit, of which this share is used. A host that
// sends this share of the target has sent it, since its timers and packets are coarse.
constexpr double kCarried = 0.9;
constexpr double kBelowLimit = 0.95;

}  // namespace

void ProbeCluster::Begin(const ProbeClusterConfig& config) {
  *this = {};
  config_ = config;
}

Timestamp ProbeCluster::latest_send_time() const {
  return packets_ == 0 ? Timestamp::MinusInfinity() : all_[packets_ - 1].send_time;
}

ProbeCluster::Packet* ProbeCluster::Find(int64_t sequence_number) {
  const auto packets = std::span(all_).first(added_);
  const auto found = std::ranges::find(packets, sequence_number, &Packet::sequence_number);
  return found == packets.end() || found->settled ? nullptr : &*found;
}

void ProbeCluster::Add(int64_t sequence_number, Timestamp send_time, DataSize size) {
  all_[added_++] = {.sequence_number = sequence_number, .send_time = send_time, .size = size};
}

void ProbeCluster::OnSent(int64_t sequence_number, Timestamp send_time, DataSize size) {
  if (added_ == kMaxPackets) return;
  Add(sequence_number, send_time, size);
  packets_ = added_;
  ++own_packets_;
  own_size_ += size;
}

void ProbeCluster::OnSentBeside(int64_t sequence_number, Timestamp send_time, DataSize size) {
  if (packets_ > 0 && added_ < kMaxPackets) Add(sequence_number, send_time, size);
}

void ProbeCluster::OnReceived(int64_t sequence_number, Timestamp receive_time) {
  Settle(sequence_number, receive_time);
}

void ProbeCluster::OnLost(int64_t sequence_number) { Settle(sequence_number, Timestamp::PlusInfinity()); }

void ProbeCluster::Settle(int64_t sequence_number, Timestamp receive_time) {
  Packet* const packet = Find(sequence_number);
  if (!packet) return;
  packet->receive_time = receive_time;
  packet->settled = true;
}

bool ProbeCluster::IsComplete() const {
  const bool all_left = own_packets_ >= config_.target_probe_count &&
                        own_size_ >= config_.target_data_rate * config_.target_duration * kFewestShare;
  return all_left && std::ranges::all_of(std::span(all_).first(packets_), &Packet::settled);
}

std::optional<ProbeResult> ProbeCluster::Result() const {
  // Lost packets count in neither rate, so random loss is no limit.
  size_t received = 0;
  DataSize size = DataSize::Zero();
  const Packet* first_to_come = nullptr;
  const Packet* last_to_come = nullptr;
  const Packet* first_to_leave = nullptr;
  const Packet* last_to_leave = nullptr;
  for (const Packet& packet : std::span(all_).first(packets_)) {
    if (!packet.receive_time.IsFinite()) continue;
    ++received;
    size += packet.size;
    if (!first_to_leave) first_to_leave = &packet;
    last_to_leave = &packet;
    if (!first_to_come || packet.receive_time < first_to_come->receive_time) first_to_come = &packet;
    if (!last_to_come || packet.receive_time > last_to_come->receive_time) last_to_come = &packet;
  }
  if (static_cast<double>(received) < std::max(2.0, kFewestShare * config_.target_probe_count)) return std::nullopt;
  const TimeDelta leaving = last_to_leave->send_time - first_to_leave->send_time;
  const TimeDelta arriving = last_to_come->receive_time - first_to_come->receive_time;
  const TimeDelta shortest = std::min(leaving, arriving);
  if (shortest <= TimeDelta::Zero() || std::max(leaving, arriving) > kLongestInterval) return std::nullopt;
  const DataRate send_rate = (size - last_to_leave->size) / leaving;
  const DataRate receive_rate = (size - first_to_come->size) / arriving;
  if (receive_rate > send_rate * kMaxCompression) return std::nullopt;
  const bool loses = static_cast<double>(received) < kFewestShare * static_cast<double>(packets_);
  if (loses || receive_rate < send_rate * kCarried) {
    // The cluster and the packets beside it may have left faster than it tests.
    const bool tested = !loses && receive_rate * kBelowLimit >= config_.target_data_rate;
    return tested ? ProbeResult{config_.target_data_rate, false} : ProbeResult{receive_rate * kBelowLimit, true};
  }
  const DataRate carried = std::min(send_rate, receive_rate);
  return ProbeResult{carried >= config_.target_data_rate * kCarried ? config_.target_data_rate : carried, false};
}

}  // namespace weir
