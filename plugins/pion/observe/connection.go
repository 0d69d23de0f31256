package observe

import (
	"sync"
	"sync/atomic"
	"time"

	weir "weir/pion"
)

// longestRecord bounds the time that one observation counts for in the metrics.
const longestRecord = 5 * time.Second

// shortestFreeze is the shortest pause between frames that getStats counts as a freeze (W3C webrtc-stats, freezeCount).
const shortestFreeze = 150 * time.Millisecond

// Connection is a weir.Observed. All methods may be called from any goroutine.
type Connection struct {
	connections *Connections
	id          string
	share       float64
	began       time.Time
	inCharge    atomic.Bool
	packets     bool

	mutex    sync.Mutex
	over     bool
	log      *log
	recorded time.Duration
	freezes  int64
	frozen   time.Duration
	numbers  numbers
	line     []byte
}

var (
	_ weir.Observed       = (*Connection)(nil)
	_ weir.PacketRecorder = (*Connection)(nil)
)

// ID is the identifier in logs, metrics and the file in_charge.
func (c *Connection) ID() string { return c.id }

// InCharge is true while Weir is in charge.
func (c *Connection) InCharge() bool { return c.inCharge.Load() }

// SetInCharge changes who is in charge of this connection, at once, until Connections.SetInCharge or the file in_charge
// changes it again.
func (c *Connection) SetInCharge(weir bool) {
	c.connections.mutex.Lock()
	defer c.connections.mutex.Unlock()
	c.set(weir)
}

// set needs the mutex of connections.
func (c *Connection) set(weir bool) {
	if _, open := c.connections.open[c]; !open || c.inCharge.Load() == weir {
		return
	}
	gauge := c.connections.metrics.connections
	gauge.WithLabelValues(c.inChargeName()).Dec()
	c.inCharge.Store(weir)
	gauge.WithLabelValues(c.inChargeName()).Inc()
	c.connections.metrics.switches.WithLabelValues(c.inChargeName()).Inc()
}

func (c *Connection) inChargeName() string {
	if c.InCharge() {
		return "weir"
	}
	return c.connections.options.Other
}

// Record takes the observation of the last second.
func (c *Connection) Record(o weir.Observation) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.over {
		return
	}
	now := time.Since(c.began)
	inCharge, elapsed := c.inChargeName(), min(now-c.recorded, longestRecord)
	c.recorded = now
	c.connections.metrics.record(c.id, inCharge, o, elapsed)
	c.write(observationLine{
		Type: "observation", TimeUs: c.timeUs(now), InCharge: inCharge,
		OtherBps: optional(o.OtherRateBps), WeirBps: o.Weir.TargetRateBps, WeirReason: o.Weir.Reason,
		ReceivedBps: o.Weir.ReceiveRateBps, LossRatio: o.Weir.LossRatio,
		QueueingDelayMs: float64(o.Weir.QueueingDelay.Microseconds()) / 1e3,
	})
}

// Viewer takes what the receiver's getStats reports of its video since the connection began: freezeCount and
// totalFreezesDuration. A server has them only if its clients report them, so they may be anything: frozen is capped at
// the time since the connection began, freezes at one for each 150 ms of it.
func (c *Connection) Viewer(freezes int64, frozen time.Duration) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	now := time.Since(c.began)
	freezes, frozen = min(freezes, int64(now/shortestFreeze)), min(frozen, now)
	if c.over || freezes < c.freezes || frozen < c.frozen {
		return
	}
	inCharge := c.inChargeName()
	c.connections.metrics.freezes.WithLabelValues(inCharge).Add(float64(freezes - c.freezes))
	c.connections.metrics.frozen.WithLabelValues(inCharge).Add(seconds(frozen - c.frozen))
	c.freezes, c.frozen = freezes, frozen
	c.write(viewerLine{"viewer", c.timeUs(now), freezes, float64(frozen.Microseconds()) / 1e3})
}

// Close ends the log and the metrics of the connection.
func (c *Connection) Close() error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.over {
		return nil
	}
	c.over = true
	c.connections.mutex.Lock()
	delete(c.connections.open, c)
	c.connections.metrics.close(c.id, c.inChargeName())
	c.connections.mutex.Unlock()
	return c.log.close()
}

// timeUs is Unix time by the connection's own clock, which no change of the system's clock turns back.
func (c *Connection) timeUs(elapsed time.Duration) int64 { return c.began.Add(elapsed).UnixMicro() }

func (c *Connection) write(line any) { c.check(c.log.write(line)) }

func (c *Connection) check(err error) {
	if err != nil {
		c.log = nil
		c.connections.fail(err)
	}
}
