package remb

import (
	"testing"
	"time"

	"github.com/pion/interceptor"
	pion "github.com/pion/interceptor/pkg/twcc"
	"github.com/pion/rtcp"

	weir "weir/pion"
	"weir/pion/shipped"
	"weir/pion/twcc"
)

// recorded is pion's feedback on packets that arrive 7 ms after each other, without those that are lost.
func recorded(first, last uint16, lost map[uint16]bool) []rtcp.Packet {
	recorder := pion.NewRecorder(9)
	for number := first; number != last; number++ {
		if !lost[number] {
			recorder.Record(7, number, 1_000_000+7_000*int64(number-first))
		}
	}
	return recorder.BuildFeedbackPacket()
}

// read is what a sender reads in the messages, which are numbered from `number` on.
func read(t *testing.T, packets []rtcp.Packet, number uint8) (arrivals, losses map[uint16]int64) {
	t.Helper()
	raw, err := rtcp.Marshal(packets)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := rtcp.Unmarshal(raw)
	if err != nil {
		t.Fatal(err)
	}
	arrivals, losses = make(map[uint16]int64), make(map[uint16]int64)
	var reader twcc.Reader
	for _, packet := range parsed {
		message := packet.(*rtcp.TransportLayerCC)
		if message.FbPktCount != number || message.MediaSSRC != 7 || message.SenderSSRC != 9 {
			t.Errorf("message %d: %v", number, message)
		}
		number++
		for _, packet := range reader.Read(message) {
			if packet.Fate == weir.Received {
				arrivals[packet.SequenceNumber] = packet.ReceiveTimeUs
			} else {
				losses[packet.SequenceNumber] = 0
			}
		}
	}
	return arrivals, losses
}

func TestAMessageEndsBeforeEachLoss(t *testing.T) {
	var f feedback
	lost := map[uint16]bool{65_535: true, 0: true, 5: true}
	message := recorded(65_530, 9, lost)[0].(*rtcp.TransportLayerCC)
	split := func(omits bool) (packets []rtcp.Packet) {
		copied := *message
		for _, part := range f.split(&copied, omits) {
			packets = append(packets, part)
		}
		return packets
	}
	whole, losses := read(t, split(false), 0)
	if len(whole) != 12 || len(losses) != 3 {
		t.Fatalf("%d arrivals and %d losses", len(whole), len(losses))
	}
	parts := split(true)
	arrivals, losses := read(t, parts, 1)
	if len(parts) != 3 || len(losses) != 0 || len(arrivals) != len(whole) {
		t.Fatalf("%d messages with %d arrivals and %d losses", len(parts), len(arrivals), len(losses))
	}
	for number, timeUs := range whole {
		if arrivals[number] != timeUs {
			t.Errorf("%d: %d instead of %d us", number, arrivals[number], timeUs)
		}
	}
	// Nothing is split where nothing is lost, and numbers go on.
	packets := f.split(recorded(9, 12, nil)[0].(*rtcp.TransportLayerCC), true)
	if len(packets) != 1 || packets[0].FbPktCount != 4 {
		t.Errorf("without a loss: %v", packets)
	}
}

func TestWhatOtherInterceptorsReportLeavesWithoutTheLossOfAnyRate(t *testing.T) {
	receiver := newReceiver(t)
	now := inSimulatedTime(receiver)
	*now = 1_000_000
	writer := &rtcpWriter{}
	bound := bind(t, receiver, videoStream(1)).BindRTCPWriter(writer)
	report := func() (losses map[uint16]int64) {
		writer.packets, writer.compounds = nil, 0
		if _, err := bound.Write(recorded(1, 40, map[uint16]bool{20: true}), interceptor.Attributes{}); err != nil {
			t.Fatal(err)
		}
		_, losses = read(t, writer.packets, writer.packets[0].(*rtcp.TransportLayerCC).FbPktCount)
		// Browsers read one of a compound packet.
		if writer.compounds != len(writer.packets) {
			t.Errorf("%d messages in %d packets", len(writer.packets), writer.compounds)
		}
		return losses
	}
	// A packet each 5 ms, or later as the target demands, one of 10 lost or none, and no queue.
	intervalUs := int64(5_000)
	play := func(first, last uint16, loses bool) {
		for number := first; number < last; number++ {
			*now += intervalUs
			if !loses || number%10 != 0 {
				receiver.OnPacket(rawPacket(t, 1, number, *now, 1000, 0))
			}
			if number%20 == 15 {
				_, estimate, _, err := receiver.decide()
				if err != nil {
					t.Fatal(err)
				}
				if estimate.TargetRateBps > 0 {
					intervalUs = max(5_000, 8_000*1_000_000/estimate.TargetRateBps)
				}
			}
		}
	}
	play(1, 3000, true)
	if losses := report(); len(losses) != 0 {
		t.Errorf("%d losses are reported", len(losses))
	}
	// A second without loss.
	play(3000, 3400, false)
	if losses := report(); len(losses) != 1 {
		t.Errorf("%d losses are reported, not one", len(losses))
	}
	if err := receiver.Close(); err != nil {
		t.Fatal(err)
	}
	if losses := report(); len(losses) != 1 {
		t.Errorf("closed: %d losses are reported, not one", len(losses))
	}
}

func TestATransportFeedbackReceiverReportsThePacketsOfAllStreamsEvery100Milliseconds(t *testing.T) {
	model, err := shipped.Model()
	if err != nil {
		t.Fatal(err)
	}
	receiver, err := New(Options{Config: weir.Config{Model: model}, TransportFeedback: true})
	if err != nil {
		t.Fatal(err)
	}
	defer receiver.Close()
	now, writer := inSimulatedTime(receiver), &rtcpWriter{}
	stream := videoStream(1)
	stream.RTPHeaderExtensions = append(stream.RTPHeaderExtensions,
		interceptor.RTPHeaderExtension{URI: transportCCURI, ID: transportCCID})
	bind(t, receiver, stream).BindRTCPWriter(writer)
	messages, arrivals := 0, map[uint16]int64{}
	var reader twcc.Reader
	for number := range uint16(200) {
		*now += 5_000
		// Stream 2 has no signaling; 70 to 89 are lost.
		if number < 70 || number >= 90 {
			receiver.OnPacket(numbered(t, 1+uint32(number%2), number))
		}
		wait, err := receiver.report()
		if err != nil || wait <= 0 || wait > 100*time.Millisecond {
			t.Fatalf("wait %v, %v", wait, err)
		}
		for _, packet := range writer.packets {
			messages++
			for _, reported := range reader.Read(packet.(*rtcp.TransportLayerCC)) {
				if reported.Fate == weir.Received {
					arrivals[reported.SequenceNumber] = reported.ReceiveTimeUs
				}
			}
		}
		writer.packets = nil
	}
	// Reports are due at 5, 105, ..., 905 ms.
	if messages != 10 || len(arrivals) != 161 {
		t.Errorf("%d messages on %d packets", messages, len(arrivals))
	}
	for number, timeUs := range arrivals {
		if want := arrivals[0] + 5_000*int64(number); timeUs < want-250 || timeUs > want+250 {
			t.Errorf("packet %d arrived at %d us instead of %d", number, timeUs, want)
		}
	}
}
