package livekit

import (
	"errors"
	"io"
	"sync"
	"time"

	"github.com/livekit/livekit-server/pkg/sfu/bwe"
	"github.com/livekit/livekit-server/pkg/sfu/ccutils"
	"github.com/pion/rtcp"

	weir "weir/pion"
)

const (
	observerInterval = 100 * time.Millisecond
	recordIntervalUs = 1_000_000
)

// Observer is a bwe.BWE that runs an Estimator beside another one. Both receive packets and feedback; what LiveKit
// receives is from the one in charge, which the connection decides. The connection gets an observation each second.
type Observer struct {
	// BWE is the other estimator.
	bwe.BWE
	weir       *Estimator
	connection weir.Observed
	closed     chan struct{}
	close      sync.Once

	// sending keeps the numbers of packets in order.
	sending sync.Mutex

	mutex       sync.Mutex
	listener    bwe.BWEListener
	wasInCharge bool
	recordedUs  int64
	// The states that LiveKit, and that the other estimator's listener last received, with the other's capacity.
	told, otherState bwe.CongestionState
	otherCapacityBps int64
	// verdicts of the estimators on the present cluster that LiveKit did not take: it takes those of the one in charge.
	verdicts map[bwe.BWE]verdict
}

type verdict struct {
	signal      ccutils.ProbeSignal
	capacityBps int64
}

var _ bwe.BWE = (*Observer)(nil)

// NewObserver makes one, which owns what it is given; Close ends it.
func NewObserver(estimator *Estimator, other bwe.BWE, connection weir.Observed) *Observer {
	o := newObserver(estimator, other, connection)
	go weir.Run(o.closed, o.poll)
	return o
}

func newObserver(estimator *Estimator, other bwe.BWE, connection weir.Observed) *Observer {
	o := &Observer{
		BWE: other, weir: estimator, connection: connection, closed: make(chan struct{}),
		wasInCharge: connection.InCharge(), verdicts: map[bwe.BWE]verdict{},
	}
	estimator.mutex.Lock()
	estimator.packets, _ = connection.(weir.PacketRecorder)
	estimator.mutex.Unlock()
	estimator.SetBWEListener(listenerFunc(func(to bwe.CongestionState, capacityBps int64) {
		o.onState(true, to, capacityBps)
	}))
	other.SetBWEListener(listenerFunc(func(to bwe.CongestionState, capacityBps int64) {
		o.onState(false, to, capacityBps)
	}))
	return o
}

// listenerFunc is a bwe.BWEListener.
type listenerFunc func(to bwe.CongestionState, capacityBps int64)

// OnCongestionStateChange calls f.
func (f listenerFunc) OnCongestionStateChange(_, to bwe.CongestionState, capacityBps int64) {
	f(to, capacityBps)
}

// inCharge is the estimator in charge.
func (o *Observer) inCharge() bwe.BWE {
	if o.connection.InCharge() {
		return o.weir
	}
	return o.BWE
}

// onState passes a state on if it is of the estimator in charge.
func (o *Observer) onState(ofWeir bool, to bwe.CongestionState, capacityBps int64) {
	o.mutex.Lock()
	if !ofWeir {
		o.otherState, o.otherCapacityBps = to, capacityBps
	}
	passes := ofWeir == o.connection.InCharge()
	o.mutex.Unlock()
	if passes {
		o.tell(to, capacityBps)
	}
}

func (o *Observer) tell(to bwe.CongestionState, capacityBps int64) {
	o.mutex.Lock()
	listener, from := o.listener, o.told
	o.told = to
	o.mutex.Unlock()
	if listener != nil {
		listener.OnCongestionStateChange(from, to, capacityBps)
	}
}

// SetBWEListener registers who receives the states of the estimator in charge.
func (o *Observer) SetBWEListener(listener bwe.BWEListener) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	o.listener = listener
}

// Reset resets both.
func (o *Observer) Reset() {
	o.weir.Reset()
	o.BWE.Reset()
	o.mutex.Lock()
	defer o.mutex.Unlock()
	o.told, o.otherState = bwe.CongestionStateNone, bwe.CongestionStateNone
}

// RecordPacketSendAndGetSequenceNumber returns the other estimator's number.
func (o *Observer) RecordPacketSendAndGetSequenceNumber(
	atMicro int64, size int, isRTX bool, probeClusterID ccutils.ProbeClusterId, isProbe bool,
) uint16 {
	o.sending.Lock()
	defer o.sending.Unlock()
	number := o.BWE.RecordPacketSendAndGetSequenceNumber(atMicro, size, isRTX, probeClusterID, isProbe)
	o.weir.mutex.Lock()
	defer o.weir.mutex.Unlock()
	o.weir.record(number, atMicro, size, isRTX, probeClusterID, isProbe)
	return number
}

// HandleTWCCFeedback passes a message to both.
func (o *Observer) HandleTWCCFeedback(report *rtcp.TransportLayerCC) {
	o.weir.HandleTWCCFeedback(report)
	o.BWE.HandleTWCCFeedback(report)
}

// UpdateRTT passes a round-trip time in seconds to both.
func (o *Observer) UpdateRTT(rtt float64) {
	o.weir.UpdateRTT(rtt)
	o.BWE.UpdateRTT(rtt)
}

// CongestionState is that of the estimator in charge.
func (o *Observer) CongestionState() bwe.CongestionState { return o.inCharge().CongestionState() }

// CanProbe is that of the estimator in charge.
func (o *Observer) CanProbe() bool { return o.inCharge().CanProbe() }

// ProbeDuration is that of the estimator in charge.
func (o *Observer) ProbeDuration() time.Duration { return o.inCharge().ProbeDuration() }

// ProbeClusterStarting begins a cluster in both.
func (o *Observer) ProbeClusterStarting(info ccutils.ProbeClusterInfo) {
	o.mutex.Lock()
	clear(o.verdicts)
	o.mutex.Unlock()
	o.weir.ProbeClusterStarting(info)
	o.BWE.ProbeClusterStarting(info)
}

// ProbeClusterDone ends the sending of the cluster in both.
func (o *Observer) ProbeClusterDone(info ccutils.ProbeClusterInfo) {
	o.weir.ProbeClusterDone(info)
	o.BWE.ProbeClusterDone(info)
}

// ProbeClusterIsGoalReached is that of the estimator in charge.
func (o *Observer) ProbeClusterIsGoalReached() bool { return o.inCharge().ProbeClusterIsGoalReached() }

// ProbeClusterFinalize returns the verdict of the estimator in charge, also one from before it was in charge.
func (o *Observer) ProbeClusterFinalize() (ccutils.ProbeSignal, int64, bool) {
	estimator := o.inCharge()
	if signal, capacityBps, done := estimator.ProbeClusterFinalize(); done {
		return signal, capacityBps, true
	}
	o.mutex.Lock()
	defer o.mutex.Unlock()
	earlier, done := o.verdicts[estimator]
	delete(o.verdicts, estimator)
	return earlier.signal, earlier.capacityBps, done
}

// takeVerdict ends the cluster in the estimator that is not in charge: one without a verdict would last.
func (o *Observer) takeVerdict(estimator bwe.BWE) {
	signal, capacityBps, done := estimator.ProbeClusterFinalize()
	if !done {
		return
	}
	o.mutex.Lock()
	defer o.mutex.Unlock()
	o.verdicts[estimator] = verdict{signal, capacityBps}
}

// Close ends Weir's estimator, the connection, and the other estimator if it can be closed.
func (o *Observer) Close() error {
	var err error
	o.close.Do(func() {
		close(o.closed)
		err = errors.Join(o.weir.Close(), o.connection.Close())
		if closer, ok := o.BWE.(io.Closer); ok {
			err = errors.Join(err, closer.Close())
		}
	})
	return err
}

// poll reports a change of who is in charge, and an observation each second; how long to wait for the next time.
func (o *Observer) poll() time.Duration {
	inCharge := o.connection.InCharge()
	if inCharge {
		o.takeVerdict(o.BWE)
	} else {
		o.takeVerdict(o.weir)
	}
	if inCharge != o.wasInCharge {
		o.wasInCharge = inCharge
		o.tell(o.present(inCharge))
	}
	if nowUs := o.weir.nowUs(); nowUs-o.recordedUs >= recordIntervalUs {
		o.recordedUs = nowUs
		if statistics, sent := o.weir.lastSecond(); sent {
			o.connection.Record(weir.Observation{Weir: statistics, OtherRateBps: o.otherLimitBps()})
		}
	}
	return observerInterval
}

// present is the state and the capacity of an estimator.
func (o *Observer) present(ofWeir bool) (bwe.CongestionState, int64) {
	if ofWeir {
		return o.weir.present()
	}
	o.mutex.Lock()
	defer o.mutex.Unlock()
	return o.otherState, o.otherCapacityBps
}

// otherLimitBps is the other estimator's capacity while it limits LiveKit to it, else 0.
func (o *Observer) otherLimitBps() int64 {
	if state, capacityBps := o.present(false); state == bwe.CongestionStateCongested {
		return capacityBps
	}
	return 0
}

// present is the state, and the capacity that goes with it.
func (e *Estimator) present() (bwe.CongestionState, int64) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if e.state == bwe.CongestionStateNone {
		return e.state, e.targetBps
	}
	return e.state, e.toldBps
}

// lastSecond is what the library reports of it; false if nothing was sent.
func (e *Estimator) lastSecond() (weir.Statistics, bool) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if e.over || e.media.latestUs == 0 || e.nowUs()-e.media.latestUs > recordIntervalUs {
		return weir.Statistics{}, false
	}
	statistics, err := e.sendSide.Statistics()
	return statistics, err == nil
}
