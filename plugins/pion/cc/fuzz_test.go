package cc

import (
	"testing"

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
	f.Add([]byte{0x8f, 205, 0, 5, 0, 0, 0, 1, 0, 0, 0, 7, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0x3f, 0xff, 0, 0})
	estimator := newEstimator(f)
	writer := estimator.AddStream(info, writerTo(func(*rtp.Header) {}))
	f.Fuzz(func(t *testing.T, raw []byte) {
		_, _ = writer.Write(header(0), nil, nil)
		packets, err := rtcp.Unmarshal(raw)
		if err != nil {
			return
		}
		if err := estimator.WriteRTCP(packets, nil); err != nil {
			t.Error(err)
		}
		for _, packet := range packets {
			if message, ok := packet.(*rtcp.TransportLayerCC); ok {
				if got := (&feedback.Reader{}).Read(message); len(got) > int(message.PacketStatusCount) {
					t.Errorf("%d packets of %d", len(got), message.PacketStatusCount)
				}
			}
		}
	})
}
