package cc

import (
	"errors"

	weir "weir/pion"
)

var errPaced = errors.New("cc: probe clusters would leave at the pacing rate; set Options.Unpaced")

// probe is the cluster that the host sends now. Packets that leave belong to it until they are enough.
type probe struct {
	cluster weir.ProbeCluster
	beganUs int64
	bytes   int64
	packets int
}

func (p *probe) enough() bool {
	asked := p.cluster.TargetDataRateBps * p.cluster.TargetDurationUs / 8_000_000
	return p.bytes >= asked && p.packets >= p.cluster.TargetProbeCount
}

// take returns the cluster of a packet that leaves now; 0: none.
func (p *probe) take(size int) int32 {
	if p.enough() {
		return 0
	}
	p.bytes += int64(size)
	p.packets++
	return p.cluster.ID
}

// SetDesiredRate is for media in layers: the target bitrates for all of them, and for one layer more (0: any more is
// welcome). From the first call on the target is no more than the path has shown to carry, and TakeProbeCluster asks for
// bursts that show more. It is an error without Options.Unpaced, since a cluster would leave at the pacing rate.
func (e *Estimator) SetDesiredRate(totalBps, nextBps int64) error {
	if e.pacer.Load() != nil {
		return errPaced
	}
	e.mutex.Lock()
	defer e.mutex.Unlock()
	return e.sendSide.SetDesiredRate(totalBps, nextBps)
}

// TakeProbeCluster returns a cluster that has become due, once each, and false where none has. The host sends it at
// once: whatever leaves from now on counts until it is enough, and ProbeBytesDue is how much padding fills it up.
func (e *Estimator) TakeProbeCluster() (weir.ProbeCluster, bool) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	cluster, err := e.sendSide.TakeProbeCluster()
	if err != nil || cluster.ID == 0 {
		return weir.ProbeCluster{}, false
	}
	e.probe = probe{cluster: cluster, beganUs: e.nowUs()}
	return cluster, true
}

// ProbeBytesDue returns by how much the cluster that was taken is behind its rate, which a packet of padding is due for
// when it is above 0; false once enough has left. Sizes count as everywhere, with IP and UDP.
func (e *Estimator) ProbeBytesDue() (int, bool) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	p := &e.probe
	if e.over || p.enough() {
		return 0, false
	}
	elapsed := min(e.nowUs()-p.beganUs, p.cluster.TargetDurationUs)
	// One more: the first packet leaves at once.
	return int(p.cluster.TargetDataRateBps*elapsed/8_000_000 - p.bytes + 1), true
}

// NetworkState is that of now; the zero value after Close.
func (e *Estimator) NetworkState() weir.NetworkState {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	state, _ := e.sendSide.NetworkState()
	return state
}
