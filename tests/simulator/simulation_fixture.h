// Fixture of the simulator's tests: one ns-3 simulation per test, a recording sink, and packets sent at given times.
#ifndef WEIR_TESTS_SIMULATOR_SIMULATION_FIXTURE_H_
#define WEIR_TESTS_SIMULATOR_SIMULATION_FIXTURE_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/event.h"
#include "endpoints/flow.h"
#include "link/link.h"
#include "link/packet.h"

namespace weir::sim {

inline constexpr int64_t kMs = 1'000'000;
inline constexpr int64_t kSecond = 1'000'000'000;

class RecordingSink final : public PacketSink {
 public:
  struct Received {
    int64_t sent_ns;
    int64_t arrival_ns;
    // When OnPacket was called.
    int64_t called_ns;
    uint32_t size_bytes;
    EcnMarking ecn;
    friend bool operator==(const Received&, const Received&) = default;
  };

  explicit RecordingSink(bool needs_event) : needs_event_(needs_event) {}
  bool needs_event() const override { return needs_event_; }
  void OnPacket(Packet&& packet, int64_t arrival_time_ns) override {
    received.push_back({packet.sent_time_ns, arrival_time_ns, NowNs(), packet.size_bytes, packet.rtp.ecn});
  }
  void OnDropped(const Packet& packet) override { dropped.emplace_back(packet.sent_time_ns, NowNs()); }

  void Send(Link& link, uint32_t size_bytes, int64_t extra_delay_ns = 0, EcnMarking ecn = EcnMarking::kNotEct) {
    Packet packet;
    packet.rtp.ecn = ecn;
    packet.size_bytes = size_bytes;
    packet.sink = this;
    packet.sent_time_ns = NowNs();
    packet.extra_delay_ns = extra_delay_ns;
    link.Send(std::move(packet));
  }

  std::vector<Received> received;
  // Times of sending and of the drop.
  std::vector<std::pair<int64_t, int64_t>> dropped;

 private:
  const bool needs_event_;
};

class SimulationTest : public ::testing::Test {
 protected:
  SimulationTest() { UseEventEngine(); }
  ~SimulationTest() override { ns3::Simulator::Destroy(); }

  // Starts a new simulation in the same test.
  static void NextSimulation() {
    ns3::Simulator::Destroy();
    UseEventEngine();
  }
  static void RunUntil(int64_t time_ns) {
    ns3::Simulator::Stop(ns3::TimeStep(time_ns - NowNs()));
    ns3::Simulator::Run();
  }
  template <class Function>
  static void At(int64_t time_ns, Function function) {
    ns3::Simulator::Schedule(ns3::TimeStep(time_ns - NowNs()), std::move(function));
  }
  // Sends `count` packets of `size_bytes`, one every `interval_ns` from time 0 on.
  static void SendEvery(Link& link, RecordingSink& sink, int64_t interval_ns, int count, uint32_t size_bytes) {
    for (int i = 0; i < count; ++i) {
      At(i * interval_ns, [&link, &sink, size_bytes] { sink.Send(link, size_bytes); });
    }
  }
};

class CountingObserver final : public FlowObserver {
 public:
  void OnSent(const Packet& packet) override {
    ++packets_sent;
    if (first_sent_ns < 0) {
      first_sent_ns = packet.sent_time_ns;
      first_size_bytes = packet.size_bytes;
    }
    packets_like_first += packet.size_bytes == first_size_bytes;
    last_sent_ns = packet.sent_time_ns;
  }
  void OnReceived(const Packet& packet, int64_t arrival_time_ns) override {
    ++packets_received;
    bytes_received += packet.size_bytes;
    if (arrival_time_ns >= count_from_ns) bytes_received_late += packet.size_bytes;
    const int64_t delay_ns = arrival_time_ns - packet.sent_time_ns;
    if (min_delay_ns < 0 || delay_ns < min_delay_ns) min_delay_ns = delay_ns;
    max_delay_ns = std::max(max_delay_ns, delay_ns);
    last_arrival_ns = arrival_time_ns;
  }
  void OnDropped(const Packet&) override { ++packets_dropped; }
  void OnDelivered(int64_t bytes, int64_t) override { bytes_delivered += bytes; }

  int64_t packets_sent = 0, packets_received = 0, packets_dropped = 0, bytes_received = 0, bytes_delivered = 0;
  int64_t first_sent_ns = -1, last_sent_ns = -1, last_arrival_ns = -1, min_delay_ns = -1, max_delay_ns = -1;
  // For TCP, a packet as large as the first opens a connection.
  int64_t first_size_bytes = 0, packets_like_first = 0;
  // `bytes_received_late` has only what arrives from `count_from_ns` on.
  int64_t count_from_ns = 0, bytes_received_late = 0;
};

// A link with unlimited capacity, 25 ms of delay and a queue of 300 ms.
inline LinkSpec UsualLink() {
  LinkSpec spec;
  spec.one_way_delay_ns = 25 * kMs;
  spec.queue.amount = 300;
  return spec;
}

inline LinkSpec LinkOf(int64_t rate_bps, int64_t one_way_delay_ns = 25 * kMs) {
  LinkSpec spec = UsualLink();
  spec.capacity = CapacityTrace({0}, {rate_bps});
  spec.one_way_delay_ns = one_way_delay_ns;
  return spec;
}

// Starts a flow that is not RTP, with the random streams of the flow `index`. Destroy the result after the last event.
inline std::shared_ptr<void> StartFlow(const FlowSpec& spec, Link* data, Link* back, FlowObserver* observer,
                                       size_t index = 0) {
  struct Started {
    SimulationJob job;
    std::shared_ptr<void> flow;
  };
  const auto started = std::make_shared<Started>();
  SimulationJob& job = started->job;
  job.scenario.flows.assign(index + 1, spec);
  // Makes random_seed() 1.
  job.seed = 0;
  job.seed = 1 - job.random_seed();
  const Flow flow{.job = job, .index = index, .data_link = data, .return_link = back, .observer = observer};
  std::visit(
      [&](const auto& kind) {
        if constexpr (requires { kind.Start(flow); }) started->flow = kind.Start(flow);
      },
      flow.spec().kind);
  return started;
}

}  // namespace weir::sim

#endif  // WEIR_TESTS_SIMULATOR_SIMULATION_FIXTURE_H_
