// RTCP feedback about losses and arrivals: built at the receiver, matched with sent packets at the sender.
#ifndef WEIR_TRAINER_GYM_SIM_ENDPOINTS_TRANSPORT_FEEDBACK_H_
#define WEIR_TRAINER_GYM_SIM_ENDPOINTS_TRANSPORT_FEEDBACK_H_

#include <array>
#include <cstdint>
#include <deque>
#include <optional>

#include "endpoints/rtcp_messages.h"
#include "sender_controller.h"

namespace weir::sim {

class SentPacketHistory {
 public:
  // `packet.sequence_number` counts from 0 without gaps. Fills in `packet.data_in_flight`.
  void OnSentPacket(SentPacket& packet);
  // Nothing when the report has nothing new. A lost packet is kept, since it may have been late.
  std::optional<TransportPacketsFeedback> OnTransportFeedback(const TransportFeedback& feedback, Timestamp now);

  DataSize data_in_flight() const { return data_in_flight_; }

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

class LossReports {
 public:
  // `start`: when sending began, which is where the first report's time begins.
  explicit LossReports(Timestamp start) : last_report_(start) {}

  // As libwebrtc's transport does it: nothing new, or nothing received, is no report.
  std::optional<TransportLossReport> OnReceiverReport(const ReceiverReport& report, Timestamp now);

 private:
  std::array<ReportBlock, kStreamsPerFlow> last_blocks_;
  Timestamp last_report_;
};

}  // namespace weir::sim

#endif  // WEIR_TRAINER_GYM_SIM_ENDPOINTS_TRANSPORT_FEEDBACK_H_
