package cc

import (
	"math/rand"
	"slices"
	"testing"
	"time"

	"github.com/pion/interceptor"
	"github.com/pion/interceptor/pkg/rfc8888"
	"github.com/pion/interceptor/pkg/twcc"
	"github.com/pion/rtcp"
	"github.com/pion/rtp"

	weir "weir/pion"
)

// overTheWire is what pion parses of messages.
func overTheWire(t testing.TB, messages ...rtcp.Packet) []rtcp.Packet {
	t.Helper()
	raw, err := rtcp.Marshal(messages)
	if err != nil {
		t.Fatal(err)
	}
	packets, err := rtcp.Unmarshal(raw)
	if err != nil {
		t.Fatal(err)
	}
	return packets
}

func TestHistoryFindsWhatItHolds(t *testing.T) {
	type key struct {
		ssrc     uint32
		sequence uint16
	}
	random := rand.New(rand.NewSource(1))
	h := &history{next: 60_000, first: 60_000}
	var sequences [3]uint16
	var sent []key
	var inFlight int64
	for range 40_000 {
		stream := random.Intn(3)
		k := key{uint32(stream) * 0x10001, sequences[stream]}
		if random.Intn(20) == 0 && len(sent) > 0 {
			k = sent[len(sent)-1-random.Intn(min(len(sent), 100))] // sent again
		} else {
			sequences[stream]++
		}
		h.add(h.next, k.ssrc, k.sequence, 100)
		sent, inFlight = append(sent, k), min(inFlight+100, 100*historyLength)
		back := 1 + random.Intn(min(len(sent), 2*historyLength))
		wanted := sent[len(sent)-back]
		held := sent[max(0, len(sent)-historyLength):]
		at := len(held) - 1
		for ; at >= 0 && held[at] != wanted; at-- {
		}
		number, found := h.find(wanted.ssrc, wanted.sequence)
		if found != (at >= 0) || found && number != h.next-uint16(len(held)-at) {
			t.Fatalf("%v, %d back: %d, %v", wanted, back, number, found)
		}
		if random.Intn(10) == 0 {
			h.answer(h.next - uint16(back))
			inFlight = min(inFlight, 100*int64(back-1))
		}
		if h.inFlight != inFlight {
			t.Fatalf("%d bytes in flight, expected %d", h.inFlight, inFlight)
		}
	}
}

func TestReportsAreInTheOrderOfSending(t *testing.T) {
	h := &history{}
	for i := range uint16(4) {
		h.add(h.next, 1, 65_534+i, 100)
		h.add(h.next, 2, i, 100)
	}
	block := func(ssrc uint32, begin uint16, offsets ...uint16) rtcp.CCFeedbackReportBlock {
		b := rtcp.CCFeedbackReportBlock{MediaSSRC: ssrc, BeginSequence: begin}
		for _, offset := range offsets {
			metric := rtcp.CCFeedbackMetricBlock{Received: offset > 0, ArrivalTimeOffset: offset}
			if offset == 64 {
				metric.ECN = rtcp.ECNCE
			}
			b.MetricBlocks = append(b.MetricBlocks, metric)
		}
		return b
	}
	message := &rtcp.CCFeedbackReport{ReportTimestamp: 1 << 16, ReportBlocks: []rtcp.CCFeedbackReportBlock{
		block(2, 65_535, 1, 256, 0, 0x1FFF), block(3, 0, 1, 1), block(1, 65_535, 512, 128, 64, 1),
	}}
	expected := []weir.PacketFeedback{
		{SequenceNumber: 1, Fate: weir.Received, ReceiveTimeUs: 750_000},
		{SequenceNumber: 2, Fate: weir.Received, ReceiveTimeUs: 500_000},
		{SequenceNumber: 3, Fate: weir.Lost},
		{SequenceNumber: 4, Fate: weir.Received, ReceiveTimeUs: 875_000},
		{SequenceNumber: 5, Fate: weir.FateUnknown},
		{SequenceNumber: 6, Fate: weir.Received, ReceiveTimeUs: 937_500, ECN: 3},
	}
	for range 3 {
		if got := h.read(message); !slices.Equal(got, expected) {
			t.Errorf("%+v", got)
		}
		// The receiver's clock wraps after 65,536 s.
		message.ReportTimestamp += 1 << 31
		for i := range expected {
			if expected[i].Fate == weir.Received {
				expected[i].ReceiveTimeUs -= 1 << 31 * 15_625 >> 10
			}
		}
	}
}

// streamCall is a host in simulated time that sends video and audio without transport-wide numbers, and encodes no
// frame while the window is full. The receiver answers as pion's rfc8888 does.
type streamCall struct {
	t             *testing.T
	estimator     *Estimator
	video, audio  interceptor.RTPWriter
	sequence      [2]uint16
	nowUs         int64
	rateBps       float64
	emptyAtUs     int64
	random        *rand.Rand
	onTheWay      []arrival
	recorder      *rfc8888.Recorder
	answers       []answer
	sent, skipped int
}

type arrival struct {
	atUs     int64
	ssrc     uint32
	sequence uint16
}

type answer struct {
	atUs    int64
	packets []rtcp.Packet
}

func newStreamCall(t *testing.T, rateBps float64) *streamCall {
	t.Helper()
	c := &streamCall{t: t, rateBps: rateBps, random: rand.New(rand.NewSource(2)), recorder: rfc8888.NewRecorder()}
	c.estimator = simulated(t, &c.nowUs)
	c.video = c.estimator.AddStream(&interceptor.StreamInfo{MimeType: "video/VP8"}, writerTo(c.carry))
	c.audio = c.estimator.AddStream(&interceptor.StreamInfo{MimeType: "audio/opus"}, writerTo(c.carry))
	return c
}

// carry loses one packet in a hundred, and one in fifty comes after the next.
func (c *streamCall) carry(h *rtp.Header) {
	c.sent++
	c.emptyAtUs = max(c.emptyAtUs, c.nowUs) + int64(8*1100/c.rateBps*1e6)
	atUs := c.emptyAtUs + 20_000
	if c.random.Intn(50) == 0 {
		atUs += 10_000
	}
	if c.random.Intn(100) > 0 && c.emptyAtUs < c.nowUs+300_000 {
		c.onTheWay = append(c.onTheWay, arrival{atUs, h.SSRC, h.SequenceNumber})
	}
}

func (c *streamCall) write(writer interceptor.RTPWriter, stream, size int) {
	h := &rtp.Header{Version: 2, SSRC: uint32(stream), SequenceNumber: c.sequence[stream]}
	c.sequence[stream]++
	if _, err := writer.Write(h, make([]byte, size), nil); err != nil {
		c.t.Fatal(err)
	}
}

func (c *streamCall) run(untilUs int64, answers bool) {
	const frameUs = 33_000
	for ; c.nowUs < untilUs; c.nowUs += 1000 {
		if c.nowUs%20_000 == 0 {
			c.write(c.audio, 1, 80)
		}
		if c.nowUs%frameUs == 0 {
			if c.estimator.WindowFull() {
				c.skipped++
			} else {
				bytes := c.estimator.GetTargetBitrate() / 8 * frameUs / 1_000_000
				for ; bytes > 0; bytes -= 1100 {
					c.write(c.video, 0, 1040)
				}
			}
		}
		c.onTheWay = slices.DeleteFunc(c.onTheWay, func(a arrival) bool {
			if a.atUs <= c.nowUs {
				c.recorder.AddPacket(time.UnixMicro(a.atUs), a.ssrc, a.sequence, 0)
			}
			return a.atUs <= c.nowUs
		})
		if c.nowUs%50_000 == 0 && answers {
			report := c.recorder.BuildReport(time.UnixMicro(c.nowUs), 1200)
			c.answers = append(c.answers, answer{c.nowUs + 20_000, overTheWire(c.t, report)})
		}
		if len(c.answers) > 0 && c.answers[0].atUs <= c.nowUs {
			// pion delivers it to the sender of each stream.
			for range 2 {
				if err := c.estimator.WriteRTCP(c.answers[0].packets, nil); err != nil {
					c.t.Fatal(err)
				}
			}
			c.answers = c.answers[1:]
		}
		c.estimator.poll()
	}
}

func TestARateFromPerStreamFeedback(t *testing.T) {
	const rateBps = 3e6
	call := newStreamCall(t, rateBps)
	call.run(20_000_000, true)
	stats, target := call.estimator.GetStats(), float64(call.estimator.GetTargetBitrate())
	if target < 0.7*rateBps || target > 1.1*rateBps {
		t.Errorf("%.0f bps over %.0f; %v", target, rateBps, stats)
	}
	received, lost := stats["packetsReceived"].(uint64), stats["packetsLost"].(uint64)
	// The first packets leave before any feedback. Late packets count as lost and as received.
	if sent := uint64(call.sent); received < sent*95/100 || received > sent || lost > sent*6/100 || lost < sent/200 {
		t.Errorf("%d packets; %v", sent, stats)
	}
	for _, counter := range []string{"packetsInvalid", "clockRestarts", "packetsFateUnknown"} {
		if stats[counter].(uint64) > 60 {
			t.Errorf("%s: %v", counter, stats)
		}
	}
	t.Logf("%.0f bps; %d frames skipped; %v", target, call.skipped, stats)
}

func TestAFullWindowHoldsFramesAndOpensAgain(t *testing.T) {
	call := newStreamCall(t, 1e6)
	if call.estimator.WindowFull() {
		t.Error("full before any feedback")
	}
	call.run(10_000_000, true)
	call.skipped = 0
	call.run(13_000_000, false)
	window, inFlight := call.estimator.Rates().CongestionWindowBytes, call.estimator.history.inFlight
	if call.skipped < 60 || !call.estimator.WindowFull() || inFlight < window {
		t.Errorf("%d frames of 90 skipped without feedback; %d bytes in flight", call.skipped, inFlight)
	}
	call.nowUs += congestedIntervalUs
	if call.estimator.WindowFull() {
		t.Error("full though nothing was sent for long")
	}
	call.run(20_000_000, true)
	call.skipped = 0
	call.run(23_000_000, true)
	if call.skipped > 45 || call.estimator.history.inFlight > 100_000 {
		t.Errorf("%d frames of 90 skipped; %d bytes in flight", call.skipped, call.estimator.history.inFlight)
	}
	_ = call.estimator.Close()
	if call.estimator.WindowFull() {
		t.Error("full after Close")
	}
}

func TestTransportWideFeedbackExcludesPerStreamFeedback(t *testing.T) {
	call := newStreamCall(t, 1e6)
	perStream := []rtcp.Packet{&rtcp.CCFeedbackReport{ReportBlocks: []rtcp.CCFeedbackReportBlock{{
		MediaSSRC: 1, MetricBlocks: make([]rtcp.CCFeedbackMetricBlock, 100),
	}}}}
	counted := func(feedback []rtcp.Packet) uint16 {
		if err := call.estimator.WriteRTCP(feedback, nil); err != nil {
			t.Error(err)
		}
		before := call.estimator.history.next
		call.write(call.audio, 1, 80)
		return call.estimator.history.next - before
	}
	if counted(nil) != 0 || counted(perStream) != 1 || counted(perStream) != 1 {
		t.Error("a stream counts while per-stream feedback comes")
	}
	lost := call.estimator.GetStats()["packetsLost"]
	recorder := twcc.NewRecorder(1)
	recorder.Record(1, 1, 0)
	if counted(recorder.BuildFeedbackPacket()) != 0 || counted(perStream) != 0 {
		t.Error("a stream without numbers counts")
	}
	if now := call.estimator.GetStats()["packetsLost"]; lost != uint64(1) || now != lost {
		t.Errorf("%v packets lost, then %v", lost, now)
	}
}

func TestPerStreamFeedbackAllocatesNothing(t *testing.T) {
	call := newStreamCall(t, 1e6)
	call.run(2_000_000, true)
	packets := overTheWire(t, call.recorder.BuildReport(time.UnixMicro(call.nowUs), 1200))
	h, payload := &rtp.Header{Version: 2}, make([]byte, 1000)
	if n := testing.AllocsPerRun(100, func() {
		_, _ = call.video.Write(h, payload, nil)
		_ = call.estimator.WriteRTCP(packets, nil)
		call.onTheWay = call.onTheWay[:0]
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// Another estimator's pacer may drop packets that have a number, or send them after later ones.
func TestPacketsThatDoNotLeaveInOrderCountNowhere(t *testing.T) {
	h := &history{}
	h.add(0, 7, 100, 500)
	h.add(3, 7, 103, 500)
	h.add(1, 7, 101, 500)
	if h.next != 4 || h.inFlight != 1000 {
		t.Errorf("next %d, %d bytes in flight", h.next, h.inFlight)
	}
	if _, found := h.find(7, 101); found {
		t.Error("a packet that left late is found")
	}
	if number, found := h.find(7, 103); !found || number != 3 {
		t.Errorf("number %d, %v", number, found)
	}
	if h.answer(3); h.inFlight != 0 {
		t.Errorf("%d bytes in flight", h.inFlight)
	}
}
