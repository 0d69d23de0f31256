package livekit

import (
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/livekit/livekit-server/pkg/sfu/bwe"
	"github.com/livekit/livekit-server/pkg/sfu/ccutils"
	"github.com/pion/rtcp"

	weir "weir/pion"
)

// Observer is a bwe.BWE that runs an Estimator beside another one. Both receive packets and feedback; what LiveKit
// receives is from the one in charge, which the connection decides. The connection gets an observation each second.
type Observer struct {
	// BWE is the other estimator.
	bwe.BWE
	weir       *Estimator
	connection weir.Observed
	watcher    weir.Watcher
	closed     chan struct{}
	close      sync.Once

	// sending keeps the numbers of packets in order.
	sending sync.Mutex

	mutex    sync.Mutex
	listener bwe.BWEListener
	// reported is the state that LiveKit last received, latest the state of each estimator.
	reported bwe.CongestionState
	latest   map[bwe.BWE]change
	// prober is the estimator whose cluster is the latest.
	prober atomic.Pointer[bwe.BWE]
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
		latest: map[bwe.BWE]change{},
	}
	o.prober.Store(&o.BWE)
	o.watcher = weir.Watcher{
		Connection: connection, LastSecond: estimator.lastSecond, OtherRateBps: o.otherLimitBps,
		Switched: func(bool) { o.tell() },
	}
	o.watcher.Start()
	estimator.mutex.Lock()
	estimator.sendSide.Recorder, _ = connection.(weir.PacketRecorder)
	estimator.mutex.Unlock()
	estimator.SetBWEListener(listener{o, estimator})
	other.SetBWEListener(listener{o, other})
	return o
}

// listener takes the states of one estimator.
type listener struct {
	observer  *Observer
	estimator bwe.BWE
}

// OnCongestionStateChange passes the state on if its estimator is in charge.
func (l listener) OnCongestionStateChange(from, to bwe.CongestionState, capacityBps int64) {
	l.observer.mutex.Lock()
	l.observer.latest[l.estimator] = change{from, to, capacityBps}
	l.observer.mutex.Unlock()
	if l.observer.inCharge() == l.estimator {
		l.observer.tell()
	}
}

// inCharge is the estimator in charge.
func (o *Observer) inCharge() bwe.BWE {
	if o.connection.InCharge() {
		return o.weir
	}
	return o.BWE
}

// tell reports the latest state of the estimator in charge.
func (o *Observer) tell() {
	o.mutex.Lock()
	listener, from, latest := o.listener, o.reported, o.latest[o.inCharge()]
	o.reported = latest.to
	o.mutex.Unlock()
	if listener != nil {
		listener.OnCongestionStateChange(from, latest.to, latest.capacityBps)
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
	o.reported = bwe.CongestionStateNone
	clear(o.latest)
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
	o.weir.onSent(number, atMicro, size, isRTX, probeClusterID, isProbe)
	return number
}

// HandleTWCCFeedback passes a message to both.
func (o *Observer) HandleTWCCFeedback(report *rtcp.TransportLayerCC) {
	o.weir.HandleTWCCFeedback(report)
	o.BWE.HandleTWCCFeedback(report)
}

// UpdateRTT passes a round-trip time in seconds to both.
func (o *Observer) UpdateRTT(seconds float64) { o.weir.UpdateRTT(seconds); o.BWE.UpdateRTT(seconds) }

// CongestionState and the next two are those of the estimator in charge.
func (o *Observer) CongestionState() bwe.CongestionState { return o.inCharge().CongestionState() }
func (o *Observer) CanProbe() bool                       { return o.inCharge().CanProbe() }
func (o *Observer) ProbeDuration() time.Duration         { return o.inCharge().ProbeDuration() }

// ProbeClusterStarting begins a cluster in the estimator in charge. The cluster is its own until it has a verdict, also
// if another one is in charge then: LiveKit waits for it.
func (o *Observer) ProbeClusterStarting(info ccutils.ProbeClusterInfo) {
	prober := o.inCharge()
	o.prober.Store(&prober)
	prober.ProbeClusterStarting(info)
}

// ProbeClusterDone and the next two are those of the estimator whose cluster it is.
func (o *Observer) ProbeClusterDone(info ccutils.ProbeClusterInfo) {
	(*o.prober.Load()).ProbeClusterDone(info)
}
func (o *Observer) ProbeClusterIsGoalReached() bool {
	return (*o.prober.Load()).ProbeClusterIsGoalReached()
}
func (o *Observer) ProbeClusterFinalize() (ccutils.ProbeSignal, int64, bool) {
	return (*o.prober.Load()).ProbeClusterFinalize()
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

// poll watches the connection; how long to wait for the next time.
func (o *Observer) poll() time.Duration { return o.watcher.Poll(o.weir.nowUs()) }

// otherLimitBps is the other estimator's capacity while it limits LiveKit to it, else 0.
func (o *Observer) otherLimitBps() int64 {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if latest := o.latest[o.BWE]; latest.to == bwe.CongestionStateCongested {
		return latest.capacityBps
	}
	return 0
}
