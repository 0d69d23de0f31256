// A TCP flow of a scenario: its congestion control, or several fused, and its transfers.
#ifndef WEIR_SIMULATOR_SCENARIO_TCP_SPEC_H_
#define WEIR_SIMULATOR_SCENARIO_TCP_SPEC_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "weir/pool_specification.h"

namespace weir::sim {

struct Flow;

enum class TcpCongestionControl { kCubic, kBbr, kNewReno, kLinuxReno, kVegas, kCopa };
// In the order of TcpCongestionControl.
inline constexpr std::array<std::string_view, 6> kTcpCongestionControlNames{"cubic",      "bbr",   "newreno",
                                                                            "linux_reno", "vegas", "copa"};
constexpr std::string_view ToString(TcpCongestionControl kind) {
  return kTcpCongestionControlNames[static_cast<size_t>(kind)];
}

// Short transfers with idle times between them, after RFC 8867 section 5.7.
struct TcpTransfers {
  int64_t min_bytes = 0;
  int64_t max_bytes = 0;
  double idle_mean_s = 0;
  // True if the flow starts with a transfer rather than with an idle time.
  bool start_on = true;

  template <class Reader>
  void Read(Reader& read) {
    // ns-3 counts the bytes of a transfer in 32 bits.
    read.Interval("bytes", min_bytes, max_bytes, {.min = 1, .max = 1e9});
    read.Number("idle_mean_s", idle_mean_s);
    read.Flag("start_on", start_on);
  }
};

struct TcpSpec {
  static constexpr std::string_view kName = "tcp";
  static constexpr bool kHasAccessPath = true;
  // The pilot if there are copilots.
  TcpCongestionControl congestion_control = TcpCongestionControl::kCubic;
  // If empty, one endless transfer.
  std::optional<TcpTransfers> transfers;
  // Other controls on the same connection, and how windows are fused, by a kind that needs no parameter.
  std::vector<TcpCongestionControl> copilots = {};
  FusionKind fusion = FusionKind::kPilotOnly;
  // True if all controls continue from the fused window.
  bool hands_back = true;

  template <class Reader>
  void Read(Reader& read) {
    if (!read.IsObject("congestion_control")) {
      read.Choice("congestion_control", congestion_control, kTcpCongestionControlNames);
    } else {
      read.Within("congestion_control", [this](Reader& fused) {
        fused.Choice("pilot", congestion_control, kTcpCongestionControlNames);
        fused.Choices("copilots", copilots, kTcpCongestionControlNames, kMaxCopilots);
        // Only the kinds that need no parameter.
        fused.Choice("fusion", fusion, std::span(kFusionNames).first(static_cast<size_t>(FusionKind::kClosest)));
        fused.Flag("hand_back", hands_back);
      });
    }
    if (read.Has("transfers")) read.Object("transfers", transfers.emplace());
  }

  std::optional<DataRate> constant_rate() const { return std::nullopt; }
  bool takes_its_share() const { return !transfers; }
  // In flows/tcp_flow.cc.
  std::shared_ptr<void> Start(const Flow& flow) const;
};

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_SCENARIO_TCP_SPEC_H_
