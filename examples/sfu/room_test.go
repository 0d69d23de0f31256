package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pion/ice/v4"
	"github.com/pion/rtcp"
	"github.com/pion/webrtc/v4"

	"weir/pion/internal/link"
	"weir/pion/shipped"
)

var duration = flag.Duration("duration", 10*time.Second, "how long watchers join and leave")

const watchers = 20

func (r *Room) taken() bool {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.publisher != nil
}

func newRoom(t *testing.T) *Room {
	t.Helper()
	model, err := shipped.Model()
	if err != nil {
		t.Fatal(err)
	}
	room, err := NewRoom(model)
	if err != nil {
		t.Fatal(err)
	}
	return room
}

func newServer(t *testing.T) (*Room, *httptest.Server) {
	t.Helper()
	room := newRoom(t)
	server := httptest.NewServer(Handler(room))
	t.Cleanup(server.Close)
	return room, server
}

// newClient is pion as it comes, on the loopback device.
func newClient() (*webrtc.PeerConnection, error) {
	settings := webrtc.SettingEngine{}
	settings.SetICEMulticastDNSMode(ice.MulticastDNSModeDisabled)
	settings.SetIncludeLoopbackCandidate(true)
	settings.SetIPFilter(net.IP.IsLoopback)
	settings.SetNetworkTypes([]webrtc.NetworkType{webrtc.NetworkTypeUDP4})
	return webrtc.NewAPI(webrtc.WithSettingEngine(settings)).NewPeerConnection(webrtc.Configuration{})
}

// call has a client offer at a path of the server.
func call(server *httptest.Server, path string, client *webrtc.PeerConnection) (int, error) {
	offer, err := client.CreateOffer(nil)
	if err != nil {
		return 0, err
	}
	gathered := webrtc.GatheringCompletePromise(client)
	if err := client.SetLocalDescription(offer); err != nil {
		return 0, err
	}
	<-gathered
	response, err := server.Client().Post(server.URL+path, "application/sdp", strings.NewReader(client.LocalDescription().SDP))
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	sdp, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusCreated {
		return response.StatusCode, err
	}
	return response.StatusCode, client.SetRemoteDescription(
		webrtc.SessionDescription{Type: webrtc.SDPTypeAnswer, SDP: string(sdp)})
}

// publish sends filler at the rate of REMB; returns how many REMB came, and how many SSRCs in them were never sent.
func publish(t *testing.T, server *httptest.Server) (rembs, wrong *atomic.Int64, leave func()) {
	t.Helper()
	client, err := newClient()
	if err != nil {
		t.Fatal(err)
	}
	filler, err := link.NewFiller(startRateBps, 5*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	sender, err := client.AddTrack(filler.Track)
	if err != nil {
		t.Fatal(err)
	}
	if status, err := call(server, "/publish", client); err != nil || status != http.StatusCreated {
		t.Fatalf("publishing: %d, %v", status, err)
	}
	encoding := sender.GetParameters().Encodings[0]
	rembs, wrong = new(atomic.Int64), new(atomic.Int64)
	go func() {
		for {
			packets, _, err := sender.ReadRTCP()
			if err != nil {
				return
			}
			for _, packet := range packets {
				if feedback, ok := packet.(*rtcp.ReceiverEstimatedMaximumBitrate); ok {
					rembs.Add(1)
					// Twenty watchers on one machine: at most this each.
					filler.SetRate(min(int64(feedback.Bitrate), 500_000))
					for _, ssrc := range feedback.SSRCs {
						if ssrc != uint32(encoding.SSRC) && ssrc != uint32(encoding.RTX.SSRC) {
							wrong.Add(1)
						}
					}
				}
			}
		}
	}()
	ctx, stop := context.WithCancel(context.Background())
	go filler.Run(ctx)
	return rembs, wrong, func() { stop(); _ = client.Close() }
}

// watch receives until a while after the first packet.
func watch(server *httptest.Server, stay time.Duration) error {
	client, err := newClient()
	if err != nil {
		return err
	}
	defer client.Close()
	began := make(chan struct{})
	var once sync.Once
	client.OnTrack(func(track *webrtc.TrackRemote, _ *webrtc.RTPReceiver) {
		for {
			if _, _, err := track.ReadRTP(); err != nil {
				return
			}
			once.Do(func() { close(began) })
		}
	})
	for _, kind := range []webrtc.RTPCodecType{webrtc.RTPCodecTypeVideo, webrtc.RTPCodecTypeAudio} {
		direction := webrtc.RTPTransceiverInit{Direction: webrtc.RTPTransceiverDirectionRecvonly}
		if _, err := client.AddTransceiverFromKind(kind, direction); err != nil {
			return err
		}
	}
	if _, err := call(server, "/watch", client); err != nil {
		return err
	}
	const limit = 30 * time.Second
	select {
	case <-began:
		time.Sleep(stay)
		return nil
	case <-time.After(limit):
		return fmt.Errorf("no packet within %s", limit)
	}
}

// In real time, on the loopback device: `go test -race -run Watchers -duration 10m -timeout 15m -v` is the long one.
func TestWatchersJoinAndLeave(t *testing.T) {
	room, server := newServer(t)
	before := runtime.NumGoroutine()
	rembs, wrong, leave := publish(t, server)
	var joined, moved atomic.Int64
	end := time.Now().Add(*duration)
	var all sync.WaitGroup
	for number := range watchers {
		all.Add(1)
		go func() {
			defer all.Done()
			random := rand.New(rand.NewSource(int64(number)))
			time.Sleep(time.Duration(random.Intn(2000)) * time.Millisecond)
			for time.Now().Before(end) {
				if err := watch(server, time.Duration(3000+random.Intn(4000))*time.Millisecond); err != nil {
					t.Error(err)
				}
				joined.Add(1)
			}
		}()
	}
	for time.Now().Before(end) {
		time.Sleep(min(*duration/5, time.Minute))
		for _, down := range room.Estimates().Down {
			if down.Stats["reason"] != "start" {
				moved.Add(1)
			}
		}
		t.Logf("%d watch, %d goroutines, %s", len(room.Estimates().Down), runtime.NumGoroutine(), memory())
	}
	all.Wait()
	leave()
	server.CloseClientConnections()
	left := func() bool { return len(room.Estimates().Down) == 0 && room.Estimates().Up == nil }
	goroutines := 0
	// A client that has gone is missed after some seconds where its last word was lost.
	for range 600 {
		if goroutines = runtime.NumGoroutine(); left() && goroutines <= before {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Logf("%d joined; %d REMB; %d goroutines before, %d after; %s",
		joined.Load(), rembs.Load(), before, goroutines, memory())
	if !left() || goroutines > before {
		stacks := make([]byte, 1<<16)
		t.Errorf("%+v stay, and %d goroutines of %d:\n%s",
			room.Estimates(), goroutines, before, stacks[:runtime.Stack(stacks, true)])
	}
	if rembs.Load() < 5 || wrong.Load() > 0 {
		t.Errorf("%d REMB, %d SSRCs in them that nobody sent", rembs.Load(), wrong.Load())
	}
	if joined.Load() < watchers || moved.Load() == 0 {
		t.Errorf("%d joined, %d estimates moved", joined.Load(), moved.Load())
	}
}

// memory is what Go has in use, and the process's memory by the kernel's count.
func memory() string {
	runtime.GC()
	var in runtime.MemStats
	runtime.ReadMemStats(&in)
	said := fmt.Sprintf("heap %d kB", in.HeapAlloc/1000)
	status, _ := os.ReadFile("/proc/self/status")
	for _, line := range strings.Split(string(status), "\n") {
		if strings.HasPrefix(line, "VmRSS") {
			said += ", " + strings.Join(strings.Fields(line), " ")
		}
	}
	return said
}

func TestOnePublishes(t *testing.T) {
	_, server := newServer(t)
	_, _, leave := publish(t, server)
	defer leave()
	second, err := newClient()
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	if _, err := second.AddTransceiverFromKind(webrtc.RTPCodecTypeVideo); err != nil {
		t.Fatal(err)
	}
	if status, err := call(server, "/publish", second); err != nil || status != http.StatusConflict {
		t.Errorf("a second publisher: %d, %v", status, err)
	}
}

func TestWhoNeverConnectsLeaves(t *testing.T) {
	room, server := newServer(t)
	// Long enough to answer on a machine that is busy.
	room.setup = time.Second
	for range 2 {
		client, err := newClient()
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		if _, err := client.AddTransceiverFromKind(webrtc.RTPCodecTypeVideo); err != nil {
			t.Fatal(err)
		}
		offer, err := client.CreateOffer(nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := room.Publish(offer.SDP); err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(30 * time.Second); room.taken(); time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("the place is still taken")
			}
		}
	}
	server.Close()
}

func TestOtherNamesAreRefused(t *testing.T) {
	_, server := newServer(t)
	for host, status := range map[string]int{
		"localhost:8430": 200, "127.0.0.1": 200, "[::1]:8430": 200, "evil.example": 403, "evil.example:8430": 403, "": 403,
	} {
		request := httptest.NewRequest(http.MethodGet, "/estimates", nil)
		request.Host = host
		recorder := httptest.NewRecorder()
		server.Config.Handler.ServeHTTP(recorder, request)
		if recorder.Code != status {
			t.Errorf("%q: %d", host, recorder.Code)
		}
	}
}

func TestWhatIsNoOfferIsRefused(t *testing.T) {
	_, server := newServer(t)
	for _, c := range []struct {
		kind, body string
		status     int
	}{
		{"text/plain", "v=0", http.StatusUnsupportedMediaType},
		{"application/sdp", "nonsense", http.StatusBadRequest},
		{"application/sdp", strings.Repeat("v", longestOffer+1), http.StatusRequestEntityTooLarge},
	} {
		for _, path := range []string{"/publish", "/watch"} {
			response, err := server.Client().Post(server.URL+path, c.kind, strings.NewReader(c.body))
			if err != nil {
				t.Fatal(err)
			}
			response.Body.Close()
			if response.StatusCode != c.status {
				t.Errorf("%s of %s, %d bytes: %d", path, c.kind, len(c.body), response.StatusCode)
			}
		}
	}
	response, err := server.Client().Get(server.URL + "/estimates")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if body, _ := io.ReadAll(response.Body); string(body) != "{\"up\":null,\"down\":[]}\n" {
		t.Errorf("%s", body)
	}
}
