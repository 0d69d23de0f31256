package cc_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pion/interceptor"
	pioncc "github.com/pion/interceptor/pkg/cc"
	"github.com/pion/interceptor/pkg/pacing"
	"github.com/pion/webrtc/v4"

	weir "weir/pion"
	"weir/pion/cc"
	"weir/pion/internal/link"
	"weir/pion/shipped"
)

const linkBps = 1_000_000

// A sender with Weir, over an emulated link to a receiver that is pion as it comes.
func TestASenderReachesTheRateOfTheLink(t *testing.T) {
	link.Simulated(t, func(t *testing.T) { reachTheRateOfTheLink(t, nil, link.Plain) })
}

// The same without transport-wide numbers, and behind a pacer that follows the pacing rate.
func TestAPacedSenderReachesTheRateOfTheLinkFromPerStreamFeedback(t *testing.T) {
	link.Simulated(t, func(t *testing.T) {
		reachTheRateOfTheLink(t, pacing.NewInterceptor(pacing.InitialRate(330_000)),
			func(_ *webrtc.SettingEngine, media *webrtc.MediaEngine, registry *interceptor.Registry) error {
				return webrtc.ConfigureCongestionControlFeedback(media, registry)
			})
	})
}

func reachTheRateOfTheLink(
	t *testing.T, pacer *pacing.InterceptorFactory,
	receiver func(*webrtc.SettingEngine, *webrtc.MediaEngine, *interceptor.Registry) error,
) {
	model, err := shipped.Model()
	if err != nil {
		t.Fatal(err)
	}
	path := link.New(t, linkBps, 20*time.Millisecond, 300*time.Millisecond)
	estimators := make(chan *cc.Estimator, 1)
	var pacerID string
	sending := link.NewPeer(t, path.Near,
		func(_ *webrtc.SettingEngine, media *webrtc.MediaEngine, registry *interceptor.Registry) error {
			controller, err := pioncc.NewInterceptor(cc.NewFactory(cc.Options{Config: weir.Config{Model: model}}))
			if err != nil {
				return err
			}
			controller.OnNewPeerConnection(func(id string, e pioncc.BandwidthEstimator) {
				pacerID = id
				estimators <- e.(*cc.Estimator)
			})
			registry.Add(controller)
			if pacer != nil {
				registry.Add(pacer)
				return webrtc.ConfigureRTCPReports(registry)
			}
			return errors.Join(
				cc.ConfigureTWCCHeaderExtensionSender(media, registry), webrtc.ConfigureRTCPReports(registry))
		})
	receiving := link.NewPeer(t, path.Far, receiver)
	filler, err := link.NewFiller(300_000)
	if err != nil {
		t.Fatal(err)
	}
	estimator := <-estimators
	estimator.OnTargetBitrateChange(func(bitrate int) {
		filler.SetRate(int64(bitrate))
		if pacer != nil {
			pacer.SetRate(pacerID, int(estimator.Rates().PacingRateBps))
		}
	})
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
	before := received.Load()
	const measured = 4 * time.Second
	time.Sleep(measured)
	rate := float64(8*(received.Load()-before)) / measured.Seconds()
	t.Logf("%.0f kbps of %d; %v", rate/1e3, linkBps/1000, estimator.GetStats())
	if lost := estimator.GetStats()["packetsInvalid"]; lost != uint64(0) {
		t.Errorf("%v packets were out of order", lost)
	}
	if rate < 0.7*linkBps || rate > 1.05*linkBps {
		t.Errorf("%.0f bps arrived over a link of %d", rate, linkBps)
	}
}
