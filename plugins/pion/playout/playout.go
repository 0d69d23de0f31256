// Package playout limits for how long a subscriber's browser holds video before it renders it, by the RTP header
// extension playout-delay. Its maximum overrides lip sync: browsers delay video until the audio of the same time is
// played, and their audio buffers follow the largest delays of half a minute.
package playout

import (
	"strings"
	"sync"
	"time"

	"github.com/pion/interceptor"
	"github.com/pion/rtcp"
	"github.com/pion/rtp"
	"github.com/pion/webrtc/v4"

	"weir/pion/internal/native"
	"weir/pion/internal/report"
)

const (
	extensionURI = "http://www.webrtc.org/experiments/rtp-hdrext/playout-delay"
	unitUs       = 10_000
	// longestFrameIntervalUs: video without a frame for longer was paused.
	longestFrameIntervalUs = 200_000
)

// Configure offers the extension for video, and adds it to the first packet of each frame once a receiver report has a
// round-trip time. The maximum follows the jitter and the round trip of these reports, 100 to 250 ms; the application
// must read RTCP. Call it after the codecs are registered, and before the interceptors that retransmit.
func Configure(media *webrtc.MediaEngine, registry *interceptor.Registry) error {
	extension := webrtc.RTPHeaderExtensionCapability{URI: extensionURI}
	if err := media.RegisterHeaderExtension(extension, webrtc.RTPCodecTypeVideo); err != nil {
		return err
	}
	registry.Add(factory{})
	return nil
}

type factory struct{}

// NewInterceptor makes one for a PeerConnection.
func (factory) NewInterceptor(string) (interceptor.Interceptor, error) {
	return &limiter{streams: map[uint32]*stream{}}, nil
}

// limiter adds the extension to the video of a PeerConnection.
type limiter struct {
	interceptor.NoOp
	mutex   sync.Mutex
	streams map[uint32]*stream
}

// stream is a video stream that is sent; limiter.mutex guards it.
type stream struct {
	id              uint8
	clockRateHz     int64
	sent            bool
	timestamp       uint32
	frameIntervalUs int64
	// maxUs is 0 before the first report.
	maxUs int64
}

// BindLocalStream watches video with the extension.
func (l *limiter) BindLocalStream(info *interceptor.StreamInfo, writer interceptor.RTPWriter) interceptor.RTPWriter {
	s := &stream{clockRateHz: int64(info.ClockRate)}
	for _, extension := range info.RTPHeaderExtensions {
		if extension.URI == extensionURI && extension.ID > 0 && extension.ID < 256 {
			s.id = uint8(extension.ID)
		}
	}
	if s.id == 0 || s.clockRateHz == 0 || !strings.HasPrefix(strings.ToLower(info.MimeType), "video/") {
		return writer
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.streams[info.SSRC] = s
	return interceptor.RTPWriterFunc(
		func(header *rtp.Header, payload []byte, attributes interceptor.Attributes) (int, error) {
			if limits := l.next(s, header.Timestamp); limits != nil {
				// The header is the caller's, who may send it again.
				own := header.Clone()
				if err := own.SetExtension(s.id, limits); err == nil {
					header = &own
				}
			}
			return writer.Write(header, payload, attributes)
		})
}

// UnbindLocalStream forgets a stream.
func (l *limiter) UnbindLocalStream(info *interceptor.StreamInfo) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	delete(l.streams, info.SSRC)
}

// next is the extension of the next packet; nil for one within a frame, and before the first report.
func (l *limiter) next(s *stream, timestamp uint32) []byte {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if s.sent && timestamp == s.timestamp {
		return nil
	}
	// Retransmissions go back in time.
	if interval := int64(int32(timestamp-s.timestamp)) * 1_000_000 / s.clockRateHz; s.sent && interval > 0 {
		s.frameIntervalUs = min(interval, longestFrameIntervalUs)
	}
	s.sent, s.timestamp = true, timestamp
	if s.maxUs == 0 {
		return nil
	}
	limits := rtp.PlayoutDelayExtension{
		MinDelay: native.MinPlayoutDelayUs / unitUs, MaxDelay: uint16(s.maxUs / unitUs),
	}
	// It refuses only values that do not fit.
	extension, _ := limits.Marshal()
	return extension
}

// BindRTCPReader reads the jitter and the round-trip time of receiver reports.
func (l *limiter) BindRTCPReader(reader interceptor.RTCPReader) interceptor.RTCPReader {
	return report.Reader(reader, func(packet rtcp.Packet) {
		switch packet := packet.(type) {
		case *rtcp.ReceiverReport:
			l.take(packet.Reports)
		case *rtcp.SenderReport:
			l.take(packet.Reports)
		}
	})
}

func (l *limiter) take(reports []rtcp.ReceptionReport) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	for _, r := range reports {
		s := l.streams[r.SSRC]
		roundTrip, ok := report.RoundTripTime(r, time.Now())
		if s == nil || !ok {
			continue
		}
		jitterUs := int64(r.Jitter) * 1_000_000 / s.clockRateHz
		s.maxUs = native.MaxPlayoutDelayUs(jitterUs, roundTrip.Microseconds(), s.frameIntervalUs, s.maxUs)
	}
}
