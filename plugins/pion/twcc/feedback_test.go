package twcc

import (
	"slices"
	"testing"

	pion "github.com/pion/interceptor/pkg/twcc"
	"github.com/pion/rtcp"

	weir "weir/pion"
)

// readAll is what the messages of pion's recorder say, after a way over the wire.
func readAll(t testing.TB, reader *Reader, packets []rtcp.Packet) []weir.PacketFeedback {
	t.Helper()
	raw, err := rtcp.Marshal(packets)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := rtcp.Unmarshal(raw)
	if err != nil {
		t.Fatal(err)
	}
	var all []weir.PacketFeedback
	for _, packet := range parsed {
		all = append(all, reader.Read(packet.(*rtcp.TransportLayerCC))...)
	}
	return all
}

func TestReadsWhatPionRecords(t *testing.T) {
	recorder := pion.NewRecorder(1)
	// Numbers that wrap, gaps, packets that change places, a pause that needs a large delta.
	arrivals := map[uint16]int64{
		65_533: 1_000_000, 65_534: 1_000_250, 65_535: 1_002_000, 2: 1_001_500, 3: 1_040_000, 30: 1_040_250, 31: 1_400_000,
	}
	for _, number := range []uint16{65_533, 65_534, 2, 65_535, 3, 30, 31} {
		recorder.Record(7, number, arrivals[number])
	}
	got := readAll(t, &Reader{}, recorder.BuildFeedbackPacket())
	number := uint16(65_533)
	for _, packet := range got {
		at, came := arrivals[number]
		if packet.SequenceNumber != number || (packet.Fate == weir.Received) != came || came && packet.ReceiveTimeUs != at {
			t.Errorf("%+v; %d came at %d us: %v", packet, number, at, came)
		}
		number++
	}
	if number != 32 {
		t.Errorf("the messages end before %d", number)
	}
}

func TestReferenceTimesWrap(t *testing.T) {
	reader := &Reader{}
	at := func(reference uint32) int64 {
		return reader.Read(&rtcp.TransportLayerCC{
			PacketStatusCount: 1, ReferenceTime: reference,
			PacketChunks: []rtcp.PacketStatusChunk{&rtcp.RunLengthChunk{PacketStatusSymbol: 1, RunLength: 1}},
			RecvDeltas:   []*rtcp.RecvDelta{{Type: 1, Delta: 250}},
		})[0].ReceiveTimeUs
	}
	first := at(1<<24 - 2)
	for _, c := range []struct {
		reference uint32
		steps     int64
	}{{1<<24 - 1, 1}, {0, 2}, {5, 7}, {1<<24 - 3, -1}, {1, 3}} {
		if got := at(c.reference); got != first+c.steps*referenceTimeUs {
			t.Errorf("%d: %d us after the first, expected %d steps", c.reference, got-first, c.steps)
		}
	}
}

func TestMessagesThatCannotBeAreReadAsFarAsTheyGo(t *testing.T) {
	run := func(symbol, length uint16) *rtcp.RunLengthChunk {
		return &rtcp.RunLengthChunk{PacketStatusSymbol: symbol, RunLength: length}
	}
	delta := []*rtcp.RecvDelta{{Type: 1, Delta: 250}}
	for name, c := range map[string]struct {
		message rtcp.TransportLayerCC
		fates   []weir.Fate
	}{
		"nothing":        {rtcp.TransportLayerCC{}, nil},
		"no chunks":      {rtcp.TransportLayerCC{PacketStatusCount: 9}, nil},
		"no deltas":      {rtcp.TransportLayerCC{PacketStatusCount: 9, PacketChunks: []rtcp.PacketStatusChunk{run(1, 9)}}, nil},
		"too few deltas": {rtcp.TransportLayerCC{PacketStatusCount: 3, PacketChunks: []rtcp.PacketStatusChunk{run(0, 1), run(2, 2)}, RecvDeltas: delta}, []weir.Fate{weir.Lost, weir.Received}},
		"longer than its header": {
			rtcp.TransportLayerCC{PacketStatusCount: 2, PacketChunks: []rtcp.PacketStatusChunk{run(0, 8191)}},
			[]weir.Fate{weir.Lost, weir.Lost},
		},
		"reserved": {
			rtcp.TransportLayerCC{PacketStatusCount: 1, PacketChunks: []rtcp.PacketStatusChunk{run(3, 1)}},
			[]weir.Fate{weir.FateUnknown},
		},
	} {
		var fates []weir.Fate
		for _, packet := range (&Reader{}).Read(&c.message) {
			fates = append(fates, packet.Fate)
		}
		if !slices.Equal(fates, c.fates) {
			t.Errorf("%s: %v", name, fates)
		}
	}
}
