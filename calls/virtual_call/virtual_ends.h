// An RTP flow whose ends are libwebrtc's, in simulated time.
#ifndef WEIR_CALLS_VIRTUAL_CALL_VIRTUAL_ENDS_H_
#define WEIR_CALLS_VIRTUAL_CALL_VIRTUAL_ENDS_H_

#include <functional>
#include <vector>

#include "core/sim_time.h"
#include "flows/stack.h"

namespace weir::sim {

class VirtualEnds : public RtpEnds {
 public:
  // An action at a time of the scenario.
  struct Step {
    SimTime time;
    std::function<void()> action;
  };
  virtual std::vector<Step> Steps() = 0;

  // Starts to connect, and returns before anything is sent. Call once.
  virtual void Connect() = 0;
  virtual bool connected() const = 0;
  // Makes packets take the scenario's links from now on.
  virtual void UseLinks() = 0;
  // Requests the statistics that AddTo() reads.
  virtual void RequestStats() {}
};

}  // namespace weir::sim

#endif  // WEIR_CALLS_VIRTUAL_CALL_VIRTUAL_ENDS_H_
