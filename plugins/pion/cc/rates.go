package cc

import (
	"time"

	weir "weir/pion"
)

// poll the estimator, where no feedback comes; how long to wait for the next time.
func (e *Estimator) poll() time.Duration {
	defer e.tell()
	e.mutex.Lock()
	defer e.mutex.Unlock()
	called, wait := e.sendSide.Poll(e.nowUs())
	if called {
		_ = e.refresh()
	}
	return wait
}

// tell brings the pacer and the callback up to date.
func (e *Estimator) tell() {
	e.telling.Lock()
	defer e.telling.Unlock()
	rates := e.Rates()
	e.pacer.Load().follow(rates.PacingRateBps)
	if bitrate := int(rates.TargetRateBps); bitrate != e.told {
		e.told = bitrate
		if e.onChange != nil {
			e.onChange(bitrate)
		}
	}
}

// GetTargetBitrate is the rate in force, bit/s, IP and UDP included.
func (e *Estimator) GetTargetBitrate() int { return int(e.Rates().TargetRateBps) }

// Rates are those in force. The pacer of an Unpaced host follows the pacing rate.
func (e *Estimator) Rates() weir.Rates {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	return e.rates
}

// WindowFull is true while the bytes in flight fill the congestion window. An encoder then encodes no frame.
func (e *Estimator) WindowFull() bool {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	return !e.over && e.history.inFlight >= e.rates.CongestionWindowBytes && e.nowUs()-e.sentUs < congestedIntervalUs
}

// OnTargetBitrateChange registers f, which is called with each new rate. f may call any other method.
func (e *Estimator) OnTargetBitrateChange(f func(bitrate int)) {
	e.telling.Lock()
	defer e.telling.Unlock()
	e.onChange = f
}

// SetObjective steers the model while the call runs.
func (e *Estimator) SetObjective(objective weir.Objective) error {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	return e.sendSide.SetObjective(objective)
}

// SetConstraints bounds the rate while the call runs. The start rate counts only before the first packet.
func (e *Estimator) SetConstraints(constraints weir.Constraints) error {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	return e.sendSide.SetConstraints(constraints, e.nowUs())
}

// GetStats is for what the host shows: rates in bit/s, counts since the beginning.
func (e *Estimator) GetStats() map[string]any {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	counters, err := e.sendSide.Counters()
	if err != nil {
		return map[string]any{}
	}
	return map[string]any{
		"targetBitrate":       int(e.rates.TargetRateBps),
		"pacingBitrate":       int(e.rates.PacingRateBps),
		"reason":              e.rates.Reason,
		"packetsReceived":     counters.PacketsReceived,
		"packetsLost":         counters.PacketsLost,
		"packetsFateUnknown":  counters.PacketsFateUnknown,
		"packetsInvalid":      counters.PacketsInvalid,
		"reportsDuplicate":    counters.ReportsDuplicate,
		"reportsNotInHistory": counters.ReportsNotInHistory,
		"clockRestarts":       counters.ClockRestarts,
		"probeClusters":       counters.ProbeClusters,
		"probesCarried":       counters.ProbesCarried,
		"probesLimited":       counters.ProbesLimited,
		"probeBytes":          counters.ProbeBytes,
	}
}
