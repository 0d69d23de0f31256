#include "connection.h"

#include <utility>

namespace weir::observe {
namespace {

constexpr int64_t kSecondUs = 1'000'000;

}  // namespace

Connections::Connections(std::string host, std::string folder, double share, Report report)
    : host_(std::move(host)),
      folder_(std::move(folder)),
      report_(std::move(report)),
      in_charge_(folder_.empty() ? "" : folder_ + "/in_charge", share, report_) {}

Connection::Connection(Connections& connections, ConnectionId id, std::string other, std::string feedback)
    : connections_(connections),
      id_(std::move(id)),
      log_(connections.folder_, id_, {std::move(feedback), id_.text, connections.host_, std::move(other)}) {}

bool Connection::ObservationIsDue(int64_t latest_packet_us, int64_t now_us) {
  if (!log_.is_open() || (observed_at_us_ && now_us - *observed_at_us_ < kSecondUs)) return false;
  observed_at_us_ = now_us;
  return now_us - latest_packet_us <= kSecondUs;
}

void Connection::Observe(const weir_estimator_statistics& statistics, std::optional<int64_t> other_bps,
                         int64_t now_us) {
  if (log_.Write(statistics, IsWeirInCharge(now_us), other_bps, now_us)) return;
  connections_.report_("the log of connection " + id_.text + " ends: it cannot be written, or is full");
}

}  // namespace weir::observe
