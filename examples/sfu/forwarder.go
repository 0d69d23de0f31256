package main

import (
	"math"
	"sync"
	"time"

	"github.com/pion/rtp"
	"github.com/pion/webrtc/v4"
)

// forwarder is a track on which one encoding after the other is forwarded: a watcher's video, or the audio of all.
type forwarder struct {
	track *webrtc.TrackLocalStaticRTP

	// mutex guards the fields below. It is held while a packet is written, for padding comes from another goroutine.
	mutex           sync.Mutex
	current, wanted *encoding
	rewriter        rewriter
	// The latest packet's timestamp as it came, its arrival, and whether it ended a frame.
	timestamp uint32
	arrival   time.Time
	frameEnds bool
	payload   []byte
}

func newForwarder(codec webrtc.RTPCodecCapability, id string) (*forwarder, error) {
	track, err := webrtc.NewTrackLocalStaticRTP(codec, id, "sfu")
	return &forwarder{track: track}, err
}

// want chooses the encoding. A layer is forwarded from its next key frame on, audio and video in one encoding at once.
func (f *forwarder) want(wanted *encoding) {
	f.mutex.Lock()
	f.wanted = wanted
	differs := wanted != f.current
	f.mutex.Unlock()
	if differs && wanted.isVideo() {
		wanted.wantKeyFrame()
	}
}

// wantKeyFrame is for a receiver that lost its picture.
func (f *forwarder) wantKeyFrame() {
	f.mutex.Lock()
	needed := f.wanted
	f.mutex.Unlock()
	if needed != nil {
		needed.wantKeyFrame()
	}
}

// forward sends a packet of an encoding, if it is the one that is forwarded now.
func (f *forwarder) forward(from *encoding, packet *rtp.Packet, info frameInfo, now time.Time) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	header := rtp.Header{
		Version: 2, Marker: packet.Marker, SequenceNumber: packet.SequenceNumber, Timestamp: packet.Timestamp,
	}
	if from != f.current {
		if from != f.wanted || from.rid != "" && !info.keyFrame {
			return
		}
		f.rewriter.begin(&header, packet.Payload, info, f.elapsed(from, header.Timestamp, now))
		f.current = from
	}
	// The payload is every watcher's.
	f.payload = append(f.payload[:0], packet.Payload...)
	former := f.rewriter.newest
	if !f.rewriter.rewrite(&header, f.payload, info) {
		return
	}
	if f.rewriter.newest > former {
		f.timestamp, f.arrival = packet.Timestamp, now
		if len(packet.Payload) > 0 {
			// The publisher pads between frames, too.
			f.frameEnds = packet.Marker
		}
	}
	// A watcher that is not there yet, or no more, loses it.
	_ = f.track.WriteRTP(&rtp.Packet{Header: header, Payload: f.payload})
}

// elapsed is the time from the latest packet to one of another encoding, in ticks: by the publisher's clock, or by
// arrival where sender reports are missing or of different clocks.
func (f *forwarder) elapsed(next *encoding, timestamp uint32, now time.Time) uint32 {
	if f.current == nil {
		return 0
	}
	const mostDifference = 1.0
	seconds := now.Sub(f.arrival).Seconds()
	from, known := f.current.captureTime(f.timestamp)
	to, alsoKnown := next.captureTime(timestamp)
	if known && alsoKnown && math.Abs(to-from-seconds) < mostDifference {
		seconds = to - from
	}
	return uint32(math.Round(max(seconds, 0) * float64(next.clockRate)))
}

// pad sends a packet of padding; false while a frame is under way, since it must not lie within.
func (f *forwarder) pad(size byte) bool {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if f.current == nil || !f.frameEnds {
		return false
	}
	number, timestamp := f.rewriter.pad()
	header := rtp.Header{Version: 2, Padding: true, PaddingSize: size, SequenceNumber: number, Timestamp: timestamp}
	return f.track.WriteRTP(&rtp.Packet{Header: header}) == nil
}

// forwarded is the encoding that is forwarded now; nil: none.
func (f *forwarder) forwarded() *encoding {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return f.current
}
