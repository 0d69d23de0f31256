package main

import (
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pion/webrtc/v4"

	"weir/pion/internal/link"
)

// testWatcher is a pion client behind a link, and counts of its video.
type testWatcher struct {
	bytes, frames, skipped, backwards atomic.Int64
}

// offer has a client offer itself to Publish or Watch.
func offer(t *testing.T, client *webrtc.PeerConnection, to func(offer string) (string, error)) {
	t.Helper()
	offer, err := client.CreateOffer(nil)
	if err != nil {
		t.Fatal(err)
	}
	gathered := webrtc.GatheringCompletePromise(client)
	if err := client.SetLocalDescription(offer); err != nil {
		t.Fatal(err)
	}
	<-gathered
	answer, err := to(client.LocalDescription().SDP)
	if err == nil {
		err = client.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeAnswer, SDP: answer})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// watchBehind joins over a link of that rate.
func watchBehind(t *testing.T, room *Room, rateBps int) *testWatcher {
	t.Helper()
	path := link.New(t, rateBps, 20*time.Millisecond, 300*time.Millisecond)
	room.configure = link.On(path.Near)
	client := link.NewPeer(t, path.Far, link.Plain)
	w := &testWatcher{}
	client.OnTrack(func(track *webrtc.TrackRemote, _ *webrtc.RTPReceiver) {
		var timestamp uint32
		var picture uint16
		for started := false; ; {
			packet, _, err := track.ReadRTP()
			if err != nil {
				return
			}
			w.bytes.Add(int64(len(packet.Payload)))
			if len(packet.Payload) == 0 || packet.Payload[0]&0x10 == 0 {
				continue
			}
			info := readVP8(packet.Payload)
			step := int16(info.pictureID(packet.Payload)-picture) << 1 >> 1
			if started && step != 1 {
				w.skipped.Add(1)
			}
			if started && step > 0 && int32(packet.Timestamp-timestamp) <= 0 {
				w.backwards.Add(1)
			}
			w.frames.Add(1)
			started, picture, timestamp = true, info.pictureID(packet.Payload), packet.Timestamp
		}
	})
	direction := webrtc.RTPTransceiverInit{Direction: webrtc.RTPTransceiverDirectionRecvonly}
	if _, err := client.AddTransceiverFromKind(webrtc.RTPCodecTypeVideo, direction); err != nil {
		t.Fatal(err)
	}
	offer(t, client, room.Watch)
	return w
}

func (w *testWatcher) rateDuring(during time.Duration) float64 {
	before := w.bytes.Load()
	time.Sleep(during)
	return float64(8*(w.bytes.Load()-before)) / during.Seconds()
}

// A watcher behind a slow path does not limit one behind a fast one.
func TestEachWatcherGetsTheLayerOfItsPath(t *testing.T) {
	link.Simulated(t, eachWatcherGetsTheLayerOfItsPath)
}

func eachWatcherGetsTheLayerOfItsPath(t *testing.T) {
	room := newRoom(t)
	layers := publishSimulcast(t, room)
	const settles, measured = 6 * time.Second, 3 * time.Second
	fast := watchBehind(t, room, 5_000_000)
	time.Sleep(settles)
	alone := fast.rateDuring(measured)
	slow := watchBehind(t, room, 300_000)
	time.Sleep(settles)
	slowBefore := slow.bytes.Load()
	together := fast.rateDuring(measured)
	slowRate := float64(8*(slow.bytes.Load()-slowBefore)) / measured.Seconds()
	down := room.Estimates().Down
	for i, w := range []*testWatcher{fast, slow} {
		t.Logf("%+v; %d frames, %d steps", down[i], w.frames.Load(), w.skipped.Load())
	}
	t.Logf("fast %.0f bps alone, %.0f with the slow one at %.0f; key frames %d %d %d", alone, together, slowRate,
		layers[0].keys.Load(), layers[1].keys.Load(), layers[2].keys.Load())
	metrics := httptest.NewRecorder()
	Handler(room).ServeHTTP(metrics, httptest.NewRequest("GET", "http://localhost/metrics", nil))
	checkMetrics(t, metrics.Body.String(), "\nweir_layer{watcher=\"1\"} ")
	if fast.backwards.Load() > 0 || slow.backwards.Load() > 0 {
		t.Error("timestamps do not rise with the picture IDs")
	}
	if fast.skipped.Load() > 0 {
		t.Errorf("%d picture IDs do not follow on the one before", fast.skipped.Load())
	}
	if down[0].Forwarding != "f" || down[1].Forwarding == "f" || together < 0.9*alone || alone < 1_300_000 {
		t.Errorf("the fast watcher has %s, the slow one %s", down[0].Forwarding, down[1].Forwarding)
	}
	if slowRate > 300_000 || slowRate < 60_000 {
		t.Errorf("the slow watcher has %.0f bps", slowRate)
	}
}

// checkMetrics checks Prometheus's text format: each sample after the HELP and TYPE of its family, each family once.
func checkMetrics(t *testing.T, text, expected string) {
	t.Helper()
	sample := regexp.MustCompile(`^([a-z_]+)(?:\{watcher="\d+"\})? -?[0-9.e+]+$`)
	var families []string
	for _, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if fields := strings.Fields(line); strings.HasPrefix(line, "# HELP ") {
			if slices.Contains(families, fields[2]) {
				t.Errorf("twice: %s", line)
			}
			families = append(families, fields[2])
		} else if strings.HasPrefix(line, "# TYPE ") {
			if fields[2] != families[len(families)-1] || fields[3] == "counter" != strings.HasSuffix(fields[2], "_total") {
				t.Error(line)
			}
		} else if parts := sample.FindStringSubmatch(line); parts == nil || parts[1] != families[len(families)-1] {
			t.Error(line)
		}
	}
	if !strings.Contains(text, expected) {
		t.Errorf("%q is not in\n%s", expected, text)
	}
}
