package observe

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	weir "weir/pion"
)

// metrics of all connections. The label in_charge is who is in charge: each is a group of the comparison.
type metrics struct {
	connections                *prometheus.GaugeVec
	switches                   *prometheus.CounterVec
	errors                     prometheus.Counter
	seconds, reasons           *prometheus.CounterVec
	target, ratio              *prometheus.HistogramVec
	received, delay, loss      *prometheus.HistogramVec
	freezes, frozen            *prometheus.CounterVec
	other                      string
	eachTarget                 *prometheus.GaugeVec
	eachReceived, eachDelay    *prometheus.GaugeVec
	eachLoss, eachWeirInCharge *prometheus.GaugeVec
}

func newMetrics(options Options) (*metrics, error) {
	const namespace = "weir_observed"
	var all []prometheus.Collector
	add := func(collector prometheus.Collector) { all = append(all, collector) }
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		v := prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help}, labels)
		add(v)
		return v
	}
	histogram := func(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
		o := prometheus.HistogramOpts{Namespace: namespace, Name: name, Help: help, Buckets: buckets}
		v := prometheus.NewHistogramVec(o, labels)
		add(v)
		return v
	}
	gauge := func(name, help string, labels ...string) *prometheus.GaugeVec {
		v := prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: namespace, Name: name, Help: help}, labels)
		add(v)
		return v
	}
	rates := prometheus.ExponentialBuckets(50_000, 2, 11)
	m := &metrics{
		other:       options.Other,
		connections: gauge("connections", "Open connections.", "in_charge"),
		switches:    counter("switches_total", "Changes of who is in charge, to whom.", "in_charge"),
		seconds:     counter("seconds_total", "Time observed.", "in_charge"),
		reasons:     counter("reason_seconds_total", "Time for which Weir's target had a reason.", "in_charge", "reason"),
		target: histogram("target_bits_per_second", "Targets of both estimators, each second.", rates,
			"in_charge", "estimator"),
		ratio: histogram("target_ratio", "Weir's target divided by the other's, each second.",
			[]float64{0.25, 0.5, 0.75, 0.9, 1.1, 1.33, 2, 4}, "in_charge"),
		received: histogram("received_bits_per_second", "Rate received, each second.", rates, "in_charge"),
		delay: histogram("queueing_delay_seconds", "Mean queueing delay of packets, each second.",
			prometheus.ExponentialBuckets(0.005, 2, 10), "in_charge"),
		loss: histogram("loss_ratio", "Share of packets lost, each second.",
			[]float64{0, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5}, "in_charge"),
		freezes: counter("freezes_total", "Freezes of video that receivers reported.", "in_charge"),
		frozen:  counter("frozen_seconds_total", "Time of frozen video that receivers reported.", "in_charge"),
		errors: prometheus.NewCounter(prometheus.CounterOpts{
			Namespace: namespace, Name: "errors_total", Help: "Errors of logs and of the file in_charge.",
		}),
	}
	add(m.errors)
	if options.EachConnection {
		m.eachTarget = gauge("connection_target_bits_per_second", "Latest targets of both estimators.",
			"connection", "estimator")
		m.eachReceived = gauge("connection_received_bits_per_second", "Latest rate received.", "connection")
		m.eachDelay = gauge("connection_queueing_delay_seconds", "Latest queueing delay.", "connection")
		m.eachLoss = gauge("connection_loss_ratio", "Latest share of packets lost.", "connection")
		m.eachWeirInCharge = gauge("connection_weir_in_charge", "1 if Weir is in charge, else 0.", "connection")
	}
	if options.Registerer == nil {
		return m, nil
	}
	for i, collector := range all {
		if err := options.Registerer.Register(collector); err != nil {
			for _, registered := range all[:i] {
				options.Registerer.Unregister(registered)
			}
			return nil, err
		}
	}
	return m, nil
}

func (m *metrics) record(id, inCharge string, o weir.Observation, elapsed time.Duration) {
	weirBps, otherBps := float64(o.Weir.TargetRateBps), float64(o.OtherRateBps)
	m.seconds.WithLabelValues(inCharge).Add(seconds(elapsed))
	m.reasons.WithLabelValues(inCharge, o.Weir.Reason).Add(seconds(elapsed))
	m.target.WithLabelValues(inCharge, "weir").Observe(weirBps)
	if otherBps > 0 {
		m.target.WithLabelValues(inCharge, m.other).Observe(otherBps)
		m.ratio.WithLabelValues(inCharge).Observe(weirBps / otherBps)
	}
	m.received.WithLabelValues(inCharge).Observe(float64(o.Weir.ReceiveRateBps))
	m.delay.WithLabelValues(inCharge).Observe(o.Weir.QueueingDelay.Seconds())
	m.loss.WithLabelValues(inCharge).Observe(o.Weir.LossRatio)
	if m.eachTarget == nil {
		return
	}
	m.eachTarget.WithLabelValues(id, "weir").Set(weirBps)
	if otherBps > 0 {
		m.eachTarget.WithLabelValues(id, m.other).Set(otherBps)
	} else {
		m.eachTarget.DeleteLabelValues(id, m.other)
	}
	m.eachReceived.WithLabelValues(id).Set(float64(o.Weir.ReceiveRateBps))
	m.eachDelay.WithLabelValues(id).Set(o.Weir.QueueingDelay.Seconds())
	m.eachLoss.WithLabelValues(id).Set(o.Weir.LossRatio)
	weirInCharge := 0.0
	if inCharge != m.other {
		weirInCharge = 1
	}
	m.eachWeirInCharge.WithLabelValues(id).Set(weirInCharge)
}

func (m *metrics) close(id, inCharge string) {
	m.connections.WithLabelValues(inCharge).Dec()
	if m.eachTarget == nil {
		return
	}
	m.eachTarget.DeletePartialMatch(prometheus.Labels{"connection": id})
	for _, each := range []*prometheus.GaugeVec{m.eachReceived, m.eachDelay, m.eachLoss, m.eachWeirInCharge} {
		each.DeleteLabelValues(id)
	}
}
