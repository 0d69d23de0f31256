package link

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/pion/rtp"
	"github.com/pion/webrtc/v4"
)

// payloadBytes of each packet of a Filler.
const payloadBytes = 1100

// Filler sends packets without meaning on a video track, evenly, at a rate that can be changed.
type Filler struct {
	Track   *webrtc.TrackLocalStaticRTP
	rateBps atomic.Int64
	// How long Run has run, and how much of that it was not given a processor in its time.
	ran, late atomic.Int64
}

// NewFiller makes a track of VP8 that sends startBps once Run does.
func NewFiller(startBps int64) (*Filler, error) {
	track, err := webrtc.NewTrackLocalStaticRTP(
		webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeVP8, ClockRate: 90_000}, "video", "filler")
	filler := &Filler{Track: track}
	filler.rateBps.Store(startBps)
	return filler, err
}

// SetRate is with what RTP, IP and UDP add.
func (f *Filler) SetRate(bps int64) { f.rateBps.Store(bps) }

// Disturbed returns how this machine, and not the path, shaped what was sent; empty if it did not.
func (f *Filler) Disturbed() string {
	const most = 0.02
	if share := float64(f.late.Load()) / float64(max(f.ran.Load(), 1)); share > most {
		return fmt.Sprintf("the machine is too busy for a verdict: packets left late in %.0f %% of the time", 100*share)
	}
	return ""
}

// Run sends until the context ends.
func (f *Filler) Run(ctx context.Context) {
	const step, late = 5 * time.Millisecond, 20 * time.Millisecond
	ticker := time.NewTicker(step)
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
		case now := <-ticker.C:
			// A ticker's time is when it was due.
			now = time.Now()
			gap := now.Sub(last)
			last = now
			f.ran.Add(int64(gap))
			if gap > late {
				f.late.Add(int64(gap))
			}
			budget = min(budget+gap.Seconds()*float64(f.rateBps.Load())/8, 20_000)
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
}
