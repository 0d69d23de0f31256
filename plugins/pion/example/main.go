// example connects a receiver and a sender with Weir in one process, and ends when each has changed its rate.
package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/pion/rtp"
	"github.com/pion/webrtc/v4"

	"weir/pion/cc"
	"weir/pion/shipped"
)

const (
	payloadBytes = 1100
	longestCall  = 30 * time.Second
)

func main() {
	if err := call(); err != nil {
		fmt.Fprintln(os.Stderr, "example:", err)
		os.Exit(1)
	}
}

func call() error {
	model, err := shipped.Model() // once in a process
	if err != nil {
		return err
	}
	settings := webrtc.SettingEngine{}
	settings.SetIncludeLoopbackCandidate(true) // both ends are on this machine
	receiver, incoming, err := newReceiver(model, settings)
	if err != nil {
		return err
	}
	defer func() { _ = receiver.Close() }()
	changed := make(chan int, 1)
	sender, outgoing, err := newSender(model, settings, func(bitrate int) {
		select {
		case changed <- bitrate:
		default:
		}
	})
	if err != nil {
		return err
	}
	defer func() { _ = sender.Close() }()
	track, err := webrtc.NewTrackLocalStaticRTP(
		webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeVP8, ClockRate: 90_000}, "video", "example")
	if err != nil {
		return err
	}
	video, err := sender.AddTrack(track)
	if err != nil {
		return err
	}
	go readFeedback(video)
	arrived := make(chan webrtc.SSRC, 1)
	receiver.OnTrack(func(remote *webrtc.TrackRemote, _ *webrtc.RTPReceiver) {
		arrived <- remote.SSRC()
		for {
			if _, _, err := remote.ReadRTP(); err != nil {
				return
			}
		}
	})
	if err := connect(sender, receiver); err != nil {
		return err
	}
	done := make(chan struct{})
	defer close(done)
	go send(track, outgoing, done)
	timeout := time.After(longestCall)
	for range 2 {
		select {
		case ssrc := <-arrived:
			fmt.Println("receives SSRC", ssrc)
			arrived = nil
		case bitrate := <-changed:
			fmt.Println("sends at", bitrate, "bit/s")
			changed = nil
		case <-timeout:
			return errors.New("no media, or no feedback, within 30 s")
		}
	}
	statistics, err := incoming.Statistics()
	if err != nil {
		return err
	}
	fmt.Println("packets received:", statistics.PacketsReceived, "queueing delay:", statistics.QueueingDelay)
	return nil
}

// connect exchanges an offer and an answer, as signaling does.
func connect(sender, receiver *webrtc.PeerConnection) error {
	offer, err := sender.CreateOffer(nil)
	if err != nil {
		return err
	}
	gathered := webrtc.GatheringCompletePromise(sender)
	if err := sender.SetLocalDescription(offer); err != nil {
		return err
	}
	<-gathered
	answer, err := answer(receiver, *sender.LocalDescription())
	if err != nil {
		return err
	}
	return sender.SetRemoteDescription(answer)
}

// rtpWriter is a webrtc.TrackLocalStaticRTP.
type rtpWriter interface {
	WriteRTP(packet *rtp.Packet) error
}

// send sends frames without a picture at the target rate, which is 300 kbps at the start.
func send(track rtpWriter, estimator *cc.Estimator, done <-chan struct{}) {
	const frameRate = 30
	start := time.Now()
	ticker := time.NewTicker(time.Second / frameRate)
	defer ticker.Stop()
	packet := rtp.Packet{Header: rtp.Header{Version: 2}, Payload: make([]byte, payloadBytes)}
	for {
		select {
		case <-done:
			return
		case <-ticker.C:
		}
		if estimator.WindowFull() {
			continue
		}
		// From the clock: a Ticker drops ticks on a busy machine, and a receiver reads late timestamps as queueing delay.
		packet.Timestamp = uint32(time.Since(start).Microseconds() * 90_000 / 1_000_000)
		for bytes := estimator.Rates().TargetRateBps / 8 / frameRate; bytes > 0; bytes -= payloadBytes {
			packet.SequenceNumber++
			// Before the connection is there, it is lost.
			_ = track.WriteRTP(&packet)
		}
	}
}
