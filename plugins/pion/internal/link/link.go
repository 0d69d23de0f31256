// Package link is an emulated path between two pion peers in one process, for tests: a bottleneck with a queue, and a
// delay each way.
package link

import (
	"testing"
	"time"

	"github.com/pion/ice/v4"
	"github.com/pion/interceptor"
	"github.com/pion/logging"
	"github.com/pion/transport/v5/vnet"
	"github.com/pion/webrtc/v4"
)

// burstBytes is what the bottleneck sends at once after a rest: two packets.
const burstBytes = 3000

// Link is the path; what Near sends to Far passes the bottleneck.
type Link struct {
	Near, Far *vnet.Net
}

// New makes a path that ends with the test.
func New(t testing.TB, rateBps int, oneWayDelay, queue time.Duration) *Link {
	t.Helper()
	logs := logging.NewDefaultLoggerFactory()
	router, err := vnet.NewRouter(&vnet.RouterConfig{CIDR: "10.0.0.0/24", MinDelay: oneWayDelay, LoggerFactory: logs})
	must(t, err)
	l := &Link{}
	l.Near, err = vnet.NewNet(&vnet.NetConfig{StaticIPs: []string{"10.0.0.1"}})
	must(t, err)
	l.Far, err = vnet.NewNet(&vnet.NetConfig{StaticIPs: []string{"10.0.0.2"}})
	must(t, err)
	queueBytes := int64(float64(rateBps) / 8 * queue.Seconds())
	bottleneck, err := vnet.NewQueue(l.Far, vnet.NewTBFQueue(rateBps, burstBytes, queueBytes))
	must(t, err)
	must(t, router.AddNet(l.Near))
	must(t, router.AddNet(bottleneck))
	must(t, router.Start())
	t.Cleanup(func() {
		_ = router.Stop()
		_ = bottleneck.Close()
	})
	return l
}

// On puts a peer at an end of the path.
func On(end *vnet.Net) func(*webrtc.SettingEngine) {
	return func(settings *webrtc.SettingEngine) {
		settings.SetNet(end)
		settings.SetICEMulticastDNSMode(ice.MulticastDNSModeDisabled)
	}
}

// NewPeer makes a PeerConnection at an end of the path, with pion's codecs and what `register` adds.
func NewPeer(
	t testing.TB, end *vnet.Net,
	register func(*webrtc.SettingEngine, *webrtc.MediaEngine, *interceptor.Registry) error,
) *webrtc.PeerConnection {
	t.Helper()
	settings, media, registry := &webrtc.SettingEngine{}, &webrtc.MediaEngine{}, &interceptor.Registry{}
	On(end)(settings)
	must(t, media.RegisterDefaultCodecs())
	must(t, register(settings, media, registry))
	api := webrtc.NewAPI(
		webrtc.WithSettingEngine(*settings), webrtc.WithMediaEngine(media), webrtc.WithInterceptorRegistry(registry))
	peer, err := api.NewPeerConnection(webrtc.Configuration{})
	must(t, err)
	t.Cleanup(func() { _ = peer.Close() })
	return peer
}

// Plain registers what pion registers by itself.
func Plain(_ *webrtc.SettingEngine, media *webrtc.MediaEngine, registry *interceptor.Registry) error {
	return webrtc.RegisterDefaultInterceptors(media, registry)
}

// Connect has `offering` call `answering`, and waits for the connection.
func Connect(t testing.TB, offering, answering *webrtc.PeerConnection) {
	t.Helper()
	connected := make(chan struct{}, 2)
	for _, peer := range []*webrtc.PeerConnection{offering, answering} {
		peer.OnConnectionStateChange(func(state webrtc.PeerConnectionState) {
			if state == webrtc.PeerConnectionStateConnected {
				connected <- struct{}{}
			}
		})
	}
	offer, err := offering.CreateOffer(nil)
	must(t, err)
	must(t, answering.SetRemoteDescription(gathered(t, offering, offer)))
	answer, err := answering.CreateAnswer(nil)
	must(t, err)
	must(t, offering.SetRemoteDescription(gathered(t, answering, answer)))
	for range 2 {
		select {
		case <-connected:
		case <-time.After(20 * time.Second):
			t.Fatal("no connection within 20 s")
		}
	}
}

// gathered is a description with all its candidates.
func gathered(t testing.TB, peer *webrtc.PeerConnection, description webrtc.SessionDescription) webrtc.SessionDescription {
	t.Helper()
	complete := webrtc.GatheringCompletePromise(peer)
	must(t, peer.SetLocalDescription(description))
	<-complete
	return *peer.LocalDescription()
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
