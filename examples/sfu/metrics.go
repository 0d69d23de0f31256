package main

import (
	"fmt"
	"io"
)

// metric is a family of Prometheus's text format, with one value for each watcher.
type metric struct {
	name, kind, help string
	of               func(Down) any
}

func stat(name string) func(Down) any { return func(d Down) any { return d.Stats[name] } }

var metrics = []metric{
	{"weir_target_bitrate_bps", "gauge", "Target bitrate of the path to the watcher.", stat("targetBitrate")},
	{"weir_congestion_state", "gauge", "0: normal, 1: early warning, 2: congested.",
		func(d Down) any { return int32(d.state) }},
	{"weir_layer", "gauge", "Index of the chosen video layer, the lowest is 0; -1: none.",
		func(d Down) any { return d.Layer }},
	{"weir_layer_bitrate_bps", "gauge", "Measured bitrate of the chosen video layer.",
		func(d Down) any { return d.LayerBps }},
	{"weir_packets_received_total", "counter", "Packets that feedback reported as received.", stat("packetsReceived")},
	{"weir_packets_lost_total", "counter", "Packets that feedback reported as lost.", stat("packetsLost")},
	{"weir_probe_clusters_total", "counter", "Probe clusters that were requested.", stat("probeClusters")},
	{"weir_probe_clusters_carried_total", "counter", "Probe clusters that the path carried.", stat("probesCarried")},
	{"weir_probe_clusters_limited_total", "counter", "Probe clusters that the path did not carry.", stat("probesLimited")},
	{"weir_probe_bytes_total", "counter", "Padding and retransmissions sent in probe clusters.", stat("probeBytes")},
}

// writeMetrics writes Prometheus's text format, version 0.0.4.
func writeMetrics(w io.Writer, estimates Estimates) {
	single := func(name, kind, help string, value any) {
		fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n%s %v\n", name, help, name, kind, name, value)
	}
	single("weir_watchers", "gauge", "Number of watchers.", len(estimates.Down))
	if up := estimates.Up; up != nil {
		single("weir_publisher_target_bitrate_bps", "gauge", "Estimate of the publisher's path.", up.TargetRateBps)
	}
	for _, m := range metrics {
		fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n", m.name, m.help, m.name, m.kind)
		for _, d := range estimates.Down {
			// One that has just closed has no statistics.
			if value := m.of(d); value != nil {
				fmt.Fprintf(w, "%s{watcher=\"%d\"} %v\n", m.name, d.ID, value)
			}
		}
	}
}
