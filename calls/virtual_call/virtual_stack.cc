#include "virtual_call/virtual_stack.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "api/test/time_controller.h"
#include "core/random.h"
#include "programs/input.h"
#include "rtc_base/crypto_random.h"
#include "test/network/network_emulation_manager.h"
#include "virtual_call/room.h"
#include "virtual_call/subscriber.h"
#include "virtual_call/virtual_call.h"
#include "virtual_call/virtual_clock.h"

namespace weir::sim {
namespace {

using webrtc::TimeDelta;

constexpr uint64_t kLibwebrtcStream = 512;
constexpr TimeDelta kConnectStep = TimeDelta::Millis(1);
constexpr TimeDelta kConnectLimit = TimeDelta::Seconds(30);
// With an agent, the interval at which a stop of the run is detected.
constexpr SimDuration kLongestStep = SimDuration::Millis(20);

// Random numbers for SSRCs, names and identifiers of calls.
class SeededRandom final : public webrtc::RandomGenerator {
 public:
  explicit SeededRandom(uint64_t seed) : random_(seed, kLibwebrtcStream) {}
  bool Generate(void* buffer, size_t size) override {
    auto* const bytes = static_cast<uint8_t*>(buffer);
    std::generate_n(bytes, size, [this] { return static_cast<uint8_t>(random_.Next() >> 32); });
    return true;
  }

 private:
  RandomStream random_;
};

class VirtualStack final : public Stack {
 public:
  explicit VirtualStack(const SimulationJob& job)
      : job_(job),
        network_({.time_mode = webrtc::TimeMode::kSimulated, .fake_dtls_handshake_sizes = true}),
        time_(network_.time_controller()),
        clock_(time_->GetClock()) {
    webrtc::SetRandomGenerator(std::make_unique<SeededRandom>(job.random_seed()));
  }

  std::unique_ptr<RtpEnds> AddRtpFlow(const Flow& flow) override {
    std::unique_ptr<VirtualEnds> ends;
    if (job_.call.room.publishers() > 0) {
      if (!room_) room_ = std::make_unique<Room>(job_, time_, &clock_);
      ends = std::make_unique<Subscriber>(flow, room_.get(), &network_, &clock_);
    } else {
      ends = std::make_unique<VirtualCall>(flow, &network_, &clock_);
    }
    clock_.RethrowFailure();
    calls_.push_back(ends.get());
    return ends;
  }

  void Run() override {
    Connect();
    clock_.Start();
    for (VirtualEnds* const call : calls_) call->UseLinks();
    if (room_) room_->Start();
    for (const VirtualEnds::Step& step : Steps()) {
      if (!AdvanceTo(step.time)) break;
      step.action();
    }
    AdvanceTo(job_.scenario.end());
    for (VirtualEnds* const call : calls_) call->RequestStats();
    Advance(TimeDelta::Zero());
  }

 private:
  void Connect() {
    for (VirtualEnds* const call : calls_) call->Connect();
    TimeDelta waited = TimeDelta::Zero();
    while (!std::ranges::all_of(calls_, &VirtualEnds::connected)) {
      if (waited > kConnectLimit) throw ProgramError("the call does not connect within 30 s", kFailed);
      Advance(kConnectStep);
      waited += kConnectStep;
    }
  }

  // Steps of all calls, in order of time.
  std::vector<VirtualEnds::Step> Steps() const {
    std::vector<VirtualEnds::Step> steps;
    for (VirtualEnds* const call : calls_) {
      for (VirtualEnds::Step& step : call->Steps()) {
        if (step.time < job_.scenario.end()) steps.push_back(std::move(step));
      }
    }
    std::ranges::stable_sort(steps, {}, &VirtualEnds::Step::time);
    return steps;
  }

  // False if the run was stopped before `time`.
  bool AdvanceTo(SimTime time) {
    while (clock_.SimNow() < time) {
      const SimDuration rest = time - clock_.SimNow();
      const SimDuration step = job_.agent ? std::min(rest, kLongestStep) : rest;
      Advance(TimeDelta::Micros((step.ns() + 999) / 1000));
      clock_.StepToNow();
      clock_.RethrowFailure();
      if (EventEngine::Current()->IsFinished() && clock_.SimNow() < job_.scenario.end()) return false;
    }
    return true;
  }
  void Advance(TimeDelta duration) {
    time_->AdvanceTime(duration);
    clock_.RethrowFailure();
  }

  const SimulationJob& job_;
  webrtc::test::NetworkEmulationManagerImpl network_;
  webrtc::TimeController* const time_;
  VirtualClock clock_;
  std::vector<VirtualEnds*> calls_;
  // Null without a room.
  std::unique_ptr<Room> room_;
};

}  // namespace

std::unique_ptr<Stack> MakeVirtualStack(const SimulationJob& job) { return std::make_unique<VirtualStack>(job); }

}  // namespace weir::sim
