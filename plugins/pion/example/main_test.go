package main

import (
	"testing"
	"time"

	"github.com/pion/rtp"

	weir "weir/pion"
	"weir/pion/cc"
	"weir/pion/internal/link"
)

// slowWriter takes 100 ms for a packet, three intervals of the ticker.
type slowWriter struct {
	start time.Time
	// lags are the differences between the clock and the timestamps.
	lags []time.Duration
	done chan struct{}
}

func (w *slowWriter) WriteRTP(packet *rtp.Packet) error {
	timestamp := time.Duration(packet.Timestamp) * time.Second / 90_000
	w.lags = append(w.lags, time.Since(w.start)-timestamp)
	time.Sleep(100 * time.Millisecond)
	if len(w.lags) == 50 {
		close(w.done)
	}
	return nil
}

func TestTimestampsFollowTheClockWhereTicksAreDropped(t *testing.T) {
	link.Simulated(t, func(t *testing.T) {
		config := weir.Config{Controller: "fixed", Constraints: weir.Constraints{StartRateBps: 200_000}}
		estimator, err := cc.NewEstimator(cc.Options{Config: config, Unpaced: true})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = estimator.Close() }()
		writer := &slowWriter{start: time.Now(), done: make(chan struct{})}
		send(writer, estimator, writer.done)
		for _, lag := range writer.lags {
			if lag < 0 || lag > time.Millisecond {
				t.Fatalf("timestamps lag by %v", writer.lags)
			}
		}
	})
}
