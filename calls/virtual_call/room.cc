#include "virtual_call/room.h"

#include "core/random.h"

namespace weir::sim {
namespace {

// The publishers' random streams are those of the seed and the scenario, not of a flow.
constexpr uint64_t kPublisherStreams = 640;

}  // namespace

Room::Room(const SimulationJob& job, webrtc::TimeController* time, VirtualClock* clock)
    : queue_(time->GetTaskQueueFactory()->CreateTaskQueue("sfu", webrtc::TaskQueueFactory::Priority::kNormal)) {
  const CallMedia::Room& room = job.call.room;
  for (size_t i = 0; i < static_cast<size_t>(room.publishers()); ++i) {
    const auto kind =
        i < static_cast<size_t>(room.screens) ? SimulcastPublisher::Kind::kScreen : SimulcastPublisher::Kind::kCamera;
    publishers_.push_back(
        std::make_unique<SimulcastPublisher>(i, kind, RandomStream(job.random_seed(), kPublisherStreams + i), clock,
                                             queue_.get(), [this](const SimulcastPacket& packet) {
                                               for (Forwarder* const forwarder : forwarders_)
                                                 forwarder->OnPacket(packet);
                                             }));
  }
}

void Room::Start() {
  queue_->PostTask([this] {
    for (const auto& publisher : publishers_) publisher->Start();
  });
}

}  // namespace weir::sim
