// Several congestion controls on one TCP connection, after PolyCC (SIGCOMM 2023, section 2): a pilot and copilots,
// whose windows are fused into one.
#ifndef WEIR_SIMULATOR_FLOWS_POLY_TCP_H_
#define WEIR_SIMULATOR_FLOWS_POLY_TCP_H_

#include <ns3/tcp-congestion-ops.h>
#include <ns3/tcp-socket-state.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "weir/fusion.h"

namespace weir::sim {

// Each control works on its own copy of the connection's state. All copies have the same measurements; window, slow
// start threshold and pacing rate are each control's own until all controls have processed an acknowledgement. Then
// windows and pacing rates are fused, and the fused values are written to the connection and to every copy (the paper's
// step 4) or, for comparison, to the connection alone. The pilot determines the rest: whether the sender paces at all,
// slow start threshold, recovery. Controls that do not pace do not affect the pacing rate.
//
// While BBR as the pilot measures the round trip time, its window is four packets, which does not describe the path,
// and fused values are not written back: in gQUIC, the paper's testbed, BBR then bounds the data in flight and keeps
// its window.
class PolyTcp final : public ns3::TcpCongestionOps {
 public:
  static ns3::TypeId GetTypeId();

  // `controls`: the pilot first, then at most kMaxCopilots others, each made for this connection alone. `fusion` needs
  // neither target nor function. `hands_back`: fused values are written to the members' copies.
  PolyTcp(const std::vector<ns3::Ptr<ns3::TcpCongestionOps>>& controls, FusionKind fusion, bool hands_back = true);
  PolyTcp(const PolyTcp& other);
  PolyTcp& operator=(const PolyTcp&) = delete;
  ~PolyTcp() override = default;

  std::string GetName() const override { return "PolyTcp"; }
  void Init(ns3::Ptr<ns3::TcpSocketState> tcb) override;
  uint32_t GetSsThresh(ns3::Ptr<const ns3::TcpSocketState> tcb, uint32_t bytes_in_flight) override;
  void IncreaseWindow(ns3::Ptr<ns3::TcpSocketState> tcb, uint32_t segments_acked) override;
  void PktsAcked(ns3::Ptr<ns3::TcpSocketState> tcb, uint32_t segments_acked, const ns3::Time& rtt) override;
  void CongestionStateSet(ns3::Ptr<ns3::TcpSocketState> tcb, ns3::TcpSocketState::TcpCongState_t state) override;
  void CwndEvent(ns3::Ptr<ns3::TcpSocketState> tcb, ns3::TcpSocketState::TcpCAEvent_t event) override;
  bool HasCongControl() const override { return true; }
  void CongControl(ns3::Ptr<ns3::TcpSocketState> tcb, const ns3::TcpRateOps::TcpRateConnection& connection,
                   const ns3::TcpRateOps::TcpRateSample& sample) override;
  ns3::Ptr<ns3::TcpCongestionOps> Fork() override;

 private:
  struct Member {
    ns3::Ptr<ns3::TcpCongestionOps> control;
    ns3::Ptr<ns3::TcpSocketState> state;
  };

  Member& pilot() { return members_.front(); }
  // Copies the connection's measurements, and values that it has set by itself, to the members.
  void TakeFrom(const ns3::TcpSocketState& tcb);
  bool HandsBack();
  // Writes the pilot's values to the connection. Fuses window and pacing rate first unless HandBack() has.
  void Follow(ns3::TcpSocketState& tcb);
  void HandBack();
  uint32_t FusedWindow() const;
  ns3::DataRate FusedPacingRate() const;

  std::vector<Member> members_;
  Fusion fusion_;
  bool hands_back_;
  // As last read from the connection or written to it.
  uint32_t window_bytes_ = 0;
  uint32_t slow_start_threshold_bytes_ = 0;
  // Segments of the acknowledgement in progress, if it may open the window.
  std::optional<uint32_t> segments_acked_;
};

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_FLOWS_POLY_TCP_H_
