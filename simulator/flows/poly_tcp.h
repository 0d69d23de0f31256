// Several congestion controls on one TCP connection, after PolyCC (SIGCOMM 2023, section 2): a pilot, copilots beside
// it, and one window out of theirs.
#ifndef WEIR_SIMULATOR_FLOWS_POLY_TCP_H_
#define WEIR_SIMULATOR_FLOWS_POLY_TCP_H_

#include <ns3/tcp-congestion-ops.h>
#include <ns3/tcp-socket-state.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pool/fusion.h"

namespace weir::sim {

// Every control works on a copy of the connection's state of its own. What is measured stands in all copies; window,
// slow start threshold and pacing rate are each control's own until an acknowledgement has been processed by all. Then
// the windows are fused, the pacing rates too, and the fused values written to the connection and into every copy (the
// paper's step 4), or, to see what that does, to the connection alone. Everything else is as the pilot wants: whether
// the sender paces at all, slow start threshold, recovery. A control that does not pace has no say on the pacing rate.
//
// While BBR as pilot measures the round trip time its window is four packets, which does not describe the path, and
// what is fused is not written to the others: in gQUIC, the paper's testbed, BBR bounds what is in flight for that time
// and leaves its window as it is.
class PolyTcp final : public ns3::TcpCongestionOps {
 public:
  static ns3::TypeId GetTypeId();

  // `controls`: the pilot first, then at most kMaxCopilots others, each made for this connection alone. `fusion` needs
  // neither target nor function. `hands_back`: whether fused values are written into the members' copies.
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
  // Gives the members what the connection has measured, and what it has set by itself.
  void TakeFrom(const ns3::TcpSocketState& tcb);
  bool HandsBack();
  // Gives the connection what the pilot has, which is what is fused of all, or that where it is not handed back.
  void Follow(ns3::TcpSocketState& tcb);
  void HandBack();
  uint32_t FusedWindow() const;
  ns3::DataRate FusedPacingRate() const;

  std::vector<Member> members_;
  Fusion fusion_;
  bool hands_back_;
  // As last seen in the connection or written there.
  uint32_t window_bytes_ = 0;
  uint32_t slow_start_threshold_bytes_ = 0;
  // The acknowledgement that is being processed, where it may open the window.
  std::optional<uint32_t> segments_acked_;
};

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_FLOWS_POLY_TCP_H_
