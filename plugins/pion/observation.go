package weir

import "time"

const (
	watchInterval    = 100 * time.Millisecond
	recordIntervalUs = 1_000_000
)

// Observation is one second of a connection on which Weir runs beside another estimator.
type Observation struct {
	// Weir is what Weir's estimator reports. Its target is in force only if Weir is in charge.
	Weir Statistics
	// OtherRateBps is the target of the other estimator; 0: it has none, because it does not limit the rate or does not
	// run.
	OtherRateBps int64
}

// Observed is a connection on which Weir runs beside another estimator; package observe has one that writes logs and
// metrics. Methods may be called from any goroutine.
type Observed interface {
	// InCharge is true while Weir is in charge. It is read for each packet, and may change at any time.
	InCharge() bool
	// Record takes an observation each second.
	Record(observation Observation)
	// Close ends the connection.
	Close() error
}

// PacketRecorder is an Observed that also takes packets, for logs on which other controllers can run. Methods are called
// in the order of the events.
type PacketRecorder interface {
	// Sent takes a packet that leaves, with its transport-wide sequence number.
	Sent(number uint16, sizeBytes int, kind Kind)
	// Feedback takes the reports of one message.
	Feedback(packets []PacketFeedback)
}

// Watcher follows an Observed connection for the host that runs both estimators. Its functions are called by Poll.
type Watcher struct {
	Connection Observed
	// Switched is called when another estimator has become the one in charge.
	Switched func(toWeir bool)
	// LastSecond returns the statistics of SendSide.LastSecond.
	LastSecond func(nowUs int64) (Statistics, bool)
	// OtherRateBps returns that of the Observation.
	OtherRateBps func() int64

	inCharge   bool
	recordedUs int64
}

// Start is called before the first Poll.
func (w *Watcher) Start() { w.inCharge = w.Connection.InCharge() }

// Poll reports a switch, and an observation each second; wait is how long the host may wait for the next call.
func (w *Watcher) Poll(nowUs int64) (wait time.Duration) {
	if inCharge := w.Connection.InCharge(); inCharge != w.inCharge {
		w.inCharge = inCharge
		w.Switched(inCharge)
	}
	if nowUs-w.recordedUs >= recordIntervalUs {
		w.recordedUs = nowUs
		if statistics, sent := w.LastSecond(nowUs); sent {
			w.Connection.Record(Observation{Weir: statistics, OtherRateBps: w.OtherRateBps()})
		}
	}
	return watchInterval
}
