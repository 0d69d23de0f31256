// A TCP flow of ns-3: two hosts of its own whose network devices put their packets on the links of the path, data on
// one, acknowledgements on the other.
#ifndef WEIR_TRAINER_GYM_SIM_FLOWS_TCP_FLOW_H_
#define WEIR_TRAINER_GYM_SIM_FLOWS_TCP_FLOW_H_

#include <cstdint>
#include <memory>

#include "endpoints/flow_observer.h"
#include "link/link.h"
#include "scenario/scenario.h"

namespace weir::sim {

class TcpFlow {
 public:
  // `spec.kind` holds a TcpSpec. `observer` sees the packets from the sender to the receiver (retransmissions and
  // handshake included) and what is in flight, not the acknowledgements; may be null. Uses the random streams `stream`
  // to `stream + 15` of `seed`. Links and observer outlive the simulation's last event, and so does the flow.
  TcpFlow(const FlowSpec& spec, Link* data_link, Link* acknowledgement_link, FlowObserver* observer, uint64_t seed,
          uint64_t stream);
  ~TcpFlow();
  TcpFlow(const TcpFlow&) = delete;
  TcpFlow& operator=(const TcpFlow&) = delete;

  // Payload bytes that have reached the receiving application, in order.
  int64_t bytes_delivered() const;
  int64_t transfers_completed() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace weir::sim

#endif  // WEIR_TRAINER_GYM_SIM_FLOWS_TCP_FLOW_H_
