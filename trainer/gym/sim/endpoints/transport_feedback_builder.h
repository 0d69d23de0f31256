// The receiver's half of transport feedback: remembers arrivals by transport sequence number and reports on them, what
// is missing included.
#ifndef WEIR_TRAINER_GYM_SIM_ENDPOINTS_TRANSPORT_FEEDBACK_BUILDER_H_
#define WEIR_TRAINER_GYM_SIM_ENDPOINTS_TRANSPORT_FEEDBACK_BUILDER_H_

#include <cstdint>
#include <deque>
#include <optional>

#include "endpoints/rtcp_messages.h"

namespace weir::sim {

class TransportFeedbackBuilder {
 public:
  void OnPacket(int64_t sequence_number, int64_t arrival_time_ns);
  // On everything since the last report, up to the newest packet; when a packet came late, on everything from that one.
  // Nothing when nothing arrived.
  std::optional<TransportFeedback> Build(int64_t now_ns);

 private:
  struct Entry {
    int64_t receive_time_us = TransportFeedback::kNotReceived;
    // When it was first reported on; 0 before.
    int64_t reported_us = 0;
  };

  // Packets from `first_sequence_number_` on.
  std::deque<Entry> entries_;
  int64_t first_sequence_number_ = 0;
  int64_t next_to_report_ = 0;
  bool news_ = false;
};

}  // namespace weir::sim

#endif  // WEIR_TRAINER_GYM_SIM_ENDPOINTS_TRANSPORT_FEEDBACK_BUILDER_H_
