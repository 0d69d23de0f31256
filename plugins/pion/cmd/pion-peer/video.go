package main

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pion/rtp"
	"github.com/pion/rtp/codecs"
	"github.com/pion/webrtc/v4"

	"weir/pion/internal/vp8"
	"weir/pion/internal/y4m"
)

// payloadBytes is the most that a packet carries, VP8's descriptor included: under 1200 bytes with all its headers.
const payloadBytes = 1130

// video is a camera made of a file, with its encoder: pictures in real time, each at the rate of that moment.
type video struct {
	file    *y4m.File
	encoder *vp8.Encoder
	track   *webrtc.TrackLocalStaticRTP
	// bit/s of the pictures from now on.
	rate func() int
	// The most that `rate` says.
	highestBps int
	// A key frame is wanted.
	keyFrame atomic.Bool

	// Without picture numbers: pion gives its first picture none, and Chromium then waits for a second key frame.
	packetizer codecs.VP8Payloader
	number     uint16
	firstTime  uint32

	// mutex guards what follows.
	mutex sync.Mutex
	start time.Time
	count videoCounts
}

// videoCounts are since the beginning, but for framesPerSecond, which is of the last whole second.
type videoCounts struct {
	frames, encoded, keyFrames, second, inSecond, framesPerSecond int64
	encodeTime                                                    time.Duration
	rateBps                                                       int
}

func newVideo(o options, rate func() int) (*video, error) {
	file, err := y4m.Open(o.video)
	if err != nil {
		return nil, err
	}
	encoder, err := vp8.NewEncoder(file.Width, file.Height, file.FramesPerSecond, int(o.startBps))
	if err != nil {
		file.Close()
		return nil, err
	}
	track, err := webrtc.NewTrackLocalStaticRTP(
		webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeVP8, ClockRate: vp8.ClockHz}, "video", "weir")
	v := &video{
		file: file, encoder: encoder, track: track, rate: rate, highestBps: int(o.maxBps),
		number: uint16(rand.Uint32()), firstTime: rand.Uint32(),
	}
	return v, err
}

func (v *video) close() {
	v.encoder.Close()
	v.file.Close()
}

// run sends until `done`, and closes the video. Where the machine falls behind, pictures are left out: picture n is
// that of time n / frames a second.
func (v *video) run(done <-chan struct{}) error {
	defer v.close()
	v.mutex.Lock()
	v.start = time.Now()
	v.mutex.Unlock()
	period := time.Second / time.Duration(v.file.FramesPerSecond)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for index := int64(0); ; {
		select {
		case <-done:
			return nil
		case <-timer.C:
		}
		if err := v.send(index); err != nil {
			return err
		}
		index = max(index+1, int64(time.Since(v.start)/period))
		timer.Reset(time.Until(v.start.Add(time.Duration(index) * period)))
	}
}

func (v *video) send(index int64) error {
	captured := time.Now()
	picture, err := v.file.Frame(index)
	if err != nil {
		return err
	}
	rateBps := v.rate()
	if err := v.encoder.SetRate(rateBps); err != nil {
		return err
	}
	sinceStart := captured.Sub(v.start)
	ticks := int64(sinceStart) * vp8.ClockHz / int64(time.Second)
	wanted := v.keyFrame.Swap(false)
	frame, err := v.encoder.Encode(picture, ticks, wanted)
	if err != nil {
		return err
	}
	if wanted && len(frame) == 0 {
		v.keyFrame.Store(true)
	}
	v.counted(frame, int64(sinceStart/time.Second), time.Since(captured), rateBps)
	payloads := v.packetizer.Payload(payloadBytes, frame)
	for i, payload := range payloads {
		header := rtp.Header{
			Version: 2, Marker: i == len(payloads)-1, SequenceNumber: v.number, Timestamp: v.firstTime + uint32(ticks),
		}
		v.number++
		// A connection that is no more loses it.
		_ = v.track.WriteRTP(&rtp.Packet{Header: header, Payload: payload})
	}
	return nil
}

func (v *video) counted(frame []byte, second int64, took time.Duration, rateBps int) {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	c := &v.count
	if second != c.second {
		c.framesPerSecond = c.inSecond / (second - c.second)
		c.second, c.inSecond = second, 0
	}
	c.frames++
	c.inSecond++
	c.encodeTime += took
	c.rateBps = rateBps
	if len(frame) > 0 {
		c.encoded++
	}
	if vp8.IsKeyFrame(frame) {
		c.keyFrames++
	}
}

// capturedAgo is how long ago a picture with this RTP timestamp was captured; negative where it is still to come.
func (v *video) capturedAgo(timestamp uint32) time.Duration {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	now := v.firstTime + uint32(int64(time.Since(v.start))*vp8.ClockHz/int64(time.Second))
	return time.Duration(int32(now-timestamp)) * time.Second / vp8.ClockHz
}

// statistics of the camera and the stream, under W3C's names.
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
			"type": "media-source", "id": "source", "kind": "video", "width": v.file.Width, "height": v.file.Height,
			"frames": c.frames, "framesPerSecond": c.framesPerSecond,
		},
		{
			"type": "outbound-rtp", "id": "video", "kind": "video", "targetBitrate": c.rateBps,
			"framesEncoded": c.encoded, "keyFramesEncoded": c.keyFrames, "totalEncodeTime": c.encodeTime.Seconds(),
			"qualityLimitationReason": limited,
		},
	}
}
