package cc

import weir "weir/pion"

// probe is the cluster that the host sends now: the packets that leave from now on, until they are as much as was requested.
type probe struct {
	id        int32
	bytesLeft int64
}

func (p *probe) begin(cluster weir.ProbeCluster) {
	p.id, p.bytesLeft = cluster.ID, cluster.TargetDataRateBps*cluster.TargetDurationUs/8_000_000
}

// take returns the cluster of a packet that leaves now; 0: none.
func (p *probe) take(size int) int32 {
	if p.bytesLeft <= 0 {
		return 0
	}
	p.bytesLeft -= int64(size)
	return p.id
}

// SetDesiredRate is for media in layers: the target bitrates for all of them, and for one layer more (0: any more is
// welcome). From the first call on the target is no more than the path has shown to carry, and TakeProbeCluster asks for
// bursts that show more.
func (e *Estimator) SetDesiredRate(totalBps, nextBps int64) error {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	return e.sendSide.SetDesiredRate(totalBps, nextBps)
}

// TakeProbeCluster returns a cluster that has become due, once each, and false where none has. The host fills up with
// padding or retransmissions at once; whatever leaves from now on counts, until it is enough.
func (e *Estimator) TakeProbeCluster() (weir.ProbeCluster, bool) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	cluster, err := e.sendSide.TakeProbeCluster()
	if err != nil || cluster.ID == 0 {
		return weir.ProbeCluster{}, false
	}
	e.probe.begin(cluster)
	return cluster, true
}

// NetworkState is that of now; the zero value after Close.
func (e *Estimator) NetworkState() weir.NetworkState {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	state, _ := e.sendSide.NetworkState()
	return state
}
