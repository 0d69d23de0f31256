package cc_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pion/interceptor"
	pioncc "github.com/pion/interceptor/pkg/cc"
	"github.com/pion/webrtc/v4"

	weir "weir/pion"
	"weir/pion/cc"
	"weir/pion/internal/link"
	"weir/pion/shipped"
)

// call is a sender with Weir, over an emulated link to a receiver that is pion as it comes.
type call struct {
	linkBps int
	queue   time.Duration
	// interval of the sender's frames.
	interval time.Duration
	maxBps   int64
	receiver func(*webrtc.SettingEngine, *webrtc.MediaEngine, *interceptor.Registry) error
}

func TestASenderReachesTheRateOfTheLink(t *testing.T) {
	link.Simulated(t, func(t *testing.T) {
		call{linkBps: 1_000_000, queue: 300 * time.Millisecond, interval: 5 * time.Millisecond, receiver: link.Plain}.reach(t)
	})
}

// Without transport-wide numbers.
func TestASenderReachesTheRateOfTheLinkFromPerStreamFeedback(t *testing.T) {
	link.Simulated(t, func(t *testing.T) {
		receiver := func(_ *webrtc.SettingEngine, media *webrtc.MediaEngine, registry *interceptor.Registry) error {
			return webrtc.ConfigureCongestionControlFeedback(media, registry)
		}
		call{linkBps: 1_000_000, queue: 300 * time.Millisecond, interval: 5 * time.Millisecond, receiver: receiver}.reach(t)
	})
}

// A socket's buffer, and other short queues, show no delay before they drop packets: a burst of a frame loses packets at
// rates far below the link's.
func TestFramesLoseNoPacketsInAQueueShorterThanAFrame(t *testing.T) {
	link.Simulated(t, func(t *testing.T) {
		call{
			linkBps: 10_000_000, queue: 8 * time.Millisecond, interval: time.Second / 30, maxBps: 8_000_000, receiver: link.Plain,
		}.reach(t)
	})
}

// reach makes the call and checks that at least 0.7 of the link's rate arrives, with at most 2 % of loss.
func (c call) reach(t *testing.T) {
	t.Helper()
	model, err := shipped.Model()
	if err != nil {
		t.Fatal(err)
	}
	config := weir.Config{Model: model, Constraints: weir.Constraints{MaxRateBps: c.maxBps}}
	path := link.New(t, c.linkBps, 20*time.Millisecond, c.queue)
	estimators := make(chan *cc.Estimator, 1)
	sending := link.NewPeer(t, path.Near,
		func(_ *webrtc.SettingEngine, media *webrtc.MediaEngine, registry *interceptor.Registry) error {
			controller, err := pioncc.NewInterceptor(cc.NewFactory(cc.Options{Config: config}))
			if err != nil {
				return err
			}
			controller.OnNewPeerConnection(func(_ string, e pioncc.BandwidthEstimator) {
				estimators <- e.(*cc.Estimator)
			})
			registry.Add(controller)
			return errors.Join(
				cc.ConfigureTWCCHeaderExtensionSender(media, registry), webrtc.ConfigureRTCPReports(registry))
		})
	receiving := link.NewPeer(t, path.Far, c.receiver)
	filler, err := link.NewFiller(300_000, c.interval)
	if err != nil {
		t.Fatal(err)
	}
	estimator := <-estimators
	estimator.OnTargetBitrateChange(func(bitrate int) { filler.SetRate(int64(bitrate)) })
	sender, err := sending.AddTrack(filler.Track)
	if err != nil {
		t.Fatal(err)
	}
	// Feedback is seen by whoever reads it.
	go func() {
		for {
			if _, _, err := sender.ReadRTCP(); err != nil {
				return
			}
		}
	}()
	var received atomic.Int64
	receiving.OnTrack(func(track *webrtc.TrackRemote, _ *webrtc.RTPReceiver) {
		buffer := make([]byte, 1500)
		for {
			n, _, err := track.Read(buffer)
			if err != nil {
				return
			}
			received.Add(int64(n))
		}
	})
	link.Connect(t, sending, receiving)
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go filler.Run(ctx)
	time.Sleep(6 * time.Second)
	before, counted := received.Load(), estimator.GetStats()
	const measured = 4 * time.Second
	time.Sleep(measured)
	rate, stats := float64(8*(received.Load()-before))/measured.Seconds(), estimator.GetStats()
	since := func(name string) float64 { return float64(stats[name].(uint64) - counted[name].(uint64)) }
	loss := since("packetsLost") / (since("packetsLost") + since("packetsReceived"))
	t.Logf("%.0f kbps of %d, loss %.3f; %v", rate/1e3, c.linkBps/1000, loss, stats)
	if lost := stats["packetsInvalid"]; lost != uint64(0) {
		t.Errorf("%v packets were out of order", lost)
	}
	if link := float64(c.linkBps); rate < 0.7*link || rate > 1.05*link || !(loss <= 0.02) {
		t.Errorf("%.0f bps arrived over a link of %.0f, and %.3f of the packets were lost", rate, link, loss)
	}
}
