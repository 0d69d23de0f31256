package remb

import (
	"strings"

	"github.com/pion/interceptor"
	"github.com/pion/rtcp"

	weir "weir/pion"
	"weir/pion/internal/report"
)

const (
	absSendTimeURI = "http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time"
	transportCCURI = "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01"
)

// stream is what signaling has negotiated of an SSRC.
type stream struct {
	absSendTimeID uint8
	transportCCID uint8
	clockRateHz   uint32
	kind          weir.Kind
}

func streamOf(info *interceptor.StreamInfo) stream {
	s := stream{clockRateHz: info.ClockRate, kind: weir.Video}
	switch mime := strings.ToLower(info.MimeType); {
	case strings.HasSuffix(mime, "/rtx"):
		s.kind = weir.Retransmission
	case strings.HasPrefix(mime, "audio/"):
		s.kind = weir.Audio
	}
	for _, extension := range info.RTPHeaderExtensions {
		if extension.ID < 1 || extension.ID > 255 {
			continue
		}
		switch extension.URI {
		case absSendTimeURI:
			s.absSendTimeID = uint8(extension.ID)
		case transportCCURI:
			s.transportCCID = uint8(extension.ID)
		}
	}
	return s
}

// NewInterceptor makes Receiver an interceptor.Factory, for one PeerConnection.
func (r *Receiver) NewInterceptor(string) (interceptor.Interceptor, error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.taken {
		return nil, ErrTaken
	}
	r.taken = true
	return &receiverInterceptor{receiver: r}, nil
}

// receiverInterceptor learns from pion which streams there are, and who writes RTCP.
type receiverInterceptor struct {
	interceptor.NoOp
	receiver *Receiver
}

// BindRTCPWriter starts the estimator with the PeerConnection: it also uses the time before media. Transport-wide
// feedback of other interceptors leaves without losses while the estimator omits them.
func (i *receiverInterceptor) BindRTCPWriter(writer interceptor.RTCPWriter) interceptor.RTCPWriter {
	r := i.receiver
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.writer = writer
	r.begun.Do(func() { go weir.Run(r.closed, r.poll) })
	return interceptor.RTCPWriterFunc(func(packets []rtcp.Packet, a interceptor.Attributes) (int, error) {
		return r.writeWithoutLosses(writer, packets, a)
	})
}

// BindRemoteStream leaves the reader as it is: packets are seen before they are read.
func (i *receiverInterceptor) BindRemoteStream(
	info *interceptor.StreamInfo, reader interceptor.RTPReader,
) interceptor.RTPReader {
	r := i.receiver
	r.mutex.Lock()
	defer r.mutex.Unlock()
	of := streamOf(info)
	r.streams[info.SSRC] = of
	if of.transportCCID != 0 {
		r.feedback.extensionID = of.transportCCID
	}
	return reader
}

func (i *receiverInterceptor) UnbindRemoteStream(info *interceptor.StreamInfo) {
	i.receiver.remove(info.SSRC)
}

// BindRTCPReader takes note of RTCP BYE, where the application reads RTCP.
func (i *receiverInterceptor) BindRTCPReader(reader interceptor.RTCPReader) interceptor.RTCPReader {
	return report.Reader(reader, func(packet rtcp.Packet) {
		if bye, ok := packet.(*rtcp.Goodbye); ok {
			for _, ssrc := range bye.Sources {
				i.receiver.remove(ssrc)
			}
		}
	})
}

func (i *receiverInterceptor) Close() error { return i.receiver.Close() }

// remove forgets a stream. One that goes on in spite of a BYE counts again, without what signaling negotiated of it.
func (r *Receiver) remove(ssrc uint32) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	delete(r.streams, ssrc)
	_ = r.estimator.RemoveStream(ssrc)
}
