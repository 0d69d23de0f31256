#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "rate_controllers.h"

namespace weir {
namespace {

constexpr Timestamp kStart = Timestamp::Micros(0);

class Arrivals {
 public:
  explicit Arrivals(ReceiverController& controller) : controller_(controller) {
    controller_.OnTargetRateConstraints({.at_time = kStart});
    Poll(kStart);
  }

  void Receive(int64_t time_us, uint32_t ssrc, bool has_abs_send_time) {
    Arrival arrival;
    arrival.packet.arrival_time = kStart + TimeDelta::Micros(time_us);
    arrival.packet.ssrc = ssrc;
    arrival.packet.has_abs_send_time = has_abs_send_time;
    arrival.packet.abs_send_time = static_cast<uint32_t>(((time_us << 18) / 1'000'000) & 0xFFFFFF);
    arrival.packet.payload_size = 1000;
    controller_.OnArrival(arrival);
    Poll(arrival.packet.arrival_time);
  }

  const std::vector<DataRate>& targets() const { return targets_; }

 private:
  void Poll(Timestamp now) {
    if (controller_.next_timeout() > now) return;
    if (const auto update = controller_.OnTimeout(now); update.target_rate) {
      targets_.push_back(*update.target_rate);
    }
  }

  ReceiverController& controller_;
  std::vector<DataRate> targets_;
};

TEST(GccRembController, SaysNothingWithoutSendTimes) {
  const auto controller = MakeGccRembController();
  Arrivals arrivals(*controller);
  for (int64_t i = 0; i < 1000; ++i) arrivals.Receive(i * 10'000, 1, /*has_abs_send_time=*/false);
  EXPECT_EQ(arrivals.targets(), std::vector<DataRate>{TargetRateConstraints{}.start_rate});
}

TEST(GccRembController, DoesNotMindAHundredThousandStreams) {
  const auto one = MakeGccRembController();
  const auto many = MakeGccRembController();
  Arrivals from_one(*one);
  Arrivals from_many(*many);
  for (uint32_t i = 0; i < 100'000; ++i) {
    from_one.Receive(int64_t{i} * 1'000, 1, true);
    from_many.Receive(int64_t{i} * 1'000, i, true);
  }
  EXPECT_GT(from_one.targets().size(), 10u);
  EXPECT_EQ(from_one.targets(), from_many.targets());
}

}  // namespace
}  // namespace weir
