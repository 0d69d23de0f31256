package weir

import "time"

// longestWait of SendSide.Poll: the first packet after a pause makes a decision due.
const longestWait = 50 * time.Millisecond

// Poll calls OnTimeout if it is due; `called` is true then. wait is how long the host may wait for the next call.
func (s *SendSide) Poll(nowUs int64) (called bool, wait time.Duration) {
	if s.NextTimeoutUs() <= nowUs {
		called = s.OnTimeout(nowUs) == nil
	}
	next := min(s.NextTimeoutUs()-nowUs, longestWait.Microseconds())
	return called, time.Duration(next) * time.Microsecond
}

// Run calls `poll` until `closed` is: at once, then each time after what it returned, at least a millisecond.
func Run(closed <-chan struct{}, poll func() time.Duration) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-closed:
			return
		case <-timer.C:
			timer.Reset(max(poll(), time.Millisecond))
		}
	}
}
