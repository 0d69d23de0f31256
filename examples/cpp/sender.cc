// Weir at a sender: loads a model, sends packets for four seconds over a path of 25 ms each way, prints the rates.
//
//   cmake -S examples/cpp -B build/example -DCMAKE_PREFIX_PATH=PREFIX && cmake --build build/example
//   build/example/sender PREFIX/share/weir/weir.onnx
#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <span>
#include <vector>

#include "weir/controllers.h"
#include "weir/send_side_estimator.h"

constexpr weir::DataSize kSize = weir::DataSize::Bytes(1200);
constexpr weir::TimeDelta kInterval = weir::TimeDelta::Millis(4);
constexpr weir::TimeDelta kOneWayDelay = weir::TimeDelta::Millis(25);
constexpr int kPackets = 1000;
constexpr int kPacketsPerFeedback = 12;

// Stands for feedback on the last packets before `end`.
std::vector<weir::PacketFeedback> Reports(int end) {
  std::vector<weir::PacketFeedback> reports;
  for (int i = end - kPacketsPerFeedback; i < end; ++i) {
    reports.push_back({.sequence_number = i,
                       .fate = weir::PacketFate::kReceived,
                       .receive_time = weir::Timestamp::Micros(0) + kInterval * i + kOneWayDelay});
  }
  return reports;
}

// Stands for a pacer and an encoder.
void Apply(weir::Timestamp now, const weir::TargetTransferRate& target, const weir::PacerConfig& pacer,
           weir::DataSize window) {
  std::printf("%" PRId64 " us: target %" PRId64 " bit/s, pacing %" PRId64 " bit/s, window %" PRId64 " bytes\n",
              now.us(), target.target_rate.bps(), pacer.pacing_rate.bps(), window.bytes());
}

int main(int argc, char** argv) {
  std::ifstream file(argc == 2 ? argv[1] : "", std::ios::binary);
  if (!file) {
    std::fprintf(stderr, "usage: %s MODEL\n", argv[0]);
    return 2;
  }
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  auto model = weir::PolicyModel::Load(std::as_bytes(std::span(bytes)));
  if (!model) {
    std::fprintf(stderr, "no model: %s\n", model.error().c_str());
    return 1;
  }
  // README
  auto created = weir::SendSideEstimator::Create({}, weir::MakePolicyController(model.value()));
  if (!created) return 1;  // created.error() names the invalid part of the configuration
  weir::SendSideEstimator& estimator = created.value();
  for (int i = 0; i < kPackets; ++i) {
    const weir::Timestamp now = weir::Timestamp::Micros(0) + kInterval * i;
    estimator.OnSentPacket({.send_time = now, .sequence_number = i, .size = kSize});
    // In a call this is when feedback comes, and a timer calls OnTimeout.
    if (i % kPacketsPerFeedback == 0 && i > kPacketsPerFeedback)
      estimator.OnTransportFeedback(Reports(i - kPacketsPerFeedback), now);
    if (estimator.next_timeout() <= now) estimator.OnTimeout(now);
    if (i % 100 == 99) Apply(now, estimator.target_rate(), estimator.pacer_config(), estimator.congestion_window());
  }
  // README
}
