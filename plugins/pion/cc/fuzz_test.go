package cc

import (
	"testing"

	"github.com/pion/interceptor"
	"github.com/pion/interceptor/pkg/twcc"
	"github.com/pion/rtcp"
	"github.com/pion/rtp"

	feedback "weir/pion/twcc"
)

// Whatever pion's parser lets through.
func FuzzFeedback(f *testing.F) {
	recorder := twcc.NewRecorder(1)
	for number := range uint16(300) {
		if number%7 != 0 {
			recorder.Record(7, number, int64(number)*3000)
		}
	}
	raw, err := rtcp.Marshal(recorder.BuildFeedbackPacket())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Add([]byte{0x8b, 205, 0, 6, 0, 0, 0, 1, 0, 0, 0, 8, 0, 0, 0, 5, 0x9f, 0xfe, 0, 0, 0x80, 1, 0xff, 0xff, 0, 1, 0, 0})
	f.Add([]byte{0x8f, 205, 0, 5, 0, 0, 0, 1, 0, 0, 0, 7, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0x3f, 0xff, 0, 0})
	estimator := newEstimator(f)
	writer := estimator.AddStream(info, writerTo(func(*rtp.Header) {}))
	plain := estimator.AddStream(&interceptor.StreamInfo{}, writerTo(func(*rtp.Header) {}))
	var sequence uint16
	f.Fuzz(func(t *testing.T, raw []byte) {
		_, _ = writer.Write(header(0), nil, nil)
		_, _ = plain.Write(&rtp.Header{Version: 2, SSRC: 8, SequenceNumber: sequence}, nil, nil)
		sequence++
		packets, err := rtcp.Unmarshal(raw)
		if err != nil {
			return
		}
		if err := estimator.WriteRTCP(packets, nil); err != nil {
			t.Error(err)
		}
		for _, packet := range packets {
			switch message := packet.(type) {
			case *rtcp.TransportLayerCC:
				if got := (&feedback.Reader{}).Read(message); len(got) > int(message.PacketStatusCount) {
					t.Errorf("%d packets of %d", len(got), message.PacketStatusCount)
				}
			case *rtcp.CCFeedbackReport:
				for _, report := range estimator.history.read(message) {
					if age := estimator.history.next - report.SequenceNumber; age == 0 || age > historyLength {
						t.Errorf("a report on a packet that is not in the history: %+v", report)
					}
				}
				// The next input may be either kind.
				estimator.transportWide = false
			}
		}
		bytes, inFlight := estimator.history.inFlight, estimator.history.next-estimator.history.first
		if bytes < 0 || inFlight > historyLength || (bytes == 0) != (inFlight == 0) {
			t.Errorf("%d packets in flight with %d bytes", inFlight, bytes)
		}
		estimator.WindowFull()
	})
}
