package main

import (
	"time"

	weir "weir/pion"
)

const (
	// mostPadding of a packet (RFC 3550).
	mostPadding = 255
	// probeTick is how often padding is sent, at most longestProbe for one cluster: media may leave no room.
	probeTick    = time.Millisecond
	longestProbe = 300 * time.Millisecond
)

// sendProbe fills a cluster up to its rate with padding on the video; the media that leaves meanwhile counts.
func (w *watcher) sendProbe(cluster weir.ProbeCluster) {
	ticker := time.NewTicker(probeTick)
	defer ticker.Stop()
	size := paddingOf(cluster)
	for end := time.Now().Add(longestProbe); time.Now().Before(end); {
		due, goesOn := w.estimator.ProbeBytesDue()
		for goesOn && due > 0 && w.video.pad(size) {
			due, goesOn = w.estimator.ProbeBytesDue()
		}
		if !goesOn {
			return
		}
		select {
		case <-w.closed:
			return
		case <-ticker.C:
		}
	}
}

// paddingOf a packet: as much as it holds, but in no fewer packets than the cluster needs.
func paddingOf(cluster weir.ProbeCluster) byte {
	bytes := cluster.TargetDataRateBps * cluster.TargetDurationUs / 8_000_000
	each := bytes/int64(max(cluster.TargetProbeCount, 1)) - rtpBytes - wireBytes
	return byte(min(max(each, 1), mostPadding))
}
