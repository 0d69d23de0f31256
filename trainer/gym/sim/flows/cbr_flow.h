// Cross traffic at a constant rate that reacts to nothing.
#ifndef WEIR_TRAINER_GYM_SIM_FLOWS_CBR_FLOW_H_
#define WEIR_TRAINER_GYM_SIM_FLOWS_CBR_FLOW_H_

#include <cstdint>

#include "core/event.h"
#include "endpoints/flow_observer.h"
#include "link/link.h"
#include "link/packet.h"
#include "scenario/scenario.h"

namespace weir::sim {

class CbrFlow final : private PacketSink {
 public:
  // `spec.kind` holds a CbrSpec. `observer` may be null. Link, observer and flow outlive the simulation's last event.
  CbrFlow(const FlowSpec& spec, Link* link, FlowObserver* observer);

 private:
  // Observers want to hear at the time of arrival.
  bool needs_event() const override { return true; }
  void OnPacket(Packet&& packet, int64_t arrival_time_ns) override;
  void OnDropped(const Packet& packet) override;
  void SendNext();

  FlowSpec spec_;
  CbrSpec cbr_;
  Link* link_;
  FlowObserver* observer_;
  int64_t packets_sent_ = 0;
  MemberEvent<CbrFlow, &CbrFlow::SendNext> next_packet_;
};

}  // namespace weir::sim

#endif  // WEIR_TRAINER_GYM_SIM_FLOWS_CBR_FLOW_H_
