// Several congestion controls on one connection: what each sees, what becomes of their windows and rates.
#include "flows/poly_tcp.h"

#include <gtest/gtest.h>
#include <ns3/data-rate.h>
#include <ns3/nstime.h>

#include <string>
#include <vector>

namespace weir::sim {
namespace {

using ns3::CreateObject;
using ns3::DataRate;
using ns3::Ptr;
using ns3::TcpSocketState;

constexpr uint32_t kSegmentBytes = 1000;

// Adds `grows_bytes` to its window on each acknowledgement, and remembers with what it began.
class ScriptedControl : public ns3::TcpCongestionOps {
 public:
  ScriptedControl(int64_t grows_bytes, bool has_cong_control) : grows_(grows_bytes), has_control_(has_cong_control) {}

  std::string GetName() const override { return "scripted"; }
  uint32_t GetSsThresh(Ptr<const TcpSocketState> tcb, uint32_t) override { return tcb->m_cWnd / 2; }
  void IncreaseWindow(Ptr<TcpSocketState> tcb, uint32_t) override { Step(*tcb); }
  bool HasCongControl() const override { return has_control_; }
  void CongControl(Ptr<TcpSocketState> tcb, const ns3::TcpRateOps::TcpRateConnection&,
                   const ns3::TcpRateOps::TcpRateSample&) override {
    Step(*tcb);
    if (paces_at_bps == 0) return;
    tcb->m_pacing = true;
    tcb->m_pacingRate = DataRate(paces_at_bps);
  }
  void PktsAcked(Ptr<TcpSocketState> tcb, uint32_t, const ns3::Time&) override {
    in_flight_bytes = tcb->m_bytesInFlight;
  }
  Ptr<ns3::TcpCongestionOps> Fork() override { return ns3::CopyObject<ScriptedControl>(this); }

  uint64_t paces_at_bps = 0;
  std::vector<uint32_t> began_with_bytes;
  std::vector<uint64_t> began_with_bps;
  uint32_t in_flight_bytes = 0;

 private:
  void Step(TcpSocketState& tcb) {
    began_with_bytes.push_back(tcb.m_cWnd);
    began_with_bps.push_back(tcb.m_pacingRate.Get().GetBitRate());
    tcb.m_cWnd = static_cast<uint32_t>(int64_t{tcb.m_cWnd.Get()} + grows_);
  }

  const int64_t grows_;
  const bool has_control_;
};

class PolyTcpTest : public testing::Test {
 protected:
  void Make(FusionKind fusion, bool hands_back = true) {
    tcb_->m_segmentSize = kSegmentBytes;
    tcb_->m_ssThresh = 50'000;
    poly_ = CreateObject<PolyTcp>(std::vector<Ptr<ns3::TcpCongestionOps>>{pilot_, copilot_}, fusion, hands_back);
    poly_->Init(tcb_);
    // As the connection does when it opens.
    tcb_->m_cWnd = 10'000;
  }
  void Acknowledge(bool may_grow = true) {
    if (may_grow) poly_->IncreaseWindow(tcb_, 1);
    poly_->CongControl(tcb_, {}, {});
  }

  Ptr<TcpSocketState> tcb_ = CreateObject<TcpSocketState>();
  Ptr<ScriptedControl> pilot_ = CreateObject<ScriptedControl>(2000, true);
  Ptr<ScriptedControl> copilot_ = CreateObject<ScriptedControl>(500, false);
  Ptr<PolyTcp> poly_;
};

TEST_F(PolyTcpTest, TheFusedWindowIsWrittenToAll) {
  const struct {
    FusionKind fusion;
    uint32_t first;
    uint32_t second;
  } cases[] = {{FusionKind::kMax, 12'000, 14'000},
               {FusionKind::kMin, 10'500, 11'000},
               {FusionKind::kPilotOnly, 12'000, 14'000},
               // The square root of 12,000 * 10,500, then of 13,225 * 11,725.
               {FusionKind::kMean, 11'225, 12'452}};
  for (const auto& [fusion, first, second] : cases) {
    pilot_ = CreateObject<ScriptedControl>(2000, true);
    copilot_ = CreateObject<ScriptedControl>(500, false);
    Make(fusion);
    Acknowledge();
    EXPECT_NEAR(tcb_->m_cWnd, first, 1) << ToString(fusion);
    Acknowledge();
    EXPECT_NEAR(tcb_->m_cWnd, second, 2) << ToString(fusion);
    for (const auto& member : {pilot_, copilot_}) {
      ASSERT_EQ(member->began_with_bytes.size(), 2U);
      EXPECT_EQ(member->began_with_bytes[0], 10'000U);
      EXPECT_NEAR(member->began_with_bytes[1], first, 1);
    }
  }
}

TEST_F(PolyTcpTest, WithoutHandingBackEachGoesOnFromItsOwn) {
  pilot_->paces_at_bps = 8'000'000;
  Make(FusionKind::kMin, false);
  for (int i = 0; i < 3; ++i) Acknowledge();
  EXPECT_EQ(pilot_->began_with_bytes, (std::vector<uint32_t>{10'000, 12'000, 14'000}));
  EXPECT_EQ(copilot_->began_with_bytes, (std::vector<uint32_t>{10'000, 10'500, 11'000}));
  EXPECT_EQ(tcb_->m_cWnd, 11'500U);
  // Between two acknowledgements, too.
  poly_->PktsAcked(tcb_, 1, ns3::MilliSeconds(20));
  EXPECT_EQ(tcb_->m_cWnd, 11'500U);
  EXPECT_EQ(tcb_->m_pacingRate.Get(), DataRate(8'000'000));
}

TEST_F(PolyTcpTest, OnlyThoseThatPaceHaveASayOnTheRate) {
  const auto second = CreateObject<ScriptedControl>(0, true);
  pilot_->paces_at_bps = 8'000'000;
  second->paces_at_bps = 5'000'000;
  tcb_->m_segmentSize = kSegmentBytes;
  poly_ = CreateObject<PolyTcp>(std::vector<Ptr<ns3::TcpCongestionOps>>{pilot_, copilot_, second}, FusionKind::kMin);
  poly_->Init(tcb_);
  tcb_->m_cWnd = 10'000;
  Acknowledge();
  EXPECT_TRUE(tcb_->m_pacing);
  EXPECT_EQ(tcb_->m_pacingRate.Get(), DataRate(5'000'000));
  Acknowledge();
  EXPECT_EQ(pilot_->began_with_bps[1], 5'000'000U);
}

TEST_F(PolyTcpTest, APilotThatDoesNotPaceIsNotPaced) {
  const auto paced = CreateObject<ScriptedControl>(0, true);
  paced->paces_at_bps = 5'000'000;
  copilot_ = paced;
  Make(FusionKind::kMax);
  Acknowledge();
  EXPECT_FALSE(tcb_->m_pacing);
}

TEST_F(PolyTcpTest, WhatMayNotGrowIsNotAsked) {
  Make(FusionKind::kMin);
  Acknowledge(false);
  EXPECT_EQ(copilot_->began_with_bytes.size(), 0U);
  EXPECT_EQ(tcb_->m_cWnd, 10'000U);
}

TEST_F(PolyTcpTest, MeasurementsReachAll) {
  Make(FusionKind::kMax);
  tcb_->m_bytesInFlight = 7000;
  poly_->PktsAcked(tcb_, 1, ns3::MilliSeconds(20));
  EXPECT_EQ(pilot_->in_flight_bytes, 7000U);
  EXPECT_EQ(copilot_->in_flight_bytes, 7000U);
}

TEST_F(PolyTcpTest, RecoveryIsThePilots) {
  Make(FusionKind::kMax);
  Acknowledge();
  tcb_->m_congState = TcpSocketState::CA_RECOVERY;
  EXPECT_EQ(poly_->GetSsThresh(tcb_, 12'000), 6000U);
  // The copilot has halved its window, which nobody had to tell the connection.
  EXPECT_EQ(tcb_->m_cWnd, 12'000U);
  Acknowledge(false);
  EXPECT_EQ(tcb_->m_cWnd, 14'000U);
  // At the end of recovery and at a timeout the connection sets the window, and all begin from there.
  tcb_->m_congState = TcpSocketState::CA_OPEN;
  tcb_->m_cWnd = kSegmentBytes;
  Acknowledge();
  EXPECT_EQ(copilot_->began_with_bytes.back(), kSegmentBytes);
  EXPECT_EQ(tcb_->m_cWnd, kSegmentBytes + 2000);
}

TEST_F(PolyTcpTest, AForkIsOfItsOwn) {
  Make(FusionKind::kMax);
  Acknowledge();
  const auto fork = ns3::DynamicCast<PolyTcp>(poly_->Fork());
  const auto other = CreateObject<TcpSocketState>(*tcb_);
  fork->IncreaseWindow(other, 1);
  fork->CongControl(other, {}, {});
  EXPECT_EQ(other->m_cWnd, 14'000U);
  EXPECT_EQ(pilot_->began_with_bytes.size(), 1U);
}

}  // namespace
}  // namespace weir::sim
