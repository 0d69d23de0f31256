package main

import (
	"math"
	"sync"
	"time"

	"github.com/pion/rtcp"
	"github.com/pion/rtp"

	weir "weir/pion"
)

const (
	// rateWindow is the time constant of measured rates.
	rateWindow = time.Second
	// heldWithin this share the rate that a layer has stays as it was: it wanders, and targets that wander with it are
	// probed again and again.
	heldWithin = 0.05
	// idleAfter: an encoding without packets for so long is switched off, as browsers do where the rate is too low.
	idleAfter = time.Second
	// wireBytes is what a forwarded packet has besides RTP's fixed header and payload: an extension, SRTP, UDP and IP.
	wireBytes = 8 + 10 + 28
	rtpBytes  = 12
	// keyFrameInterval is the shortest time between two requests of a key frame.
	keyFrameInterval = 500 * time.Millisecond
)

// encoding is one RTP stream of the publisher: its audio, or a layer of its video.
type encoding struct {
	kind      weir.Kind
	rid       string
	ssrc      uint32
	clockRate uint32
	// requestKeyFrame sends the request on its way.
	requestKeyFrame func(ssrc uint32)

	// mutex guards the fields below.
	mutex         sync.Mutex
	received      receivedNumbers
	width, height int32
	// Sums that fade: their quotient is the rate.
	bits, seconds float64
	held          float64
	latest        time.Time
	requested     time.Time
	reported      bool
	reportTime    uint64
	reportStamp   uint32
}

// isVideo is false for the audio.
func (e *encoding) isVideo() bool { return e.kind == weir.Video }

// observe measures a packet that has come; false: it has come before, and is neither media nor to be forwarded.
func (e *encoding) observe(packet *rtp.Packet, info frameInfo, now time.Time) bool {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if !e.received.add(packet.SequenceNumber) {
		return false
	}
	gap := now.Sub(e.latest)
	if gap > idleAfter {
		// The first packet after a rest has no interval of its own.
		e.bits, e.seconds, gap = 0, 0, 0
	}
	fade := math.Exp(-gap.Seconds() / rateWindow.Seconds())
	e.bits = e.bits*fade + float64(8*(rtpBytes+len(packet.Payload)+wireBytes))
	e.seconds = e.seconds*fade + gap.Seconds()
	e.latest = now
	if info.width > 0 {
		e.width, e.height = info.width, info.height
	}
	return true
}

// layer is the encoding for the allocator; false: nothing comes, or it is not yet known how much.
func (e *encoding) layer(now time.Time) (weir.MediaLayer, bool) {
	const least = 0.2
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if now.Sub(e.latest) > idleAfter || e.seconds < least {
		return weir.MediaLayer{}, false
	}
	if rate := e.bits / e.seconds; math.Abs(rate-e.held) > heldWithin*e.held {
		e.held = rate
	}
	return weir.MediaLayer{RateBps: max(int64(e.held), 1), Width: e.width, Height: e.height}, true
}

// wantKeyFrame requests one, unless that was done just now.
func (e *encoding) wantKeyFrame() {
	e.mutex.Lock()
	due := time.Since(e.requested) >= keyFrameInterval
	if due {
		e.requested = time.Now()
	}
	e.mutex.Unlock()
	if due {
		e.requestKeyFrame(e.ssrc)
	}
}

// onReport takes a sender report: when, by the publisher's clock, a timestamp was.
func (e *encoding) onReport(report *rtcp.SenderReport) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	e.reported, e.reportTime, e.reportStamp = true, report.NTPTime, report.RTPTime
}

// captureTime is when a timestamp was by the publisher's clock.
func (e *encoding) captureTime(timestamp uint32) (float64, bool) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	const fraction = 1 << 32
	since := float64(int32(timestamp-e.reportStamp)) / float64(e.clockRate)
	return float64(e.reportTime)/fraction + since, e.reported
}
