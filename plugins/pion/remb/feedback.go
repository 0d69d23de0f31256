package remb

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/pion/interceptor"
	pion "github.com/pion/interceptor/pkg/twcc"
	"github.com/pion/rtcp"
	"github.com/pion/rtp"

	weir "weir/pion"
	"weir/pion/twcc"
)

// feedbackIntervalUs between messages of transport-wide feedback; the interval of pion's interceptor.
const feedbackIntervalUs = 100_000

// feedback is transport-wide feedback that omits losses: a message ends before each, and the sender takes packets that no
// message covers for neither received nor lost.
type feedback struct {
	reader twcc.Reader
	number uint8
	// recorder of the arrivals; nil: other interceptors report them. extensionID is that of the packets' numbers, 0 until
	// a stream has it: all streams of a PeerConnection have the same (RFC 8843, 9.2).
	recorder    *pion.Recorder
	extensionID uint8
	dueUs       int64
}

// record takes a packet, also of a stream that signaling has not described yet.
func (f *feedback) record(header *rtp.Header, arrivalUs int64) {
	if f.recorder == nil || f.extensionID == 0 {
		return
	}
	if number := header.GetExtension(f.extensionID); len(number) >= 2 {
		f.recorder.Record(header.SSRC, binary.BigEndian.Uint16(number), arrivalUs)
	}
}

// report sends transport-wide feedback that is due; how long to wait for the next time.
func (r *Receiver) report() (time.Duration, error) {
	r.mutex.Lock()
	f, nowUs := &r.feedback, r.nowUs()
	if f.recorder == nil {
		r.mutex.Unlock()
		return math.MaxInt64, nil
	}
	var packets []rtcp.Packet
	if nowUs >= f.dueUs {
		f.dueUs = nowUs + feedbackIntervalUs
		packets = f.recorder.BuildFeedbackPacket()
	}
	wait, writer := time.Duration(f.dueUs-nowUs)*time.Microsecond, r.writer
	r.mutex.Unlock()
	_, err := r.writeWithoutLosses(writer, packets, interceptor.Attributes{})
	return wait, err
}

// writeWithoutLosses sends the compound packets of withoutLosses.
func (r *Receiver) writeWithoutLosses(
	writer interceptor.RTCPWriter, packets []rtcp.Packet, attributes interceptor.Attributes,
) (written int, err error) {
	for _, compound := range r.withoutLosses(packets) {
		n, err := writer.Write(compound, attributes)
		if err != nil {
			return written, err
		}
		written += n
	}
	return written, nil
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
