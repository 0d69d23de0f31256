// The choice of repair in C: the same as in C++, and nonsense is an error.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

#include "c_handles.h"
#include "weir.h"

namespace weir {
namespace {

// Loses each 50th packet of 200 a second; its retransmission comes `repair_ms` later. Returns the choice after 10 s.
int ChoiceAfterRepairsOf(int64_t repair_ms) {
  const auto repair = Created<weir_repair>(weir_repair_create);
  for (int64_t i = 0; i < 2000; ++i) {
    const int64_t now_us = 1'000'000 + 5'000 * i;
    const int64_t lost = i - i % 50 - 1;
    const uint8_t payload[] = {static_cast<uint8_t>(lost >> 8), static_cast<uint8_t>(lost)};
    if (i % 50 == repair_ms / 5)
      weir_repair_on_retransmission(repair.get(), 2, static_cast<uint16_t>(i / 50), payload, sizeof payload, now_us);
    if (i % 50 != 49) weir_repair_on_packet(repair.get(), 1, static_cast<uint16_t>(i), now_us);
    if (i % 20 == 19) weir_repair_choose(repair.get(), 1'000'000, now_us);
  }
  return weir_repair_choose(repair.get(), 1'000'000, 12'000'000);
}

TEST(CApiRepairTest, AReceiverChoosesByTheTimeOfRepairs) {
  EXPECT_EQ(ChoiceAfterRepairsOf(50), WEIR_REPAIR_NACK);
  EXPECT_EQ(ChoiceAfterRepairsOf(200), WEIR_REPAIR_FEC);
}

TEST(CApiRepairTest, ASenderChoosesByRoundTripAndLosses) {
  const auto choice = [](int64_t round_trip_us, double loss, double feedback_loss) {
    const auto repair = Created<weir_repair>(weir_repair_create);
    return weir_repair_choose_at_sender(repair.get(), 0, round_trip_us, loss, feedback_loss, 1'000'000);
  };
  EXPECT_EQ(choice(30'000, 0, 0), WEIR_REPAIR_NONE);
  EXPECT_EQ(choice(0, 0.03, 0), WEIR_REPAIR_NONE);
  EXPECT_EQ(choice(30'000, 0.08, 0), WEIR_REPAIR_NACK);
  EXPECT_EQ(choice(240'000, 0.01, 0), WEIR_REPAIR_FEC);
  EXPECT_EQ(choice(30'000, 0.03, 0.4), WEIR_REPAIR_FEC);
  EXPECT_EQ(choice(30'000, std::nan(""), std::nan("")), WEIR_REPAIR_NONE);
}

TEST(CApiRepairTest, NonsenseIsAnError) {
  const auto repair = Created<weir_repair>(weir_repair_create);
  EXPECT_EQ(weir_repair_create(nullptr), WEIR_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(weir_repair_choose(nullptr, 0, 0), WEIR_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(weir_repair_choose(repair.get(), 0, INT64_MAX), WEIR_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(weir_repair_on_packet(repair.get(), 1, 1, INT64_MIN), WEIR_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(weir_repair_on_retransmission(repair.get(), 2, 1, nullptr, 0, INT64_MAX), WEIR_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(weir_repair_on_retransmission(repair.get(), 2, 1, nullptr, 2, 1), WEIR_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(weir_repair_on_retransmission(repair.get(), 2, 1, nullptr, 0, 1), WEIR_OK);
  EXPECT_EQ(weir_repair_choose_at_sender(repair.get(), 0, 0, 0, 0, INT64_MAX), WEIR_ERROR_INVALID_ARGUMENT);
  weir_repair_destroy(nullptr);
}

}  // namespace
}  // namespace weir
