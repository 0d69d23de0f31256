// Drives a rate controller of either end through a scripted call: evenly spaced packets over a path of constant delay.
#ifndef WEIR_TESTS_WEBRTC_PATCH_SCRIPTED_CALL_H_
#define WEIR_TESTS_WEBRTC_PATCH_SCRIPTED_CALL_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "weir/sender_controller.h"

namespace weir::scripted {

inline constexpr TimeDelta kOneWayDelay = TimeDelta::Millis(25);
inline constexpr TimeDelta kRoundTripTime = TimeDelta::Millis(50);
inline constexpr TimeDelta kPacketInterval = TimeDelta::Millis(10);
inline constexpr TimeDelta kFeedbackInterval = TimeDelta::Millis(50);
inline constexpr TimeDelta kLossReportInterval = TimeDelta::Seconds(1);
inline constexpr uint32_t kPacketBytes = 1000;

class Call {
 public:
  // The call begins at `origin`; results are given relative to it.
  Call(NetworkController& controller, const TargetRateConstraints& constraints, Timestamp origin)
      : controller_(controller), origin_(origin), now_(origin) {
    SetConstraints(constraints);
  }

  void SetConstraints(const TargetRateConstraints& constraints) {
    TargetRateConstraints at_now = constraints;
    at_now.at_time = now_;
    controller_.OnTargetRateConstraints(at_now);
    RunTimers();
  }

  // Sends media for `duration`. With `lost`, no packet arrives, which feedback reports.
  void Talk(TimeDelta duration, bool lost = false) {
    const Timestamp end = now_ + duration;
    while (now_ < end) {
      SendPacket(lost);
      const TimeDelta elapsed = now_ - origin_;
      if (elapsed.us() % kFeedbackInterval.us() == 0) SendFeedback(lost);
      if (elapsed.us() % kLossReportInterval.us() == 0) SendLossReport();
      Pass(kPacketInterval);
    }
  }

  // Runs only timers.
  void BeSilent(TimeDelta duration) { Pass(duration); }

  Timestamp now() const { return now_; }
  // One update of the controller; all times are relative to the origin.
  struct Saying {
    TimeDelta time;
    SenderControlUpdate update;
  };
  const std::vector<Saying>& sayings() const { return sayings_; }

  std::vector<DataRate> Targets() const {
    std::vector<DataRate> targets;
    for (const Saying& saying : sayings_) {
      if (saying.update.target_rate) targets.push_back(saying.update.target_rate->target_rate);
    }
    return targets;
  }
  DataRate LastTarget() const { return Targets().back(); }
  // OnTimeout(now) left next_timeout() at or before now: a host would never get past it.
  bool stuck() const { return stuck_; }

 private:
  void Pass(TimeDelta duration) {
    const Timestamp end = now_ + duration;
    while (controller_.next_timeout() < end && !stuck_) {
      now_ = std::max(now_, controller_.next_timeout());
      RunTimers();
    }
    now_ = end;
    RunTimers();
  }

  void RunTimers() {
    if (controller_.next_timeout() > now_) return;
    sayings_.push_back({now_ - origin_, sender_ ? sender_->OnTimeout(now_) : AsOfSender(receiver_->OnTimeout(now_))});
    stuck_ = stuck_ || controller_.next_timeout() <= now_;
  }

  SenderControlUpdate AsOfSender(const ReceiverControlUpdate& update) const {
    SenderControlUpdate same;
    if (update.target_rate) same.target_rate = TargetTransferRate{now_, *update.target_rate};
    return same;
  }

  void SendPacket(bool lost) {
    SentPacket packet;
    packet.send_time = now_;
    packet.size = DataSize::Bytes(kPacketBytes);
    packet.sequence_number = sequence_number_++;
    unreported_.push_back(packet);
    packet.data_in_flight = DataSize::Bytes(int64_t{kPacketBytes} * static_cast<int64_t>(unreported_.size()));
    unreported_.back() = packet;
    (lost ? packets_lost_ : packets_received_) += 1;
    if (sender_) {
      sender_->OnSentPacket(packet);
    } else if (!lost) {
      Arrival arrival;
      arrival.packet.arrival_time = now_;
      const int64_t send_time_us = (now_ - origin_).us();
      arrival.packet.has_abs_send_time = true;
      arrival.packet.abs_send_time = static_cast<uint32_t>(((send_time_us << 18) / 1'000'000) & 0xFFFFFF);
      arrival.packet.payload_size = kPacketBytes;
      arrival.sequence_number = packet.sequence_number;
      receiver_->OnArrival(arrival);
    }
    RunTimers();
  }

  // Reports on packets that were sent a round-trip time ago or earlier.
  void SendFeedback(bool lost) {
    if (!sender_) return;
    TransportPacketsFeedback feedback;
    feedback.feedback_time = now_;
    while (!unreported_.empty() && unreported_.front().send_time + kRoundTripTime <= now_) {
      PacketResult result{.sent_packet = unreported_.front()};
      if (!lost) result.receive_time = result.sent_packet.send_time + kOneWayDelay;
      feedback.packet_feedbacks.push_back(result);
      unreported_.erase(unreported_.begin());
    }
    feedback.data_in_flight = DataSize::Bytes(int64_t{kPacketBytes} * static_cast<int64_t>(unreported_.size()));
    sender_->OnTransportPacketsFeedback(feedback);
    RunTimers();
  }

  void SendLossReport() {
    controller_.OnRoundTripTimeUpdate({.receive_time = now_, .round_trip_time = kRoundTripTime});
    if (sender_) {
      sender_->OnTransportLossReport({.receive_time = now_,
                                      .start_time = now_ - kLossReportInterval,
                                      .end_time = now_,
                                      .packets_lost_delta = packets_lost_,
                                      .packets_received_delta = packets_received_});
    }
    packets_lost_ = packets_received_ = 0;
    RunTimers();
  }

  NetworkController& controller_;
  // Exactly one of these is not null.
  ReceiverController* const receiver_ = dynamic_cast<ReceiverController*>(&controller_);
  SenderController* const sender_ = dynamic_cast<SenderController*>(&controller_);
  const Timestamp origin_;
  Timestamp now_;
  std::vector<Saying> sayings_;
  bool stuck_ = false;
  int64_t sequence_number_ = 0;
  std::vector<SentPacket> unreported_;
  int64_t packets_lost_ = 0;
  int64_t packets_received_ = 0;
};

}  // namespace weir::scripted

#endif  // WEIR_TESTS_WEBRTC_PATCH_SCRIPTED_CALL_H_
