package livekit

import (
	"cmp"
	"time"

	"github.com/livekit/livekit-server/pkg/sfu/bwe"
	"github.com/livekit/livekit-server/pkg/sfu/ccutils"

	weir "weir/pion"
)

const (
	clusterDuration = 300 * time.Millisecond
	// Intervals between the ends of clusters: after one that was carried, and after the first that was not.
	carriedUs, congestedUs, maxIntervalUs = 500_000, 3_000_000, 60_000_000
	// backOff multiplies the interval with each cluster that was not carried.
	backOff = 1.5
	// A path that congests within triedUs of a verdict does not carry the layer that the cluster let LiveKit try. The
	// interval is the first again once the next cluster was allowed for calmUs without a failure.
	triedUs, calmUs = 5_000_000, 10_000_000
	// A verdict waits for three round trips and for feedback on each packet, within these limits. While the path is
	// congested it waits for queueUs, in which the queue of the cluster goes if the path carries the media, and for no
	// feedback: LiveKit ignores the news until then.
	minSettleUs, queueUs, maxSettleUs = 250_000, 1_000_000, 3_000_000
	// minCarried is the share of a cluster's bytes that must have arrived.
	minCarried = 0.9
)

// probe is LiveKit's cluster that is sent now or awaits its verdict, and when the next may be sent.
type probe struct {
	cluster
	rttUs      int64
	nextUs     int64
	intervalUs int64
	// The last verdict that a cluster was carried, and the end of the wait after the last failure.
	carriedAtUs, waitedUntilUs int64
}

type cluster struct {
	info         ccutils.ProbeClusterInfo
	active, done bool
	doneUs       int64
	congesting   bool
	// sizes of the cluster's packets that no feedback has mentioned.
	sizes                     map[uint16]int
	sentBytes                 int64
	firstSentUs, latestSentUs int64
	receivedBytes             int64
	firstUs, latestUs         int64
}

// reset forgets the cluster, and allows the next one now.
func (p *probe) reset(nowUs int64) {
	p.cluster = cluster{}
	p.rttUs = cmp.Or(p.rttUs, int64(1e6*bwe.DefaultRTT))
	p.nextUs, p.intervalUs = nowUs, cmp.Or(p.intervalUs, congestedUs)
}

func (p *probe) start(info ccutils.ProbeClusterInfo, state bwe.CongestionState) {
	p.cluster = cluster{
		info: info, active: true, congesting: state != bwe.CongestionStateNone, sizes: map[uint16]int{},
	}
}

func (p *probe) onState(state bwe.CongestionState, nowUs int64) {
	p.congesting = p.congesting || p.active && state != bwe.CongestionStateNone
	if state == bwe.CongestionStateCongested && !p.active && nowUs < p.carriedAtUs+triedUs {
		p.fail(nowUs)
	}
}

func (p *probe) onSent(id ccutils.ProbeClusterId, number uint16, size int, sentUs int64) {
	if !p.active || id != p.info.Id {
		return
	}
	if p.sentBytes == 0 {
		p.firstSentUs = sentUs
	}
	p.sizes[number] = size
	p.sentBytes += int64(size)
	p.latestSentUs = sentUs
}

func (p *probe) onFeedback(packets []weir.PacketFeedback) {
	if !p.active {
		return
	}
	for _, packet := range packets {
		size, ok := p.sizes[packet.SequenceNumber]
		if !ok || packet.Fate == weir.FateUnknown {
			continue
		}
		delete(p.sizes, packet.SequenceNumber)
		if packet.Fate != weir.Received {
			continue
		}
		if p.receivedBytes == 0 {
			p.firstUs = packet.ReceiveTimeUs
		}
		p.receivedBytes += int64(size)
		p.latestUs = max(p.latestUs, packet.ReceiveTimeUs)
	}
}

// receivedBps is the rate at which the cluster arrived; no more than that at which it left, since a receiver may lie.
func (p *probe) receivedBps() int64 {
	spanUs := max(p.latestUs-p.firstUs, p.latestSentUs-p.firstSentUs)
	if spanUs < clusterDuration.Microseconds()/2 {
		return 0
	}
	return p.receivedBytes * 8_000_000 / spanUs
}

// verdict of the cluster, and the capacity that it showed.
func (p *probe) verdict() (ccutils.ProbeSignal, int64) {
	received := p.receivedBps()
	switch {
	case p.congesting:
		return ccutils.ProbeSignalCongesting, received
	case received == 0 || float64(p.receivedBytes) < minCarried*float64(p.sentBytes):
		return ccutils.ProbeSignalInconclusive, 0
	default:
		return ccutils.ProbeSignalNotCongesting, received
	}
}

// end sets when the next cluster may be sent.
func (p *probe) end(signal ccutils.ProbeSignal, nowUs int64) {
	p.cluster = cluster{}
	switch signal {
	case ccutils.ProbeSignalCongesting:
		p.fail(nowUs)
	case ccutils.ProbeSignalNotCongesting:
		p.nextUs, p.carriedAtUs = nowUs+carriedUs, nowUs
		if nowUs > p.waitedUntilUs+calmUs {
			p.intervalUs = congestedUs
		}
	default:
		p.nextUs = nowUs + congestedUs
	}
}

func (p *probe) fail(nowUs int64) {
	p.nextUs, p.carriedAtUs = nowUs+p.intervalUs, 0
	p.waitedUntilUs = p.nextUs
	p.intervalUs = min(int64(backOff*float64(p.intervalUs)), maxIntervalUs)
}

// CanProbe is true when the path is not congested and the last cluster is long enough ago.
func (e *Estimator) CanProbe() bool {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	return !e.over && e.state == bwe.CongestionStateNone && !e.probe.active && e.nowUs() >= e.probe.nextUs
}

// ProbeDuration is how long the next cluster should be.
func (e *Estimator) ProbeDuration() time.Duration { return clusterDuration }

// ProbeClusterStarting begins a cluster, and forgets one that had begun.
func (e *Estimator) ProbeClusterStarting(info ccutils.ProbeClusterInfo) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if !e.over {
		e.probe.start(info, e.state)
	}
}

// ProbeClusterDone ends the sending of the cluster.
func (e *Estimator) ProbeClusterDone(info ccutils.ProbeClusterInfo) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if p := &e.probe; p.active && !p.done && p.info.Id == info.Id {
		p.done, p.doneUs = true, e.nowUs()
	}
}

// ProbeClusterIsGoalReached is true when the cluster arrives at the desired rate.
func (e *Estimator) ProbeClusterIsGoalReached() bool {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	goal := int64(e.probe.info.Goal.DesiredBps)
	return e.probe.active && !e.probe.congesting && e.probe.receivedBps() >= goal
}

// ProbeClusterFinalize returns the verdict and the capacity, once, when the feedback on the cluster has come.
func (e *Estimator) ProbeClusterFinalize() (ccutils.ProbeSignal, int64, bool) {
	e.mutex.Lock()
	p, nowUs := &e.probe, e.nowUs()
	settleUs := int64(minSettleUs)
	if e.state != bwe.CongestionStateNone {
		settleUs = queueUs
	} else if len(p.sizes) > 0 {
		settleUs = maxSettleUs
	}
	settleUs = min(max(3*p.rttUs, settleUs), maxSettleUs)
	if !p.active || !p.done || nowUs-p.doneUs < settleUs {
		e.mutex.Unlock()
		return ccutils.ProbeSignalInconclusive, 0, false
	}
	signal, capacityBps := p.verdict()
	if e.state == bwe.CongestionStateCongested {
		// It is not the cluster's queue, then, and LiveKit ignores news while a cluster lasts.
		e.note(e.state, e.toldBps)
	}
	p.end(signal, nowUs)
	if e.logger != nil {
		e.logger.Debugw("weir: probe", "signal", signal, "capacity", capacityBps)
	}
	e.mutex.Unlock()
	e.tell()
	return signal, capacityBps, true
}
