package playout_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/pion/interceptor"
	"github.com/pion/rtcp"
	"github.com/pion/rtp"
	"github.com/pion/webrtc/v4"

	"weir/pion/internal/link"
	"weir/pion/playout"
)

const extensionURI = "http://www.webrtc.org/experiments/rtp-hdrext/playout-delay"

// received is what a subscriber with the extension gets in six seconds of video at 30 frames per second.
func received(t *testing.T, configure func(*webrtc.MediaEngine, *interceptor.Registry) error) ([]*rtp.Packet, uint8) {
	t.Helper()
	path := link.New(t, 2_000_000, 20*time.Millisecond, 300*time.Millisecond)
	sending := link.NewPeer(t, path.Near,
		func(settings *webrtc.SettingEngine, media *webrtc.MediaEngine, registry *interceptor.Registry) error {
			return errors.Join(configure(media, registry), link.Plain(settings, media, registry))
		})
	receiving := link.NewPeer(t, path.Far,
		func(settings *webrtc.SettingEngine, media *webrtc.MediaEngine, registry *interceptor.Registry) error {
			extension := webrtc.RTPHeaderExtensionCapability{URI: extensionURI}
			return errors.Join(media.RegisterHeaderExtension(extension, webrtc.RTPCodecTypeVideo),
				link.Plain(settings, media, registry))
		})
	filler, err := link.NewFiller(1_000_000, time.Second/30)
	if err != nil {
		t.Fatal(err)
	}
	sender, err := sending.AddTrack(filler.Track)
	if err != nil {
		t.Fatal(err)
	}
	go readRTCP(sender.ReadRTCP)
	var id uint8
	packets := make(chan *rtp.Packet, 10_000)
	receiving.OnTrack(func(track *webrtc.TrackRemote, receiver *webrtc.RTPReceiver) {
		for _, extension := range receiver.GetParameters().HeaderExtensions {
			if extension.URI == extensionURI {
				id = uint8(extension.ID)
			}
		}
		go readRTCP(receiver.ReadRTCP)
		defer close(packets)
		for {
			packet, _, err := track.ReadRTP()
			if err != nil {
				return
			}
			packets <- packet
		}
	})
	link.Connect(t, sending, receiving)
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go filler.Run(ctx)
	time.Sleep(6 * time.Second)
	_ = receiving.Close()
	var all []*rtp.Packet
	for packet := range packets {
		all = append(all, packet)
	}
	return all, id
}

// readRTCP hands RTCP to the interceptors until the connection is closed.
func readRTCP(read func() ([]rtcp.Packet, interceptor.Attributes, error)) {
	for {
		if _, _, err := read(); err != nil {
			return
		}
	}
}

func TestTheFirstPacketOfAFrameHasAMaximumThatFollowsTheReports(t *testing.T) {
	link.Simulated(t, func(t *testing.T) {
		packets, id := received(t, playout.Configure)
		if id == 0 || len(packets) < 200 {
			t.Fatalf("extension %d, %d packets", id, len(packets))
		}
		frames, limited := 0, 0
		var latest rtp.PlayoutDelayExtension
		var timestamp uint32
		for _, packet := range packets[len(packets)/2:] {
			value := packet.GetExtension(id)
			switch first := packet.Timestamp != timestamp; {
			case !first && value != nil:
				t.Fatal("a packet within a frame has the extension")
			case first:
				frames++
			}
			timestamp = packet.Timestamp
			if value == nil {
				continue
			}
			limited++
			if err := latest.Unmarshal(value); err != nil {
				t.Fatal(err)
			}
		}
		if limited < frames-1 {
			t.Errorf("%d of %d frames have a limit", limited, frames)
		}
		// Two round trips of 40 ms, a frame of 33 ms, and the jitter of this link; 10 ms a unit.
		if latest.MinDelay != 1 || latest.MaxDelay < 12 || latest.MaxDelay > 20 {
			t.Errorf("%+v", latest)
		}
	})
}

func TestWithoutConfigureThereIsNoLimit(t *testing.T) {
	link.Simulated(t, func(t *testing.T) {
		packets, id := received(t, func(*webrtc.MediaEngine, *interceptor.Registry) error { return nil })
		if id != 0 || len(packets) < 200 {
			t.Errorf("extension %d, %d packets", id, len(packets))
		}
	})
}
