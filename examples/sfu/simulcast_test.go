package main

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/pion/rtcp"
	"github.com/pion/rtp"
	"github.com/pion/sdp/v3"
	"github.com/pion/webrtc/v4"

	"weir/pion/internal/link"
)

// testLayer is one encoding of a publisher whose frames have a size and no content.
type testLayer struct {
	rid      string
	rateBps  int
	width    uint16
	track    *webrtc.TrackLocalStaticRTP
	needsKey atomic.Bool
	keys     atomic.Int64
	number   uint16
	picture  uint16
}

const framesPerSecond = 30

// send writes a frame; a key frame where one was requested, twice as large.
func (l *testLayer) send(timestamp uint32, mid, rid uint8, midValue string) {
	left := l.rateBps / 8 / framesPerSecond
	key := l.needsKey.Swap(false)
	if key {
		l.keys.Add(1)
		left *= 2
	}
	l.picture++
	for first := true; left > 0; first = false {
		const mtu, overhead = 1100, rtpBytes + wireBytes
		size := min(left, mtu+overhead)
		left -= size
		payload := vp8Payload(l.picture, true, key && first, 0)
		if payload = append(payload, make([]byte, max(size-overhead-len(payload), 0))...); !first {
			payload[0] = 0x80
		} else if key {
			copy(payload[12:], []byte{byte(l.width), byte(l.width >> 8), byte(l.width), byte(l.width >> 8)})
		}
		header := rtp.Header{Version: 2, SequenceNumber: l.number, Timestamp: timestamp, Marker: left <= 0}
		l.number++
		_ = header.SetExtension(mid, []byte(midValue))
		_ = header.SetExtension(rid, []byte(l.rid))
		// A connection that is not there yet loses it.
		_ = l.track.WriteRTP(&rtp.Packet{Header: header, Payload: payload})
	}
}

// publishSimulcast has three encodings, each with its own clock offset, and a fast path.
func publishSimulcast(t *testing.T, room *Room) []*testLayer {
	t.Helper()
	path := link.New(t, 100_000_000, time.Millisecond, 300*time.Millisecond)
	room.configure = link.On(path.Near)
	client := link.NewPeer(t, path.Far, link.Plain)
	layers := []*testLayer{
		{rid: "q", rateBps: 100_000, width: 320}, {rid: "h", rateBps: 400_000, width: 640}, {rid: "f", rateBps: 1_500_000, width: 1280},
	}
	var sender *webrtc.RTPSender
	for _, l := range layers {
		var err error
		l.track, err = webrtc.NewTrackLocalStaticRTP(vp8, "video", "filler", webrtc.WithRTPStreamID(l.rid))
		if err == nil && sender == nil {
			sender, err = client.AddTrack(l.track)
		} else if err == nil {
			err = sender.AddEncoding(l.track)
		}
		if err != nil {
			t.Fatal(err)
		}
		l.needsKey.Store(true)
	}
	offer(t, client, room.Publish)
	var mid, rid uint8
	for _, extension := range sender.GetParameters().HeaderExtensions {
		switch extension.URI {
		case sdp.SDESMidURI:
			mid = uint8(extension.ID)
		case sdp.SDESRTPStreamIDURI:
			rid = uint8(extension.ID)
		}
	}
	for _, l := range layers {
		go func() {
			for {
				packets, _, err := sender.ReadSimulcastRTCP(l.rid)
				if err != nil {
					return
				}
				for _, packet := range packets {
					if _, ok := packet.(*rtcp.PictureLossIndication); ok {
						l.needsKey.Store(true)
					}
				}
			}
		}()
	}
	end, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		ticker := time.NewTicker(time.Second / framesPerSecond)
		defer ticker.Stop()
		for frame := uint32(0); ; frame++ {
			select {
			case <-end:
				return
			case <-ticker.C:
			}
			for i, l := range layers {
				l.send(frame*3000+uint32(i)<<30, mid, rid, client.GetTransceivers()[0].Mid())
			}
		}
	}()
	t.Cleanup(func() { close(end); <-over })
	return layers
}
