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
#include "nanoseconds.h"

namespace weir::sim {

class RecordingSink final : public PacketSink {
 public:
  struct Received {
    SimTime sent;
    SimTime arrival;
    // When OnPacket was called.
    SimTime called;
    uint32_t size_bytes;
    EcnMarking ecn;
    friend bool operator==(const Received&, const Received&) = default;
  };

  explicit RecordingSink(bool needs_event) : needs_event_(needs_event) {}
  bool needs_event() const override { return needs_event_; }
  void OnPacket(Packet&& packet, SimTime arrival_time) override {
    received.push_back({packet.sent_time, arrival_time, Now(), packet.size_bytes, packet.rtp.ecn});
  }
  void OnDropped(const Packet& packet) override { dropped.emplace_back(packet.sent_time, Now()); }

  void Send(Link& link, uint32_t size_bytes, SimDuration extra_delay = SimDuration::Zero(),
            EcnMarking ecn = EcnMarking::kNotEct) {
    Packet packet;
    packet.rtp.ecn = ecn;
    packet.size_bytes = size_bytes;
    packet.sink = this;
    packet.sent_time = Now();
    packet.extra_delay = extra_delay;
    link.Send(std::move(packet));
  }

  std::vector<Received> received;
  // Times of sending and of the drop.
  std::vector<std::pair<SimTime, SimTime>> dropped;

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
  static void RunUntil(SimTime time) {
    ns3::Simulator::Stop(ns3::TimeStep((time - Now()).ns()));
    ns3::Simulator::Run();
  }
  template <class Function>
  static void At(SimTime time, Function function) {
    ns3::Simulator::Schedule(ns3::TimeStep((time - Now()).ns()), std::move(function));
  }
  // Sends `count` packets of `size_bytes`, one every `interval` from time 0 on.
  static void SendEvery(Link& link, RecordingSink& sink, SimDuration interval, int count, uint32_t size_bytes) {
    for (int i = 0; i < count; ++i) {
      At(kTimeZero + i * interval, [&link, &sink, size_bytes] { sink.Send(link, size_bytes); });
    }
  }
};

class CountingObserver final : public FlowObserver {
 public:
  void OnSent(const Packet& packet) override {
    ++packets_sent;
    if (first_sent == kNever) {
      first_sent = packet.sent_time;
      first_size_bytes = packet.size_bytes;
    }
    packets_like_first += packet.size_bytes == first_size_bytes;
    last_sent = packet.sent_time;
  }
  void OnReceived(const Packet& packet, SimTime arrival_time) override {
    ++packets_received;
    bytes_received += packet.size_bytes;
    if (arrival_time >= count_from) bytes_received_late += packet.size_bytes;
    const SimDuration delay = arrival_time - packet.sent_time;
    min_delay = std::min(min_delay, delay);
    max_delay = std::max(max_delay, delay);
    last_arrival = arrival_time;
  }
  void OnDropped(const Packet&) override { ++packets_dropped; }
  void OnDelivered(int64_t bytes, SimTime) override { bytes_delivered += bytes; }

  int64_t packets_sent = 0, packets_received = 0, packets_dropped = 0, bytes_received = 0, bytes_delivered = 0;
  SimTime first_sent = kNever, last_sent = kNever, last_arrival = kNever;
  SimDuration min_delay = kForever, max_delay = SimDuration::Zero();
  // For TCP, a packet as large as the first opens a connection.
  int64_t first_size_bytes = 0, packets_like_first = 0;
  // `bytes_received_late` has only what arrives from `count_from` on.
  SimTime count_from = kTimeZero;
  int64_t bytes_received_late = 0;
};

// A link with unlimited capacity, 25 ms of delay and a queue of 300 ms.
inline LinkSpec UsualLink() {
  LinkSpec spec;
  spec.one_way_delay = SimDuration(25 * kMs);
  spec.queue.amount = 300;
  return spec;
}

inline LinkSpec LinkOf(int64_t rate_bps, SimDuration one_way_delay = 25 * kMs) {
  LinkSpec spec = UsualLink();
  spec.capacity = CapacityTrace({kTimeZero}, {rate_bps});
  spec.one_way_delay = one_way_delay;
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
