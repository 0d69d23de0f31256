// Cost of one transport feedback in libwebrtc's GCC, for comparison with the estimator's decisions.
#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "benchmarks.h"
#include "rate_controllers.h"

namespace weir {
namespace {

constexpr TimeDelta kFeedbackInterval = TimeDelta::Millis(50);
constexpr TimeDelta kRoundTripTime = TimeDelta::Millis(50);
constexpr DataSize kPacketSize = DataSize::Bytes(1248);

// A sender whose packets arrive evenly, with 0 to 2 ms of queueing delay that follow a fixed pattern.
class EvenCall {
 public:
  EvenCall(SenderController& controller, DataRate rate)
      : controller_(controller), packets_(static_cast<int64_t>(kFeedbackInterval / (kPacketSize / rate))) {
    controller_.OnTargetRateConstraints({.at_time = now_});
    RunTimers();
  }

  // Sends for one feedback interval and returns, not yet handed in, the feedback on the interval before.
  TransportPacketsFeedback Advance() {
    TransportPacketsFeedback feedback;
    feedback.packet_feedbacks.swap(unreported_);
    for (int64_t i = 0; i < packets_; ++i) {
      SentPacket packet;
      packet.send_time = now_ + TimeDelta::Micros(kFeedbackInterval.us() * i / packets_);
      packet.size = kPacketSize;
      packet.sequence_number = sequence_number_++;
      packet.data_in_flight = kPacketSize * static_cast<double>(packets_ + i + 1);
      controller_.OnSentPacket(packet);
      const TimeDelta queueing_delay = TimeDelta::Micros(packet.sequence_number * 7919 % 2000);
      unreported_.push_back({packet, packet.send_time + TimeDelta::Millis(25) + queueing_delay});
    }
    now_ += kFeedbackInterval;
    feedback.feedback_time = now_;
    feedback.data_in_flight = kPacketSize * static_cast<double>(packets_);
    if (++feedbacks_ % 20 == 0) {
      controller_.OnTransportLossReport({now_, now_ - TimeDelta::Seconds(1), now_, 0, 20 * packets_});
      controller_.OnRoundTripTimeUpdate({now_, kRoundTripTime});
    }
    RunTimers();
    return feedback;
  }

 private:
  void RunTimers() {
    while (controller_.next_timeout() <= now_) benchmark::DoNotOptimize(controller_.OnTimeout(now_));
  }

  SenderController& controller_;
  const int64_t packets_;
  Timestamp now_ = Timestamp::Micros(0);
  int64_t sequence_number_ = 0;
  int64_t feedbacks_ = 0;
  std::vector<PacketResult> unreported_;
};

// The argument is the sending rate in kbps. Counters: feedback_us_p50, feedback_us_p99, packets_per_feedback.
void GccFeedback(benchmark::State& state) {
  const auto controller = MakeGccController();
  EvenCall call(*controller, DataRate::KilobitsPerSecond(state.range(0)));
  // Past the start phase.
  for (int i = 0; i < 200; ++i) controller->OnTransportPacketsFeedback(call.Advance());
  std::vector<double> durations_us;
  size_t packets = 0;
  for (auto _ : state) {
    const TransportPacketsFeedback feedback = call.Advance();
    const auto begin = std::chrono::steady_clock::now();
    controller->OnTransportPacketsFeedback(feedback);
    const std::chrono::duration<double> duration = std::chrono::steady_clock::now() - begin;
    state.SetIterationTime(duration.count());
    durations_us.push_back(duration.count() * 1e6);
    packets = feedback.packet_feedbacks.size();
  }
  state.counters["feedback_us_p50"] = Quantile(durations_us, 0.5);
  state.counters["feedback_us_p99"] = Quantile(durations_us, 0.99);
  state.counters["packets_per_feedback"] = static_cast<double>(packets);
}
BENCHMARK(GccFeedback)->Arg(1000)->Arg(2500)->Arg(8000)->UseManualTime();

}  // namespace
}  // namespace weir
