// example connects a receiver and a sender with Weir in one process, and ends when each has changed its rate.
package main

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"github.com/pion/rtp"
	"github.com/pion/webrtc/v4"

	"weir/pion/shipped"
)

const (
	startBps     = 300_000
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
	receiver, err := newReceiver(model, settings)
	if err != nil {
		return err
	}
	defer func() { _ = receiver.Close() }()
	var rate atomic.Int64
	rate.Store(startBps)
	changed := make(chan int, 1)
	sender, err := newSender(model, settings, func(bitrate int) {
		rate.Store(int64(bitrate))
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
	go send(track, &rate, done)
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

// send sends frames without a picture at the rate.
func send(track *webrtc.TrackLocalStaticRTP, rate *atomic.Int64, done <-chan struct{}) {
	const frameRate = 30
	ticker := time.NewTicker(time.Second / frameRate)
	defer ticker.Stop()
	packet := rtp.Packet{Header: rtp.Header{Version: 2}, Payload: make([]byte, payloadBytes)}
	for {
		select {
		case <-done:
			return
		case <-ticker.C:
		}
		packet.Timestamp += 90_000 / frameRate
		for bytes := rate.Load() / 8 / frameRate; bytes > 0; bytes -= payloadBytes {
			packet.SequenceNumber++
			// Before the connection is there, it is lost.
			_ = track.WriteRTP(&packet)
		}
	}
}
