#include "repair/fec.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace weir::sim {
namespace {

// libwebrtc's values unless stated otherwise.
constexpr SimDuration kLossWindow = SimDuration::Seconds(10);
constexpr SimDuration kMinRoundTrip = SimDuration::Millis(20);
// On round trips above 200 ms, libwebrtc protects small frames too: its encoder falls below its lowest rate to make
// room for FEC; the simulator's cannot.
constexpr double kMinFrameBits = 8 * 700;
constexpr int kMaxFrames = 6;
// FEC's share of all packets, in Q8: between the share of a frame's first partition and a half.
constexpr double kLeastShare = 51;
constexpr double kMostShare = 128;
// Weir's own: a line for each frame size in place of libwebrtc's table of frame sizes by loss ratios. At 640x360 and up
// to 15 % of loss the line is off by 4 of 256 on average and by 24 at most.
constexpr double kStepBits = 4219;
constexpr double kShareAtNoLoss = 25;
constexpr double kSlopePerStep = 0.25;
constexpr double kMaxSlope = 4.5;

constexpr int kMaxGroupPackets = 48;
constexpr int kMaxExcess = 50;
constexpr int kHighRate = 80;
constexpr int kMinPacketsAtHighRate = 4;

// The header of RED, and that of ULPFEC with one level, which includes the protected part of the fixed RTP header.
constexpr uint32_t kFecHeaderBytes = 1 + 10 + 4;

// The losses of two groups suffice: FEC follows its packets closely.
constexpr size_t kMaxLost = 2 * kMaxGroupPackets;

// Converts a share of all packets to one of video packets.
int RateOf(double share) { return static_cast<int>(std::lround(255 * share / (255 - share))); }

int FecPackets(int packets, int rate) { return std::max((packets * rate + 128) / 256, rate > 0 ? 1 : 0); }

}  // namespace

void FecController::OnLossRatio(double loss_ratio, SimTime now) {
  const int loss = static_cast<int>(256 * std::clamp(loss_ratio, 0.0, 0.5));
  Forget(now);
  reports_.push_back({now, loss});
}

void FecController::Forget(SimTime now) {
  while (reports_.size() > 1 && now - reports_[1].time > kLossWindow) reports_.pop_front();
}

FecParameters FecController::Parameters(DataRate target_rate, double frames_per_second, SimDuration round_trip_time,
                                        SimTime now) {
  Forget(now);
  int loss = 0;
  for (size_t i = 0; i < reports_.size(); ++i) loss = std::max(loss, reports_[i].loss);
  const double frame_bits = static_cast<double>(target_rate.bps()) / std::max(frames_per_second, 1.0);
  if (loss == 0 || frame_bits < kMinFrameBits) return {};
  const double slope = std::min(kMaxSlope, kSlopePerStep * (frame_bits / kStepBits - 1));
  const double delta_share = std::clamp(kShareAtNoLoss + loss * slope, kLeastShare, kMostShare);
  const double frames = 2 * frames_per_second * static_cast<double>(round_trip_time.ns()) * 1e-9;
  return {.delta_rate = round_trip_time < kMinRoundTrip ? 0 : RateOf(delta_share),
          .key_rate = RateOf(std::min(2 * delta_share, kMostShare)),
          .max_frames = std::clamp(static_cast<int>(std::lround(frames)), 1, kMaxFrames)};
}

void FecGenerator::SetParameters(const FecParameters& parameters) {
  parameters_ = parameters;
  if (!active()) group_ = {};
}

std::vector<MediaPacket> FecGenerator::OnSent(const Packet& packet) {
  if (group_.packets == 0) group_.first_sequence_number = packet.media_sequence_number;
  if (group_.packets < kMaxGroupPackets) {
    ++group_.packets;
    group_.largest_payload_bytes = std::max(group_.largest_payload_bytes, packet.rtp.payload_size);
  }
  group_.key_frame |= packet.frame_part.key_frame;
  std::vector<MediaPacket> result;
  if (!packet.frame_part.last) return result;
  ++group_.frames;
  const int rate = group_.key_frame ? parameters_.key_rate : parameters_.delta_rate;
  const int fec_packets = FecPackets(group_.packets, rate);
  const int min_packets =
      (rate > kHighRate ? kMinPacketsAtHighRate : 1) + (group_.packets >= 2 * group_.frames ? 1 : 0);
  const bool small_excess = 256 * fec_packets / group_.packets - rate < kMaxExcess;
  if (group_.frames < parameters_.max_frames && !(small_excess && group_.packets >= min_packets)) return result;
  for (int i = 0; i < fec_packets; ++i) {
    result.push_back({.kind = PacketKind::kVideo,
                      .payload_bytes = kFecHeaderBytes + group_.largest_payload_bytes,
                      .capture_time = packet.capture_time,
                      .fec = {.packets = static_cast<uint8_t>(group_.packets),
                              .index = static_cast<uint8_t>(i),
                              .count = static_cast<uint8_t>(fec_packets)},
                      .repaired_sequence_number = group_.first_sequence_number});
  }
  group_ = {};
  return result;
}

void FecReceiver::OnLost(const Packet& packet) {
  if (lost_.size() == kMaxLost) lost_.erase(lost_.begin());
  lost_.emplace(packet.media_sequence_number, packet);
}

std::optional<Packet> FecReceiver::OnFec(const Packet& fec) {
  const int64_t first = fec.media_sequence_number;
  auto only = lost_.end();
  for (auto found = lost_.lower_bound(first); found != lost_.end() && found->first < first + fec.fec.packets; ++found) {
    if ((found->first - first) % fec.fec.count != fec.fec.index) continue;
    if (only != lost_.end()) return std::nullopt;
    only = found;
  }
  if (only == lost_.end()) return std::nullopt;
  return std::move(lost_.extract(only).mapped());
}

}  // namespace weir::sim
