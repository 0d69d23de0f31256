package cc

import (
	"github.com/pion/interceptor"
	"github.com/pion/rtp"
	"github.com/pion/webrtc/v4"
)

// ConfigureTWCCHeaderExtensionSender is webrtc's, with a header of its own for each packet that is numbered: pion answers
// every NACK in a goroutine of its own from the header that it has kept, and where a packet is requested twice at once
// both would write their number into that one. Before the interceptors that send again.
func ConfigureTWCCHeaderExtensionSender(media *webrtc.MediaEngine, registry *interceptor.Registry) error {
	if err := webrtc.ConfigureTWCCHeaderExtensionSender(media, registry); err != nil {
		return err
	}
	registry.Add(ownHeaders{})
	return nil
}

// ownHeaders is interceptor.Factory and interceptor.Interceptor; it has no state.
type ownHeaders struct{ interceptor.NoOp }

// NewInterceptor is the same for every PeerConnection.
func (o ownHeaders) NewInterceptor(string) (interceptor.Interceptor, error) { return &o, nil }

// BindLocalStream copies the headers of what is sent.
func (ownHeaders) BindLocalStream(_ *interceptor.StreamInfo, writer interceptor.RTPWriter) interceptor.RTPWriter {
	return interceptor.RTPWriterFunc(
		func(header *rtp.Header, payload []byte, attributes interceptor.Attributes) (int, error) {
			own := header.Clone()
			return writer.Write(&own, payload, attributes)
		})
}
