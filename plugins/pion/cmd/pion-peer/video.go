package main

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pion/rtp"
	"github.com/pion/rtp/codecs"
	"github.com/pion/webrtc/v4"

	"weir/pion/internal/clip"
)

// payloadBytes bounds a packet's payload with VP8's descriptor, so that the packet stays below 1200 bytes.
const payloadBytes = 1130

// video sends a clip in real time, each frame from the encoding that fits the rate of that moment.
type video struct {
	clip  *clip.Clip
	track *webrtc.TrackLocalStaticRTP
	// Returns the rate of the frames from now on, bit/s.
	rate func() int
	// Upper bound of that rate.
	highestBps int
	// The receiver has requested a key frame.
	keyFrame atomic.Bool

	// Without picture IDs: pion omits the ID of the first frame, and Chromium then waits for a second key frame.
	packetizer codecs.VP8Payloader
	number     uint16
	firstTime  uint32

	// mutex guards what follows.
	mutex sync.Mutex
	start time.Time
	count videoCounts
}

// videoCounts are since the beginning; framesPerSecond is the count of the last whole second.
type videoCounts struct {
	frames, sent, keyFrames, second, inSecond, framesPerSecond int64
	rateBps                                                    int
}

func newVideo(o options, rate func() int) (*video, error) {
	opened, err := clip.Open(o.video + ".vp8")
	if err != nil {
		return nil, err
	}
	track, err := webrtc.NewTrackLocalStaticRTP(
		webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeVP8, ClockRate: clip.ClockHz}, "video", "weir")
	v := &video{
		clip: opened, track: track, rate: rate, highestBps: int(o.maxBps),
		number: uint16(rand.Uint32()), firstTime: rand.Uint32(),
	}
	return v, err
}

// run sends until `done`. Frame n is due n / (frames per second) after the start; where the machine falls behind, frames
// are skipped.
func (v *video) run(done <-chan struct{}) {
	v.mutex.Lock()
	v.start = time.Now()
	v.mutex.Unlock()
	period := time.Second / time.Duration(v.clip.FramesPerSecond)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for index := int64(0); ; {
		select {
		case <-done:
			return
		case <-timer.C:
		}
		v.send(index)
		index = max(index+1, int64(time.Since(v.start)/period))
		timer.Reset(time.Until(v.start.Add(time.Duration(index) * period)))
	}
}

func (v *video) send(index int64) {
	sinceStart := time.Since(v.start)
	rateBps := v.rate()
	ticks := int64(sinceStart) * clip.ClockHz / int64(time.Second)
	requested := v.keyFrame.Swap(false)
	frame := v.clip.Frame(index, rateBps, requested)
	if requested && frame == nil {
		v.keyFrame.Store(true)
	}
	v.counted(frame, int64(sinceStart/time.Second), rateBps)
	payloads := v.packetizer.Payload(payloadBytes, frame)
	for i, payload := range payloads {
		header := rtp.Header{
			Version: 2, Marker: i == len(payloads)-1, SequenceNumber: v.number, Timestamp: v.firstTime + uint32(ticks),
		}
		v.number++
		// A closed connection drops the packet.
		_ = v.track.WriteRTP(&rtp.Packet{Header: header, Payload: payload})
	}
}

func (v *video) counted(frame []byte, second int64, rateBps int) {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	c := &v.count
	if second != c.second {
		c.framesPerSecond = c.inSecond / (second - c.second)
		c.second, c.inSecond = second, 0
	}
	c.frames++
	c.inSecond++
	c.rateBps = rateBps
	if len(frame) > 0 {
		c.sent++
	}
	if clip.IsKeyFrame(frame) {
		c.keyFrames++
	}
}

// capturedAgo returns the age of a frame with this RTP timestamp; negative for a later frame.
func (v *video) capturedAgo(timestamp uint32) time.Duration {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	now := v.firstTime + uint32(int64(time.Since(v.start))*clip.ClockHz/int64(time.Second))
	return time.Duration(int32(now-timestamp)) * time.Second / clip.ClockHz
}

// statistics returns those of the source and the stream under W3C webrtc-stats names.
func (v *video) statistics() []line {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	c := v.count
	limited := "none"
	if c.rateBps < v.highestBps {
		limited = "bandwidth"
	}
	return []line{
		{
			"type": "media-source", "id": "source", "kind": "video", "width": v.clip.Width, "height": v.clip.Height,
			"frames": c.frames, "framesPerSecond": c.framesPerSecond,
		},
		{
			"type": "outbound-rtp", "id": "video", "kind": "video", "targetBitrate": c.rateBps,
			"framesEncoded": c.sent, "keyFramesEncoded": c.keyFrames, "qualityLimitationReason": limited,
		},
	}
}
