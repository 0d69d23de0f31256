#include "uplink.h"

#include <algorithm>
#include <array>
#include <new>
#include <utility>

namespace weir::mediasoup {
namespace {

constexpr int64_t kRepeatUs = 200'000;
constexpr int64_t kLongestStartUs = 10'000'000;
constexpr int kLifts = 4;
// A decision is due about every 100 ms; this is for the file that decides who is in charge.
constexpr int64_t kLongestWaitUs = 200'000;

}  // namespace

Uplink::Uplink(const Settings& settings, const std::string& connection, std::string other)
    : connection_(*settings.connections, observe::ConnectionId(connection), std::move(other)) {
  weir_estimator_config config = EstimatorConfig();
  weir_estimator* estimator = nullptr;
  // The settings are valid, so only memory can be missing.
  if (weir_estimator_create(settings.controller.get(), &config, &estimator) != WEIR_OK) throw std::bad_alloc();
  estimator_.reset(estimator);
}

void Uplink::OnPacket(const weir_packet& packet) {
  latest_packet_us_ = packet.arrival_time_us;
  weir_estimator_on_packet(estimator_.get(), &packet);
}

void Uplink::RemoveStream(uint32_t ssrc) { weir_estimator_remove_stream(estimator_.get(), ssrc); }

int64_t Uplink::target_bps() const {
  weir_estimate estimate{};
  weir_estimator_get_estimate(estimator_.get(), &estimate);
  return estimate.target_rate_bps;
}

// From the REMB of the library: after 16 bytes their number and the rate, then four bytes for each.
std::vector<uint32_t> Uplink::Ssrcs() const {
  std::array<uint8_t, 1040> packet{};
  const int size = weir_estimator_write_remb(estimator_.get(), 0, packet.data(), packet.size());
  std::vector<uint32_t> ssrcs;
  for (int i = 20; i + 4 <= size; i += 4) {
    ssrcs.push_back(uint32_t{packet[i]} << 24 | uint32_t{packet[i + 1]} << 16 | uint32_t{packet[i + 2]} << 8 |
                    packet[i + 3]);
  }
  return ssrcs;
}

std::optional<Remb> Uplink::Poll(std::optional<int64_t> other_bps, int64_t now_us) {
  if (!began_us_) began_us_ = now_us;
  const int result = weir_estimator_on_timeout(estimator_.get(), now_us, nullptr);
  bool due = result > 0 && (result & WEIR_REMB_DUE) != 0;
  if (latest_packet_us_ && connection_.ObservationIsDue(*latest_packet_us_, now_us)) {
    weir_estimator_statistics statistics{};
    if (weir_estimator_get_statistics(estimator_.get(), now_us, &statistics, sizeof statistics) == WEIR_OK) {
      connection_.Observe(statistics, other_bps, now_us);
    }
  }
  const bool was_in_charge = std::exchange(is_weir_in_charge_, connection_.IsWeirInCharge(now_us));
  if (was_in_charge != is_weir_in_charge_) {
    lifts_ = is_weir_in_charge_ ? 0 : kLifts;
    due = true;
  }
  const bool repeats = !latest_packet_us_ && now_us - *began_us_ < kLongestStartUs;
  due = due || ((repeats || lifts_ > 0) && now_us - sent_us_ >= kRepeatUs);
  next_us_ = std::clamp(weir_estimator_next_timeout_us(estimator_.get()), now_us, now_us + kLongestWaitUs);
  if (!due || (!is_weir_in_charge_ && lifts_ == 0)) return std::nullopt;
  sent_us_ = now_us;
  if (is_weir_in_charge_) return Remb{target_bps(), Ssrcs()};
  --lifts_;
  return Remb{};
}

}  // namespace weir::mediasoup
