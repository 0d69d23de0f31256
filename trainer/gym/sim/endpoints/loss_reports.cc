#include "endpoints/loss_reports.h"

#include <utility>

namespace weir::sim {

std::optional<TransportLossReport> LossReports::OnReceiverReport(const ReceiverReport& report, Timestamp now) {
  int64_t expected = 0;
  int64_t lost = 0;
  for (size_t i = 0; i < last_blocks_.size(); ++i) {
    if (!report.blocks[i]) continue;
    ReportBlock& last = last_blocks_[i];
    expected += report.blocks[i]->extended_highest_sequence_number - last.extended_highest_sequence_number;
    lost += report.blocks[i]->cumulative_packets_lost - last.cumulative_packets_lost;
    last = *report.blocks[i];
  }
  if (expected == 0) return std::nullopt;
  const Timestamp start = std::exchange(last_report_, now);
  if (expected - lost < 1) return std::nullopt;
  return TransportLossReport{.receive_time = now,
                             .start_time = start,
                             .end_time = now,
                             .packets_lost_delta = lost,
                             .packets_received_delta = expected - lost};
}

}  // namespace weir::sim
