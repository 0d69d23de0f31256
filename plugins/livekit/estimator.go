// Package livekit is Weir behind LiveKit's bwe.BWE: it stands where LiveKit's sendsidebwe does, for each subscriber.
package livekit

import (
	"math"
	"sync"
	"time"

	"github.com/livekit/livekit-server/pkg/sfu/bwe"
	"github.com/livekit/livekit-server/pkg/sfu/ccutils"
	"github.com/livekit/protocol/logger"
	"github.com/livekit/protocol/utils/mono"
	"github.com/pion/rtcp"

	weir "weir/pion"
	"weir/pion/twcc"
)

const (
	// startRateBps is in force until the path has shown something; LiveKit sends all layers until then.
	startRateBps = 1_000_000
	// newsRatio: while the path stays congested, a capacity below this share of the last one is news, and after newsUs
	// this share is reported, so that layers do not go on to fill a queue.
	newsRatio = 0.9
	newsUs    = 1_000_000
	// shareUs is over how long the share of retransmissions is taken.
	shareUs = 500_000
	staleUs = 1_000_000
)

// Estimator is a bwe.BWE. All methods may be called from any goroutine. The listener is called in the order of the
// states, with no lock held but that of listeners: it may call any method that is not given feedback or a verdict. Rates
// and sizes are LiveKit's, without SRTP, UDP and IP.
type Estimator struct {
	// nowUs is the clock of the departures that the pacer passes.
	nowUs  func() int64
	logger logger.Logger
	closed chan struct{}

	mutex    sync.Mutex
	over     bool
	sendSide *weir.SendSide
	reader   twcc.Reader
	// next is the transport-wide sequence number of the next packet.
	next  uint16
	state bwe.CongestionState
	media mediaShare
	// The capacity that the listener last received, and when.
	toldBps, toldAtUs int64
	probe             probe
	targets           targetLog
	// stale is the state before a Reset: it is no news for a second of sending, until the estimator has seen the path.
	stale        bwe.CongestionState
	staleUntilUs int64
	listener     bwe.BWEListener
	news         []change

	// telling keeps the listener's news in order.
	telling sync.Mutex
}

type change struct {
	from, to    bwe.CongestionState
	capacityBps int64
}

var _ bwe.BWE = (*Estimator)(nil)

// New makes one; Close ends it. The logger gets states and targets; nil: none does.
func New(config weir.Config, log logger.Logger) (*Estimator, error) {
	e, err := newEstimator(config, log, mono.UnixMicro)
	if err == nil {
		go weir.Run(e.closed, e.poll)
	}
	return e, err
}

func newEstimator(config weir.Config, log logger.Logger, nowUs func() int64) (*Estimator, error) {
	sendSide, err := weir.NewSendSide(config, 0)
	if err != nil {
		return nil, err
	}
	e := &Estimator{nowUs: nowUs, logger: log, closed: make(chan struct{}), sendSide: sendSide}
	e.targets = targetLog{logger: log, message: "weir: target"}
	e.probe.reset(nowUs())
	return e, nil
}

// Close ends the estimator's goroutine and frees it. Later calls change nothing; packets go on to have numbers.
func (e *Estimator) Close() error {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if !e.over {
		e.over = true
		close(e.closed)
		e.sendSide.Close()
	}
	return nil
}

// SetBWEListener registers who receives the states.
func (e *Estimator) SetBWEListener(listener bwe.BWEListener) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	e.listener = listener
}

// Reset forgets the cluster and the state, and allows a cluster now, as LiveKit wants. Numbers, estimate and back-off go
// on, since the path is the same.
func (e *Estimator) Reset() {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if e.state != bwe.CongestionStateNone {
		e.stale, e.staleUntilUs = e.state, math.MaxInt64
	}
	e.state = bwe.CongestionStateNone
	e.probe.reset(e.nowUs())
}

// HandleREMB does nothing: the estimate is from transport-wide feedback.
func (e *Estimator) HandleREMB(int64, int64, uint32, uint32) {}

// RecordPacketSendAndGetSequenceNumber gives a packet that leaves its transport-wide sequence number.
func (e *Estimator) RecordPacketSendAndGetSequenceNumber(
	atMicro int64, size int, isRTX bool, probeClusterID ccutils.ProbeClusterId, isProbe bool,
) uint16 {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	number := e.next
	e.next++
	e.onSent(number, atMicro, size, isRTX, probeClusterID, isProbe)
	return number
}

// onSent reports a packet that leaves with this number. It needs the mutex.
func (e *Estimator) onSent(
	number uint16, atMicro int64, size int, isRTX bool, probeClusterID ccutils.ProbeClusterId, isProbe bool,
) {
	if e.over {
		return
	}
	size = min(max(size, 0), math.MaxUint16)
	e.media.onSent(atMicro, size, isRTX && !isProbe)
	kind := weir.Video
	if isProbe {
		kind = weir.Probe
	} else if isRTX {
		kind = weir.Retransmission
	}
	e.probe.onSent(probeClusterID, number, size, atMicro)
	e.staleUntilUs = min(e.staleUntilUs, atMicro+staleUs)
	// Nothing that a host sends is an error.
	_ = e.sendSide.OnSentPacket(atMicro, number, size, kind, 0)
}

// HandleTWCCFeedback takes a message, in which anything may be wrong.
func (e *Estimator) HandleTWCCFeedback(report *rtcp.TransportLayerCC) {
	defer e.tell()
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if e.over || report == nil {
		return
	}
	packets := e.reader.Read(report)
	e.probe.onFeedback(packets)
	if e.sendSide.OnTransportFeedback(packets, e.nowUs()) == nil {
		e.refresh()
	}
}

// UpdateRTT takes a round-trip time in seconds.
func (e *Estimator) UpdateRTT(seconds float64) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if seconds > 0 && seconds < 60 {
		e.probe.rttUs = int64(1e6 * seconds)
		_ = e.sendSide.OnRoundTripTime(e.probe.rttUs, e.nowUs())
	}
}

// CongestionState is the one that was last reported, or None since a Reset.
func (e *Estimator) CongestionState() bwe.CongestionState {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	return e.state
}

// refresh reads what the estimator decided, and notes the news of it.
func (e *Estimator) refresh() {
	rates, err := e.sendSide.Rates()
	network, stateErr := e.sendSide.NetworkState()
	if err != nil || stateErr != nil {
		return
	}
	to := congestionState(network.State)
	if to == e.stale && e.nowUs() < e.staleUntilUs {
		to = bwe.CongestionStateNone
	} else {
		e.stale = bwe.CongestionStateNone
	}
	e.probe.onState(to, e.nowUs())
	// LiveKit's rates of layers are without retransmissions.
	capacityBps := e.media.of(network.LinkCapacityBps)
	if to == bwe.CongestionStateCongested && to == e.state {
		lower := int64(newsRatio * float64(e.toldBps))
		if e.nowUs() >= e.toldAtUs+newsUs {
			capacityBps = min(capacityBps, lower)
		}
		if capacityBps <= lower {
			e.note(to, capacityBps)
		}
	} else if to != e.state {
		e.note(to, capacityBps)
	}
	e.targets.log(rates.TargetRateBps, rates.Reason)
}

func (e *Estimator) note(to bwe.CongestionState, capacityBps int64) {
	if e.logger != nil && to != e.state {
		e.logger.Infow("weir: congestion state change", "from", e.state, "to", to, "capacity", capacityBps)
	}
	e.news = append(e.news, change{e.state, to, capacityBps})
	e.state, e.toldBps, e.toldAtUs = to, capacityBps, e.nowUs()
}

// tell hands the news to the listener.
func (e *Estimator) tell() {
	e.telling.Lock()
	defer e.telling.Unlock()
	e.mutex.Lock()
	news, listener := e.news, e.listener
	e.news = nil
	e.mutex.Unlock()
	for _, n := range news {
		if listener != nil {
			listener.OnCongestionStateChange(n.from, n.to, n.capacityBps)
		}
	}
}

// lastSecond is that of the sender.
func (e *Estimator) lastSecond(nowUs int64) (weir.Statistics, bool) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	return e.sendSide.LastSecond(nowUs)
}

// poll the estimator, where no feedback comes; how long to wait for the next time.
func (e *Estimator) poll() time.Duration {
	defer e.tell()
	e.mutex.Lock()
	defer e.mutex.Unlock()
	called, wait := e.sendSide.Poll(e.nowUs())
	if called {
		e.refresh()
	}
	return wait
}

// mediaShare is the share of what was sent lately that was no retransmission.
type mediaShare struct {
	sent, resent float64
	latestUs     int64
}

func (m *mediaShare) onSent(atUs int64, size int, isRTX bool) {
	kept := math.Exp(-float64(max(atUs-m.latestUs, 0)) / shareUs)
	m.latestUs = max(m.latestUs, atUs)
	m.sent, m.resent = m.sent*kept+float64(size), m.resent*kept
	if isRTX {
		m.resent += float64(size)
	}
}

func (m *mediaShare) of(bps int64) int64 {
	if m.sent == 0 {
		return bps
	}
	return int64(float64(bps) * (1 - m.resent/m.sent))
}

func congestionState(state weir.CongestionState) bwe.CongestionState {
	switch state {
	case weir.Congested:
		return bwe.CongestionStateCongested
	case weir.EarlyWarning:
		return bwe.CongestionStateEarlyWarning
	default:
		return bwe.CongestionStateNone
	}
}
