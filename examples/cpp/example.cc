// Weir in a custom receiver: loads a model, feeds it the packets of four seconds, prints the rates of the REMBs.
//
//   cmake -S examples/cpp -B build/example -DCMAKE_PREFIX_PATH=PREFIX && cmake --build build/example
//   build/example/example PREFIX/share/weir/weir.onnx
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "weir/bandwidth_estimator.h"
#include "weir/controllers.h"
#include "weir/remb_sender.h"

// Stands for a socket: 1,200 bytes every 4 ms, 25 ms after they were sent.
std::vector<weir::PacketArrival> ReceivedPackets() {
  std::vector<weir::PacketArrival> packets(1000);
  for (size_t i = 0; i < packets.size(); ++i) {
    const uint64_t sent_us = 4000 * i;
    packets[i] = {.arrival_time = weir::Timestamp::Micros(static_cast<int64_t>(sent_us) + 25'000),
                  .ssrc = 1,
                  .sequence_number = static_cast<uint16_t>(i),
                  .has_abs_send_time = true,
                  .abs_send_time = static_cast<uint32_t>((sent_us << 18) / 1'000'000) & 0xffffff,
                  .header_size = 12,
                  .payload_size = 1188};
  }
  return packets;
}

void Send(const weir::Remb& remb, const weir::Estimate& estimate) {
  std::printf("%" PRId64 " us: %" PRId64 " bit/s, %s\n", estimate.at_time.us(), remb.rate.bps(),
              std::string(weir::ToString(estimate.reason)).c_str());
}

int main(int argc, char** argv) {
  std::ifstream file(argc == 2 ? argv[1] : "", std::ios::binary);
  if (!file) {
    std::fprintf(stderr, "usage: %s MODEL\n", argv[0]);
    return 2;
  }
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  const auto packets = ReceivedPackets();
  // README
  auto model = weir::PolicyModel::Load(std::as_bytes(std::span(bytes)));  // checked before its first decision
  if (!model) {
    std::fprintf(stderr, "no model: %s\n", model.error().c_str());
    return 1;
  }
  auto created =
      weir::BandwidthEstimator::Create({.objective = weir::kLatency}, weir::MakePolicyController(model.value()));
  if (!created) return 1;  // created.error() names the invalid part of the configuration
  weir::BandwidthEstimator& estimator = created.value();
  weir::RembSender remb_sender;
  for (const weir::PacketArrival& packet : packets) {
    estimator.OnPacket(packet);
    // In a call a timer calls, also without packets.
    if (remb_sender.next_timeout(estimator) > packet.arrival_time) continue;
    const auto update = remb_sender.OnTimeout(estimator, packet.arrival_time);  // has the estimate when it has changed
    if (update.remb_due) Send(weir::RembFor(estimator), estimator.latest());
  }
  // README
}
