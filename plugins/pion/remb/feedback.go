package remb

import (
	pion "github.com/pion/interceptor/pkg/twcc"
	"github.com/pion/rtcp"

	weir "weir/pion"
	"weir/pion/twcc"
)

// feedback is transport-wide feedback that leaves losses out: a message ends before each, and the sender takes what no
// message covers for neither received nor lost.
type feedback struct {
	reader twcc.Reader
	number uint8
}

// withoutLosses returns the compound packets to send in place of one. Browsers read one feedback message of each.
func (r *Receiver) withoutLosses(packets []rtcp.Packet) [][]rtcp.Packet {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	omits := !r.over && r.estimator.OmitsLosses()
	var all [][]rtcp.Packet
	var others []rtcp.Packet
	for _, packet := range packets {
		message, is := packet.(*rtcp.TransportLayerCC)
		if !is {
			others = append(others, packet)
			continue
		}
		for _, part := range r.feedback.split(message, omits) {
			all = append(all, []rtcp.Packet{part})
		}
	}
	if len(others) > 0 {
		all = append(all, others)
	}
	return all
}

// split returns the parts of a message between losses, or the message itself, numbered one after the other.
func (f *feedback) split(message *rtcp.TransportLayerCC, omits bool) []*rtcp.TransportLayerCC {
	parts := []*rtcp.TransportLayerCC{message}
	if omits {
		parts = nil
		received := f.reader.Read(message)
		for first := 0; first < len(received); {
			recorder := pion.NewRecorder(message.SenderSSRC)
			last := first
			for ; last < len(received) && received[last].Fate == weir.Received; last++ {
				recorder.Record(message.MediaSSRC, received[last].SequenceNumber, received[last].ReceiveTimeUs)
			}
			for _, packet := range recorder.BuildFeedbackPacket() {
				parts = append(parts, packet.(*rtcp.TransportLayerCC))
			}
			first = max(last, first+1)
		}
	}
	for _, part := range parts {
		part.FbPktCount = f.number
		f.number++
	}
	return parts
}
