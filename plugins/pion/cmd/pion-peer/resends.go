package main

import (
	"sync"
	"time"

	"github.com/pion/interceptor"
	"github.com/pion/rtp"
)

const (
	// rememberedPackets is what pion's responder remembers.
	rememberedPackets = 1024
	// The longest round-trip time that counts, and the one until it is measured.
	longestRoundTrip, firstRoundTrip = 500 * time.Millisecond, 100 * time.Millisecond
)

// resends keeps what was lost from being sent once more where it waits in the pacer for that already, or has left less
// than a round trip ago, as libwebrtc does. pion's responder sends a packet once for each request, and Chromium
// requests it every 100 ms: after an outage, at a low rate, the pacer would be full of what has long arrived.
type resends struct {
	mutex     sync.Mutex
	roundTrip time.Duration
	packets   [rememberedPackets]resendState
}

type resendState struct {
	number  uint16
	known   bool
	waiting bool
	left    time.Time
}

func newResends() *resends { return &resends{roundTrip: firstRoundTrip} }

// enters is called before the pacer, and returns true if the packet should go on.
func (r *resends) enters(number uint16, now time.Time) bool {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	p := &r.packets[number%rememberedPackets]
	if p.known && p.number == number && (p.waiting || now.Sub(p.left) < r.roundTrip) {
		return false
	}
	*p = resendState{number: number, known: true, waiting: true}
	return true
}

// leaves is called behind the pacer.
func (r *resends) leaves(number uint16, now time.Time) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if p := &r.packets[number%rememberedPackets]; p.number == number {
		p.waiting, p.left = false, now
	}
}

func (r *resends) setRoundTrip(roundTrip time.Duration) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.roundTrip = min(roundTrip, longestRoundTrip)
}

// beforePacer and behindPacer are the interceptors of both places, for one stream.
func (r *resends) beforePacer() interceptor.Factory {
	return &packetFilter{pass: func(number uint16) bool { return r.enters(number, time.Now()) }}
}

func (r *resends) behindPacer() interceptor.Factory {
	return &packetFilter{pass: func(number uint16) bool {
		r.leaves(number, time.Now())
		return true
	}}
}

// packetFilter is an interceptor, and its own factory, that lets packets of certain numbers pass.
type packetFilter struct {
	interceptor.NoOp
	pass func(number uint16) bool
}

// NewInterceptor is for the one connection.
func (f *packetFilter) NewInterceptor(string) (interceptor.Interceptor, error) { return f, nil }

// BindLocalStream is interceptor.Interceptor's.
func (f *packetFilter) BindLocalStream(_ *interceptor.StreamInfo, writer interceptor.RTPWriter) interceptor.RTPWriter {
	return interceptor.RTPWriterFunc(
		func(header *rtp.Header, payload []byte, attributes interceptor.Attributes) (int, error) {
			if !f.pass(header.SequenceNumber) {
				return 0, nil
			}
			return writer.Write(header, payload, attributes)
		})
}
