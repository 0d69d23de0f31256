// The sender's loss accounting: what RTCP receiver reports say of the time between them.
#ifndef WEIR_TRAINER_GYM_SIM_ENDPOINTS_LOSS_REPORTS_H_
#define WEIR_TRAINER_GYM_SIM_ENDPOINTS_LOSS_REPORTS_H_

#include <array>
#include <optional>

#include "endpoints/rtcp_messages.h"
#include "weir/network_types.h"

namespace weir::sim {

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

#endif  // WEIR_TRAINER_GYM_SIM_ENDPOINTS_LOSS_REPORTS_H_
