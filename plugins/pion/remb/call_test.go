package remb_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pion/interceptor"
	"github.com/pion/interceptor/pkg/nack"
	"github.com/pion/rtcp"
	"github.com/pion/webrtc/v4"

	weir "weir/pion"
	"weir/pion/internal/link"
	"weir/pion/remb"
	"weir/pion/shipped"
)

const (
	linkBps     = 1_000_000
	oneWayDelay = 20 * time.Millisecond
	queue       = 300 * time.Millisecond
)

func newReceiver(t *testing.T) *remb.Receiver {
	t.Helper()
	model, err := shipped.Model()
	if err != nil {
		t.Fatal(err)
	}
	receiver, err := remb.New(remb.Options{Config: weir.Config{Model: model}})
	if err != nil {
		t.Fatal(err)
	}
	return receiver
}

// follow has the filler send at the rate of REMB until the sender is closed, and calls `heard` with every REMB.
func follow(sender *webrtc.RTPSender, filler *link.Filler, heard func(*rtcp.ReceiverEstimatedMaximumBitrate)) {
	for {
		packets, _, err := sender.ReadRTCP()
		if err != nil {
			return
		}
		for _, packet := range packets {
			if feedback, ok := packet.(*rtcp.ReceiverEstimatedMaximumBitrate); ok {
				filler.SetRate(int64(feedback.Bitrate))
				heard(feedback)
			}
		}
	}
}

// Two peers over an emulated link, whose reader dawdles.
func TestASenderFollowsREMBToTheRateOfTheLink(t *testing.T) {
	link.Simulated(t, followREMBToTheRateOfTheLink)
}

func followREMBToTheRateOfTheLink(t *testing.T) {
	path := link.New(t, linkBps, oneWayDelay, queue)
	receiver := newReceiver(t)
	sending := link.NewPeer(t, path.Near, link.Plain)
	receiving := link.NewPeer(t, path.Far,
		func(settings *webrtc.SettingEngine, media *webrtc.MediaEngine, registry *interceptor.Registry) error {
			return errors.Join(receiver.Attach(settings, media, registry),
				webrtc.RegisterDefaultInterceptorsWithOptions(
					media, registry, webrtc.WithNackGeneratorOptions(nack.GeneratorMaxNacksPerPacket(2))))
		})
	filler, err := link.NewFiller(300_000, 5*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	sender, err := sending.AddTrack(filler.Track)
	if err != nil {
		t.Fatal(err)
	}
	receiving.OnTrack(func(track *webrtc.TrackRemote, _ *webrtc.RTPReceiver) {
		buffer := make([]byte, 1500)
		for {
			if _, _, err := track.Read(buffer); err != nil {
				return
			}
			time.Sleep(5 * time.Millisecond)
		}
	})
	link.Connect(t, sending, receiving)
	answer := receiving.LocalDescription().SDP
	if !strings.Contains(answer, "goog-remb") || !strings.Contains(answer, "transport-cc") {
		t.Errorf("the answer must have goog-remb and transport-cc:\n%s", answer)
	}
	var mutex sync.Mutex
	var wrong, rembs int
	own := uint32(sender.GetParameters().Encodings[0].SSRC)
	rtx := uint32(sender.GetParameters().Encodings[0].RTX.SSRC)
	go follow(sender, filler, func(feedback *rtcp.ReceiverEstimatedMaximumBitrate) {
		mutex.Lock()
		defer mutex.Unlock()
		rembs++
		for _, ssrc := range feedback.SSRCs {
			if ssrc != own && ssrc != rtx {
				wrong++
			}
		}
	})
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go filler.Run(ctx)
	time.Sleep(6 * time.Second)
	before, err := receiver.Statistics()
	if err != nil {
		t.Fatal(err)
	}
	const measured = 4 * time.Second
	time.Sleep(measured)
	after, err := receiver.Statistics()
	if err != nil {
		t.Fatal(err)
	}
	rate := float64(8*(after.BytesReceived-before.BytesReceived)) / measured.Seconds()
	t.Logf("%.0f kbps of %d; %+v", rate/1e3, linkBps/1000, after)
	mutex.Lock()
	defer mutex.Unlock()
	if rembs < 3 || wrong > 0 {
		t.Errorf("%d REMB, %d SSRCs in them that nobody sent", rembs, wrong)
	}
	if err := receiving.Close(); err != nil {
		t.Error(err)
	}
	if _, err := receiver.Statistics(); err == nil {
		t.Error("the receiver must close with its PeerConnection")
	}
	if rate < 0.7*linkBps || rate > 1.05*linkBps {
		t.Errorf("%.0f bps arrived over a link of %d", rate, linkBps)
	}
}

func TestFollowREMBAtOnceRaisesTheStartOfEveryVideoCodec(t *testing.T) {
	const answer = "v=0\r\nm=audio 9 UDP/TLS/RTP/SAVPF 111\r\na=rtpmap:111 opus/48000/2\r\na=fmtp:111 minptime=10\r\n" +
		"m=video 9 UDP/TLS/RTP/SAVPF 96 97 98\r\na=rtpmap:96 VP8/90000\r\na=rtpmap:97 rtx/90000\r\na=fmtp:97 apt=96\r\n" +
		"a=rtpmap:98 H264/90000\r\na=fmtp:98 packetization-mode=1\r\n"
	const bitrates = "x-google-start-bitrate=1000;x-google-max-bitrate=20000"
	want := strings.Replace(answer, "VP8/90000\r\n", "VP8/90000\r\na=fmtp:96 "+bitrates+"\r\n", 1)
	want = strings.Replace(want, "a=fmtp:98 ", "a=fmtp:98 "+bitrates+";", 1)
	if got := remb.FollowREMBAtOnce(answer); got != want {
		t.Errorf("%q", got)
	}
}
