package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/pion/interceptor"
	"github.com/pion/rtcp"
	"github.com/pion/rtp/codecs"
	"github.com/pion/webrtc/v4"

	"weir/pion/internal/clip"
	"weir/pion/internal/clip/cliptest"
	"weir/pion/internal/shipped"
)

// videoFile returns the name of a video that has a clip of two encodings.
func videoFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "video.y4m")
	if err := os.Mkdir(path+".vp8", 0o700); err != nil {
		t.Fatal(err)
	}
	for name, frameBytes := range map[string]int{"low": 500, "high": 2000} {
		cliptest.Write(t, path+".vp8", name, frameBytes, 30, 15)
	}
	return path
}

// frame that has arrived.
type frame struct {
	time uint32
	key  bool
}

// far is pion as it comes: it answers, tells each frame that begins, and wants one key frame after the first.
type far struct {
	*webrtc.PeerConnection
	frames chan frame
}

func newFar(t *testing.T) *far {
	t.Helper()
	media, registry := &webrtc.MediaEngine{}, &interceptor.Registry{}
	if err := media.RegisterDefaultCodecs(); err != nil {
		t.Fatal(err)
	}
	if err := webrtc.RegisterDefaultInterceptors(media, registry); err != nil {
		t.Fatal(err)
	}
	settings, err := settingsFor("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	connection, err := webrtc.NewAPI(
		webrtc.WithSettingEngine(*settings), webrtc.WithMediaEngine(media), webrtc.WithInterceptorRegistry(registry),
	).NewPeerConnection(webrtc.Configuration{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = connection.Close() })
	f := &far{connection, make(chan frame, 1000)}
	connection.OnTrack(f.onTrack)
	return f
}

func (f *far) onTrack(track *webrtc.TrackRemote, _ *webrtc.RTPReceiver) {
	defer close(f.frames)
	asked := false
	for {
		packet, _, err := track.ReadRTP()
		if err != nil {
			return
		}
		var descriptor codecs.VP8Packet
		payload, err := descriptor.Unmarshal(packet.Payload)
		if err != nil || descriptor.S != 1 || descriptor.PID != 0 {
			continue
		}
		f.frames <- frame{packet.Timestamp, clip.IsKeyFrame(payload)}
		if !asked {
			asked = true
			_ = f.WriteRTCP([]rtcp.Packet{&rtcp.PictureLossIndication{MediaSSRC: uint32(track.SSRC())}})
		}
	}
}

// answer with all its candidates.
func (f *far) answer(t *testing.T, offer string) string {
	t.Helper()
	if err := f.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeOffer, SDP: offer}); err != nil {
		t.Fatal(err)
	}
	answer, err := f.CreateAnswer(nil)
	if err != nil {
		t.Fatal(err)
	}
	complete := webrtc.GatheringCompletePromise(f.PeerConnection)
	if err := f.SetLocalDescription(answer); err != nil {
		t.Fatal(err)
	}
	<-complete
	return f.LocalDescription().SDP
}

// call has a sender send to pion until it has written `wanted` sender reports; returns its lines by type, and the frames.
func call(t *testing.T, controller string, wanted int) (map[string][]line, []frame) {
	t.Helper()
	model, err := shipped.Path()
	if err != nil {
		t.Fatal(err)
	}
	output, input := io.Pipe()
	s, err := newSender(options{
		role: "send", controller: controller, bindAddress: "127.0.0.1", model: model, objective: "0.4,0.5,0.1",
		video: videoFile(t), minBps: 30_000, startBps: 300_000, maxBps: 1_000_000, statsIntervalMs: 500,
	}, &lineWriter{encoder: json.NewEncoder(input)})
	if err != nil {
		t.Fatal(err)
	}
	receiving := newFar(t)
	go func() { _ = s.execute(command{Type: "start"}) }()
	said := map[string][]line{}
	for scanner := bufio.NewScanner(output); len(said["sender_report"]) < wanted && scanner.Scan(); {
		message := line{}
		if err := json.Unmarshal(scanner.Bytes(), &message); err != nil {
			t.Fatal(err)
		}
		kind := message["type"].(string)
		said[kind] = append(said[kind], message)
		switch kind {
		case "offer":
			answer := receiving.answer(t, message["sdp"].(string))
			go func() { _ = s.execute(command{Type: "answer", SDP: answer}) }()
		case "candidate":
			err := receiving.AddICECandidate(webrtc.ICECandidateInit{Candidate: message["candidate"].(string)})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	go func() { _, _ = io.Copy(io.Discard, output) }()
	s.close()
	_ = receiving.Close()
	var arrived []frame
	for one := range receiving.frames {
		arrived = append(arrived, one)
	}
	return said, arrived
}

// In real time, over loopback.
func TestASenderSendsItsVideoUnderEitherController(t *testing.T) {
	for _, controller := range controllers["send"] {
		t.Run(controller, func(t *testing.T) {
			const seconds = 3
			said, arrived := call(t, controller, seconds)
			// A third of the frames, since the machine may be busy.
			if len(arrived) < 10*seconds {
				t.Errorf("%d frames in %d s", len(arrived), seconds)
			}
			keys := 0
			for i, one := range arrived {
				if one.key {
					keys++
				}
				if i > 0 && int32(one.time-arrived[i-1].time) <= 0 {
					t.Errorf("frame %d is not later than the one before", i)
				}
			}
			if keys < 2 || !arrived[0].key {
				t.Errorf("%d key frames, the first frame among them: %t", keys, arrived[0].key)
			}
			highest := 0.0
			for _, estimate := range said["estimate"] {
				rate := estimate["target_rate_bps"].(float64)
				if rate < 30_000 || rate > 1_000_000 {
					t.Errorf("a target of %g bit/s, out of bounds", rate)
				}
				highest = max(highest, rate)
			}
			if highest <= 300_000 {
				t.Errorf("the target never rose above the start: %g bit/s", highest)
			}
			checkReports(t, said["sender_report"])
		})
	}
}

// checkReports: what they say of the capture clock agrees with itself, and with the clock of the video.
func checkReports(t *testing.T, reports []line) {
	t.Helper()
	first := reports[0]
	for _, one := range reports[1:] {
		us := one["capture_time_us"].(float64) - first["capture_time_us"].(float64)
		ticks := int32(uint32(one["rtp_timestamp"].(float64)) - uint32(first["rtp_timestamp"].(float64)))
		apart := time.Duration(us)*time.Microsecond - time.Duration(ticks)*time.Second/clip.ClockHz
		if us <= 0 || apart.Abs() > 2*time.Millisecond {
			t.Errorf("%.0f us and %d ticks passed between two reports", us, ticks)
		}
	}
}

func TestASenderTellsWhatIsMissing(t *testing.T) {
	o := options{role: "send", controller: "gcc", video: "none.y4m", startBps: 300_000}
	if _, err := newSender(o, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without its video: %v", err)
	}
}
