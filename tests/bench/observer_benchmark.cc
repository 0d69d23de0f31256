// Cost of Weir beside GoogCC at a sender of libwebrtc: CPU time of one second of a call at 5 Mbps, 500 packets with
// feedback every 50 ms, so that 10 ms are 1 % of a core.
#include <benchmark/benchmark.h>

#include <memory>
#include <utility>
#include <vector>

#include "api/environment/environment_factory.h"
#include "api/transport/goog_cc_factory.h"
#include "benchmarks.h"
#include "sender/observing_network_controller.h"
#include "weir/sender_controller.h"

namespace weir {
namespace {

class Call {
 public:
  explicit Call(webrtc::NetworkControllerFactoryInterface& factory) {
    webrtc::NetworkControllerConfig config(webrtc::CreateEnvironment());
    config.constraints.at_time = now_;
    config.constraints.starting_rate = webrtc::DataRate::KilobitsPerSec(300);
    controller_ = factory.Create(config);
    webrtc::NetworkAvailability available;
    available.at_time = now_;
    available.network_available = true;
    benchmark::DoNotOptimize(controller_->OnNetworkAvailability(available));
  }

  void RunSecond() {
    for (int step = 0; step < 20; ++step) {
      webrtc::TransportPacketsFeedback feedback;
      feedback.packet_feedbacks.swap(unreported_);
      for (int i = 0; i < 25; ++i) {
        webrtc::PacketResult packet;
        packet.sent_packet.send_time = now_ + webrtc::TimeDelta::Millis(2 * i);
        packet.sent_packet.size = webrtc::DataSize::Bytes(1250);
        packet.sent_packet.sequence_number = ++sequence_number_;
        benchmark::DoNotOptimize(controller_->OnSentPacket(packet.sent_packet));
        packet.receive_time =
            packet.sent_packet.send_time + webrtc::TimeDelta::Micros(25'000 + sequence_number_ * 7919 % 2000);
        unreported_.push_back(packet);
      }
      now_ += webrtc::TimeDelta::Millis(50);
      feedback.feedback_time = now_;
      if (!feedback.packet_feedbacks.empty())
        benchmark::DoNotOptimize(controller_->OnTransportPacketsFeedback(std::move(feedback)));
      benchmark::DoNotOptimize(controller_->OnProcessInterval({.at_time = now_, .pacer_queue = {}}));
    }
  }

 private:
  std::unique_ptr<webrtc::NetworkControllerInterface> controller_;
  webrtc::Timestamp now_ = webrtc::Timestamp::Seconds(100);
  int64_t sequence_number_ = 0;
  std::vector<webrtc::PacketResult> unreported_;
};

void Measure(benchmark::State& state, webrtc::NetworkControllerFactoryInterface& factory) {
  Call call(factory);
  for (int i = 0; i < 10; ++i) call.RunSecond();
  for (auto _ : state) call.RunSecond();
}

void BM_SenderSecondGoogCc(benchmark::State& state) {
  webrtc::GoogCcNetworkControllerFactory factory;
  Measure(state, factory);
}
BENCHMARK(BM_SenderSecondGoogCc)->Unit(benchmark::kMicrosecond);

void BM_SenderSecondObserved(benchmark::State& state) {
  auto policy = PolicyAlone(ShippedModel(), nullptr, kSentPacketFeatures);
  if (!policy) {
    state.SkipWithError(policy.error().c_str());
    return;
  }
  ObservingNetworkControllerOptions options;
  options.weir.controller = policy.value();
  options.on_observation = [](const Observation&) {};
  auto factory = MakeObservingNetworkControllerFactory(std::move(options));
  Measure(state, *factory.value());
}
BENCHMARK(BM_SenderSecondObserved)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace weir
