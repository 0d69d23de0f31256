// One direction of a virtual call's packets: from an endpoint of libwebrtc's emulated network over a Link of the
// simulator to the other endpoint.
#ifndef WEIR_CALLS_VIRTUAL_CALL_CALL_PATH_H_
#define WEIR_CALLS_VIRTUAL_CALL_CALL_PATH_H_

#include <cstdint>
#include <functional>
#include <queue>
#include <span>
#include <unordered_map>
#include <vector>

#include "api/task_queue/task_queue_base.h"
#include "api/units/time_delta.h"
#include "core/sim_time.h"
#include "link/link.h"
#include "link/packet.h"
#include "test/network/network_emulation.h"
#include "virtual_call/virtual_clock.h"

namespace weir::sim {

// Observes the packets of one direction. `packet` has size, times, drop cause, and in `rtp.ecn` the ECN field at the
// far end; `data` is the UDP payload.
class PathObserver {
 public:
  virtual ~PathObserver() = default;
  // May change the payload.
  virtual void OnSent(Packet& packet, std::span<uint8_t> data) = 0;
  virtual void OnReceived(const Packet& packet, std::span<const uint8_t> data, SimTime arrival_time) = 0;
  virtual void OnDropped(const Packet& packet, std::span<const uint8_t> data) = 0;
};

struct CallPathConfig {
  VirtualClock* clock = nullptr;
  Link* link = nullptr;
  SimDuration extra_delay = SimDuration::Zero();
  webrtc::EmulatedEndpointImpl* from = nullptr;
  webrtc::EmulatedEndpointImpl* to = nullptr;
  PathObserver* observer = nullptr;
  // Draws how long a packet waits for its host after its arrival; null if packets do not wait.
  std::function<SimDuration(SimTime arrival)> host_delay = nullptr;
};

// Before UseLink() at the scenario's start, packets have only the path's own delay: calls connect unimpaired.
class CallPath final : public webrtc::EmulatedNetworkReceiverInterface, private PacketSink {
 public:
  // Everything in `config` must outlive this object, and this object the emulated network's last task.
  explicit CallPath(const CallPathConfig& config);
  ~CallPath() override = default;
  CallPath(const CallPath&) = delete;
  CallPath& operator=(const CallPath&) = delete;

  void UseLink() { uses_link_ = true; }
  // Discards all packets from now on. Call before the link is destroyed, while ends may still send.
  void Stop() { stopped_ = true; }

 private:
  struct Arrival {
    SimTime time;
    int64_t number;
    friend bool operator>(const Arrival& a, const Arrival& b) {
      return a.time != b.time ? a.time > b.time : a.number > b.number;
    }
  };
  struct InFlight {
    webrtc::EmulatedIpPacket ip_packet;
    // Set once the link has determined the arrival; the host may process it later.
    Packet packet;
    SimTime arrival_time = kTimeZero;
  };

  // EmulatedNetworkReceiverInterface, called on its task queue.
  void OnPacketReceived(webrtc::EmulatedIpPacket ip_packet) override;
  bool needs_event() const override { return false; }
  void OnPacket(Packet&& packet, SimTime arrival_time) override;
  void OnDropped(const Packet& packet) override;

  void Send(webrtc::EmulatedIpPacket ip_packet);
  void Deliver(webrtc::EmulatedIpPacket ip_packet) const;
  void WakeUpInTime();
  void OnWakeUp();
  SimTime NextEvent() const;

  const CallPathConfig config_;
  // True if departures become known only when the engine reaches them.
  const bool follows_engine_;
  bool uses_link_ = false;
  bool stopped_ = false;
  webrtc::TaskQueueBase* queue_ = nullptr;
  int64_t next_number_ = 0;
  std::unordered_map<int64_t, InFlight> in_flight_;
  std::priority_queue<Arrival, std::vector<Arrival>, std::greater<>> arrivals_;
  // Time of the earliest posted task.
  SimTime wake_up_time_ = kNever;
};

}  // namespace weir::sim

#endif  // WEIR_CALLS_VIRTUAL_CALL_CALL_PATH_H_
