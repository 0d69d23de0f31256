package link

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/pion/rtp"
	"github.com/pion/webrtc/v4"
)

// payloadBytes of each packet of a Filler.
const payloadBytes = 1100

// Filler sends packets without meaning on a video track at a rate that can be changed, in a burst each interval.
type Filler struct {
	Track    *webrtc.TrackLocalStaticRTP
	interval time.Duration
	rateBps  atomic.Int64
}

// NewFiller makes a track of VP8 that sends startBps once Run does. An interval of 5 ms is nearly even; that of frames is
// an encoder's.
func NewFiller(startBps int64, interval time.Duration) (*Filler, error) {
	track, err := webrtc.NewTrackLocalStaticRTP(
		webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeVP8, ClockRate: 90_000}, "video", "filler")
	filler := &Filler{Track: track, interval: interval}
	filler.rateBps.Store(startBps)
	return filler, err
}

// SetRate is with what RTP, IP and UDP add.
func (f *Filler) SetRate(bps int64) { f.rateBps.Store(bps) }

// Run sends until the context ends.
func (f *Filler) Run(ctx context.Context) {
	ticker := time.NewTicker(f.interval)
	defer ticker.Stop()
	payload := make([]byte, payloadBytes)
	// VP8's descriptor and an odd first byte: no picture begins here.
	payload[1] = 1
	var budget float64
	last, number, start := time.Now(), uint16(65_400), time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		now := time.Now()
		rate := float64(f.rateBps.Load()) / 8
		budget = min(budget+now.Sub(last).Seconds()*rate, max(2*f.interval.Seconds()*rate, 20_000))
		last = now
		for ; budget > 0; budget -= payloadBytes + 60 {
			header := rtp.Header{
				Version: 2, SequenceNumber: number, Timestamp: uint32(now.Sub(start).Seconds() * 90_000),
			}
			number++
			// A connection that is not there yet, or no more, loses it.
			_ = f.Track.WriteRTP(&rtp.Packet{Header: header, Payload: payload})
		}
	}
}
