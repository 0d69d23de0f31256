// A room of an SFU: its publishers, whose packets reach every subscriber's forwarder.
#ifndef WEIR_CALLS_VIRTUAL_CALL_ROOM_H_
#define WEIR_CALLS_VIRTUAL_CALL_ROOM_H_

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "api/task_queue/task_queue_base.h"
#include "api/test/time_controller.h"
#include "endpoints/simulation_job.h"
#include "virtual_call/simulcast_publisher.h"
#include "virtual_call/virtual_clock.h"

namespace weir::sim {

class Room {
 public:
  class Forwarder {
   public:
    virtual ~Forwarder() = default;
    virtual void OnPacket(const SimulcastPacket& packet) = 0;
  };

  // All arguments must outlive this object. Screens come first.
  Room(const SimulationJob& job, webrtc::TimeController* time, VirtualClock* clock);

  // Publishes from now on. Call once.
  void Start();
  void Add(Forwarder* forwarder) { forwarders_.push_back(forwarder); }
  void Remove(Forwarder* forwarder) { std::erase(forwarders_, forwarder); }

  std::span<const std::unique_ptr<SimulcastPublisher>> publishers() const { return publishers_; }
  // The SFU's.
  webrtc::TaskQueueBase* queue() const { return queue_.get(); }

 private:
  std::vector<Forwarder*> forwarders_;
  std::vector<std::unique_ptr<SimulcastPublisher>> publishers_;
  // Destroyed first, with its tasks.
  std::unique_ptr<webrtc::TaskQueueBase, webrtc::TaskQueueDeleter> queue_;
};

}  // namespace weir::sim

#endif  // WEIR_CALLS_VIRTUAL_CALL_ROOM_H_
