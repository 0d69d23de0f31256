// A scenario's flow with a constant bit rate, without congestion control.
#ifndef WEIR_SIMULATOR_SCENARIO_CBR_SPEC_H_
#define WEIR_SIMULATOR_SCENARIO_CBR_SPEC_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "weir/units.h"

namespace weir::sim {

struct Flow;

struct CbrSpec {
  static constexpr std::string_view kName = "cbr";
  static constexpr bool kHasAccessPath = false;
  DataRate rate = DataRate::Zero();
  // Size of the whole IP packet. The rate counts the same bytes.
  int64_t packet_bytes = 0;

  template <class Reader>
  void Read(Reader& read) {
    read.Rate("rate_bps", rate);
    // At least a byte after the headers of IP and UDP.
    read.Integer("packet_bytes", packet_bytes, {.min = 29, .max = 65'535});
  }

  std::optional<DataRate> constant_rate() const { return rate; }
  bool takes_its_share() const { return false; }
  // In flows/cbr_flow.cc.
  std::shared_ptr<void> Start(const Flow& flow) const;
};

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_SCENARIO_CBR_SPEC_H_
