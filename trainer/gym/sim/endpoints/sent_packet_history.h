// The sender's half of transport feedback: turns what a receiver reports into what a rate controller wants to know.
#ifndef WEIR_TRAINER_GYM_SIM_ENDPOINTS_SENT_PACKET_HISTORY_H_
#define WEIR_TRAINER_GYM_SIM_ENDPOINTS_SENT_PACKET_HISTORY_H_

#include <cstdint>
#include <deque>
#include <optional>

#include "endpoints/rtcp_messages.h"
#include "weir/network_types.h"

namespace weir::sim {

class SentPacketHistory {
 public:
  // `packet.sequence_number` counts from 0 without gaps. Fills in `packet.data_in_flight`.
  void OnSentPacket(SentPacket& packet);
  // Nothing when the report says nothing new. A lost packet stays known, since it may have been late.
  std::optional<TransportPacketsFeedback> OnTransportFeedback(const TransportFeedback& feedback, Timestamp now);

 private:
  struct Entry {
    SentPacket packet;
    bool in_flight = true;
    bool received = false;
  };

  void Forget(Timestamp now);

  // Packets from `first_sequence_number_` on.
  std::deque<Entry> entries_;
  int64_t first_sequence_number_ = 0;
  // Everything before this has been reported on or passed over.
  int64_t next_in_flight_ = 0;
  DataSize data_in_flight_ = DataSize::Zero();
};

}  // namespace weir::sim

#endif  // WEIR_TRAINER_GYM_SIM_ENDPOINTS_SENT_PACKET_HISTORY_H_
