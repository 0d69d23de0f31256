// RTCP feedback about losses and arrivals: built at the receiver, matched with sent packets at the sender.
#ifndef WEIR_SIMULATOR_ENDPOINTS_TRANSPORT_FEEDBACK_H_
#define WEIR_SIMULATOR_ENDPOINTS_TRANSPORT_FEEDBACK_H_

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "core/sim_time.h"
#include "endpoints/rtcp_messages.h"
#include "weir/sender_controller.h"

namespace weir::sim {

class SentPacketHistory {
 public:
  // `packet.sequence_number` counts from 0 without gaps. Fills in `packet.data_in_flight`.
  void OnSentPacket(SentPacket& packet, int stream);
  // Returns nullopt if the report has nothing new. A lost packet is kept, since it may only be late.
  std::optional<TransportPacketsFeedback> OnTransportFeedback(const TransportFeedback& feedback, Timestamp now);
  // As in libwebrtc, a packet that was sent between two packets of the report but is not in it counts as lost.
  std::optional<TransportPacketsFeedback> OnCongestionControlFeedback(const CongestionControlFeedback& feedback,
                                                                      Timestamp now);

  DataSize data_in_flight() const { return data_in_flight_; }

 private:
  struct Entry {
    SentPacket packet;
    int stream = 0;
    bool in_flight = true;
    bool received = false;
    // Reported by RFC 8888 feedback.
    bool reported_lost = false;
  };
  struct Stream {
    // Transport-wide sequence numbers of the kept packets, in the order of the stream.
    std::deque<int64_t> packets;
    int64_t first = 0;
  };

  void Forget(Timestamp now);
  // Null for a packet that was never sent or is forgotten.
  Entry* Find(int64_t sequence_number);
  // Removes all packets before `end` from the data in flight. Returns nullopt without results.
  std::optional<TransportPacketsFeedback> Finish(std::vector<PacketResult> results, int64_t end, Timestamp now);

  // Packets from `first_sequence_number_` on.
  std::deque<Entry> entries_;
  int64_t first_sequence_number_ = 0;
  std::array<Stream, kStreamsPerFlow> streams_;
  // All packets before this have been reported on or skipped.
  int64_t next_in_flight_ = 0;
  DataSize data_in_flight_ = DataSize::Zero();
};

class TransportFeedbackBuilder {
 public:
  // Arrival times are rounded down to whole ticks.
  void OnPacket(int64_t sequence_number, SimTime arrival_time, EcnMarking ecn = EcnMarking::kNotEct,
                int64_t tick_us = 250);
  // Reports on all packets since the last report, or since the earliest late packet. Returns nullopt if nothing
  // arrived.
  std::optional<TransportFeedback> Build(SimTime now);

 private:
  struct Entry {
    int64_t receive_time_us = TransportFeedback::kNotReceived;
    EcnMarking ecn = EcnMarking::kNotEct;
    // When the packet was first reported on; 0 before.
    int64_t reported_us = 0;
  };

  // Packets from `first_sequence_number_` on.
  std::deque<Entry> entries_;
  int64_t first_sequence_number_ = 0;
  int64_t next_to_report_ = 0;
  bool news_ = false;
};

// Splits the arrivals into messages that each end before a loss.
std::vector<TransportFeedback> WithoutLosses(const TransportFeedback& feedback);

class LossReports {
 public:
  // `start`: when sending began, which is also the start of the first report's period.
  explicit LossReports(Timestamp start) : last_report_(start) {}

  // As in libwebrtc's transport, there is no report if nothing is new or nothing was received.
  std::optional<TransportLossReport> OnReceiverReport(const ReceiverReport& report, Timestamp now);

 private:
  std::array<ReportBlock, kStreamsPerFlow> last_blocks_;
  Timestamp last_report_;
};

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_ENDPOINTS_TRANSPORT_FEEDBACK_H_
