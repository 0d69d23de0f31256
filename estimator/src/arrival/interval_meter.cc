#include "weir/interval_meter.h"

#include "arrival/interval_accumulator.h"

namespace weir {

IntervalMeter::IntervalMeter() : accumulator_(std::make_unique<IntervalAccumulator>()) {}
IntervalMeter::IntervalMeter(IntervalMeter&&) noexcept = default;
IntervalMeter& IntervalMeter::operator=(IntervalMeter&&) noexcept = default;
IntervalMeter::~IntervalMeter() = default;

void IntervalMeter::Start(Timestamp now) { accumulator_->Start(now); }
void IntervalMeter::OnArrival(const Arrival& arrival) { accumulator_->OnArrival(arrival); }
void IntervalMeter::OnRoundTripTime(TimeDelta round_trip_time) { accumulator_->OnRoundTripTime(round_trip_time); }
IntervalStatistics IntervalMeter::Take(Timestamp now, DataRate target) { return accumulator_->Take(now, target); }

}  // namespace weir
