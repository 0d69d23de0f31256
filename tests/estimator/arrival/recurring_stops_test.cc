#include "arrival/recurring_stops.h"

#include <gtest/gtest.h>

namespace weir {
namespace {

constexpr TimeDelta kStop = TimeDelta::Millis(200);

TEST(RecurringStopsTest, LinksThatStopAgainAndAgainAreKnown) {
  for (const int64_t every_ms : {300, 1000, 5000}) {
    RecurringStops stops;
    for (int64_t at_ms = 0; at_ms < 30'000; at_ms += every_ms)
      stops.Add(Timestamp::Seconds(0) + TimeDelta::Millis(at_ms), kStop);
    EXPECT_EQ(stops.Length(Timestamp::Seconds(30)), kStop) << every_ms;
  }
}

TEST(RecurringStopsTest, OneOutageAmongThemIsNone) {
  RecurringStops stops;
  stops.Add(Timestamp::Seconds(20), TimeDelta::Seconds(3));
  EXPECT_EQ(stops.Length(Timestamp::Seconds(20)), TimeDelta::Zero());
  for (const int64_t at_s : {13, 17, 21}) stops.Add(Timestamp::Seconds(at_s), kStop);
  EXPECT_EQ(stops.Length(Timestamp::Seconds(22)), kStop);
}

TEST(RecurringStopsTest, StopsAreForgotten) {
  RecurringStops stops;
  for (const int64_t at_s : {0, 4, 8}) stops.Add(Timestamp::Seconds(at_s), kStop);
  EXPECT_EQ(stops.Length(Timestamp::Seconds(9)), kStop);
  EXPECT_EQ(stops.Length(Timestamp::Seconds(19)), TimeDelta::Zero());
  EXPECT_EQ(stops.Length(Timestamp::Seconds(-3600)), TimeDelta::Zero());
  stops.Add(Timestamp::Seconds(100), kStop);
  EXPECT_EQ(stops.Length(Timestamp::Seconds(100)), TimeDelta::Zero());
}

}  // namespace
}  // namespace weir
