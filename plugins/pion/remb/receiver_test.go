package remb

import (
	"encoding/binary"
	"errors"
	"io"
	"math/rand"
	"slices"
	"sync"
	"testing"

	"github.com/pion/interceptor"
	"github.com/pion/rtcp"
	"github.com/pion/rtp"
	"github.com/pion/transport/v5/packetio"

	weir "weir/pion"
	"weir/pion/shipped"
)

const (
	absSendTimeID = 3
	transportCCID = 4
)

func newReceiver(t testing.TB) *Receiver {
	t.Helper()
	model, err := shipped.Model()
	if err != nil {
		t.Fatal(err)
	}
	receiver, err := New(Options{Config: weir.Config{Model: model}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = receiver.Close() })
	return receiver
}

func videoStream(ssrc uint32) *interceptor.StreamInfo {
	return &interceptor.StreamInfo{
		SSRC: ssrc, MimeType: "video/VP8", ClockRate: 90_000,
		RTPHeaderExtensions: []interceptor.RTPHeaderExtension{{URI: absSendTimeURI, ID: absSendTimeID}},
	}
}

// inSimulatedTime stops the receiver's own goroutine from beginning, and gives it a clock.
func inSimulatedTime(receiver *Receiver) *int64 {
	receiver.begun.Do(func() {})
	now := new(int64)
	receiver.nowUs = func() int64 { return *now }
	return now
}

func bind(t testing.TB, receiver *Receiver, streams ...*interceptor.StreamInfo) interceptor.Interceptor {
	t.Helper()
	bound, err := receiver.NewInterceptor("")
	if err != nil {
		t.Fatal(err)
	}
	for _, info := range streams {
		bound.BindRemoteStream(info, nil)
	}
	return bound
}

func rawPacket(t testing.TB, ssrc uint32, number uint16, sentUs int64, payloadBytes int, padding uint8) []byte {
	t.Helper()
	packet := rtp.Packet{
		Header:      rtp.Header{Version: 2, SSRC: ssrc, SequenceNumber: number, PayloadType: 96, Padding: padding > 0},
		Payload:     make([]byte, payloadBytes),
		PaddingSize: padding,
	}
	send := uint32((sentUs<<18)/1_000_000) & 0xFFFFFF
	if err := packet.SetExtension(absSendTimeID, []byte{byte(send >> 16), byte(send >> 8), byte(send)}); err != nil {
		t.Fatal(err)
	}
	raw, err := packet.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// numbered is a packet with a transport-wide sequence number, which is also that of its stream.
func numbered(t testing.TB, ssrc uint32, number uint16) []byte {
	t.Helper()
	packet := rtp.Packet{
		Header:  rtp.Header{Version: 2, SSRC: ssrc, SequenceNumber: number, PayloadType: 96},
		Payload: make([]byte, 1000),
	}
	if err := packet.SetExtension(transportCCID, binary.BigEndian.AppendUint16(nil, number)); err != nil {
		t.Fatal(err)
	}
	raw, err := packet.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

type arrival struct {
	timeUs  int64
	sentUs  int64
	number  uint16
	payload int
	padding uint8
}

// arrivalsOfACall: numbers that wrap, 3 % lost, some out of order, some twice; a queue that grows and goes.
func arrivalsOfACall() []arrival {
	random := rand.New(rand.NewSource(1))
	var all []arrival
	for i := range 6000 {
		sent := int64(i) * 5_000
		queue := int64(i%1500) * 40
		a := arrival{sent + 30_000 + queue, sent, uint16(64_000 + i), 200 + random.Intn(1000), 0}
		if i%10 == 0 {
			a.padding = uint8(1 + random.Intn(200))
		}
		switch {
		case random.Float64() < 0.03:
			continue
		case random.Float64() < 0.02:
			a.timeUs += 25_000
		}
		all = append(all, a)
		if random.Float64() < 0.01 {
			all = append(all, a)
		}
	}
	slices.SortStableFunc(all, func(a, b arrival) int { return int(a.timeUs - b.timeUs) })
	return all
}

func TestSameEstimatesAsOfPacketsHandedToTheLibraryDirectly(t *testing.T) {
	receiver := newReceiver(t)
	now := inSimulatedTime(receiver)
	bind(t, receiver, videoStream(7))
	buffer := bufferFactory[packetio.BufferPacketType](receiver, nil)(packetio.RTPBufferPacket, 7)
	direct, err := weir.NewEstimator(receiver.options.Config)
	if err != nil {
		t.Fatal(err)
	}
	defer direct.Close()
	decisions, changes, before := 0, 0, int64(0)
	for _, a := range arrivalsOfACall() {
		for ; direct.NextTimeoutUs() <= a.timeUs; decisions++ {
			*now = max(direct.NextTimeoutUs(), 0)
			want, due, err := direct.OnTimeout(*now)
			if err != nil {
				t.Fatal(err)
			}
			feedback, got, _, err := receiver.decide()
			if err != nil || got != want || (feedback != nil) != due {
				t.Fatalf("at %d us %+v, directly %+v (%v)", *now, got, want, err)
			}
			if latest, _ := direct.Latest(); latest.TargetRateBps != before {
				before = latest.TargetRateBps
				changes++
			}
		}
		*now = a.timeUs
		raw := rawPacket(t, 7, a.number, a.sentUs, a.payload, a.padding)
		// Nobody reads: what has arrived counts all the same.
		if _, err := buffer.Write(raw); err != nil && !errors.Is(err, packetio.ErrFull) {
			t.Fatal(err)
		}
		packet := weir.Packet{
			ArrivalTimeUs: a.timeUs, SSRC: 7, SequenceNumber: a.number, PayloadType: 96, HasAbsSendTime: true,
			AbsSendTime: uint32((a.sentUs<<18)/1_000_000) & 0xFFFFFF, RTPClockRateHz: 90_000,
			HeaderBytes: uint32(len(raw) - a.payload - int(a.padding)), PayloadBytes: uint32(a.payload),
			PaddingBytes: uint32(a.padding),
		}
		if err := direct.OnPacket(&packet); err != nil {
			t.Fatal(err)
		}
	}
	got, err := receiver.Statistics()
	want, wantErr := direct.Statistics(*now)
	if err != nil || wantErr != nil || got != want || got.PacketsLost == 0 || decisions < 300 || changes < 100 {
		t.Errorf("%+v, directly %+v, after %d decisions and %d changes", got, want, decisions, changes)
	}
}

// hostBuffer is a buffer of a host.
type hostBuffer struct{ written int }

func (*hostBuffer) Read([]byte) (int, error)           { return 0, nil }
func (*hostBuffer) Close() error                       { return nil }
func (b *hostBuffer) Write(packet []byte) (int, error) { b.written++; return len(packet), nil }

func TestBuffersOfTheHostStayInUse(t *testing.T) {
	receiver := newReceiver(t)
	now, made := inSimulatedTime(receiver), map[packetio.BufferPacketType]*hostBuffer{}
	*now = 1_000_000
	factory := bufferFactory(receiver, func(kind packetio.BufferPacketType, _ uint32) io.ReadWriteCloser {
		made[kind] = &hostBuffer{}
		return made[kind]
	})
	raw := rawPacket(t, 7, 1, 0, 1000, 0)
	for _, kind := range []packetio.BufferPacketType{packetio.RTPBufferPacket, packetio.RTCPBufferPacket} {
		if n, err := factory(kind, 7).Write(raw); n != len(raw) || err != nil || made[kind].written != 1 {
			t.Errorf("kind %d: %d bytes, %v", kind, n, err)
		}
	}
	if got, err := receiver.Statistics(); err != nil || got.PacketsReceived != 1 {
		t.Errorf("%d packets arrived, not one: %v", got.PacketsReceived, err)
	}
}

type rtcpWriter struct {
	mutex     sync.Mutex
	packets   []rtcp.Packet
	compounds int
}

func (w *rtcpWriter) Write(packets []rtcp.Packet, _ interceptor.Attributes) (int, error) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.packets = append(w.packets, packets...)
	w.compounds++
	return 0, nil
}

// nextREMB plays half a second, a packet of each stream every 10 ms, and returns the last REMB.
func nextREMB(t *testing.T, receiver *Receiver, now *int64, number *uint16, ssrcs ...uint32) *rtcp.ReceiverEstimatedMaximumBitrate {
	t.Helper()
	var last *rtcp.ReceiverEstimatedMaximumBitrate
	for range 50 {
		*now += 10_000
		*number++
		for _, ssrc := range ssrcs {
			receiver.OnPacket(rawPacket(t, ssrc, *number, *now-20_000, 1000, 0))
		}
		if *now < receiver.estimator.NextTimeoutUs() {
			continue
		}
		feedback, _, _, err := receiver.decide()
		if err != nil {
			t.Fatal(err)
		}
		if feedback != nil {
			last = feedback
		}
	}
	if last == nil {
		t.Fatal("no REMB in half a second")
	}
	slices.Sort(last.SSRCs)
	return last
}

func TestStreamsThatEndLeaveTheREMB(t *testing.T) {
	receiver := newReceiver(t)
	now, number := inSimulatedTime(receiver), uint16(0)
	*now = 1_000_000
	audio := &interceptor.StreamInfo{SSRC: 3, MimeType: "audio/opus", ClockRate: 48_000}
	rtx := &interceptor.StreamInfo{SSRC: 2, MimeType: "video/rtx", ClockRate: 90_000}
	bound := bind(t, receiver, videoStream(1), rtx, audio)
	if got := nextREMB(t, receiver, now, &number, 1, 2, 3); !slices.Equal(got.SSRCs, []uint32{1, 2, 3}) {
		t.Errorf("all three: %v", got.SSRCs)
	}
	bound.UnbindRemoteStream(rtx)
	if got := nextREMB(t, receiver, now, &number, 1, 3); !slices.Equal(got.SSRCs, []uint32{1, 3}) {
		t.Errorf("without retransmissions: %v", got.SSRCs)
	}
	bye, err := rtcp.Goodbye{Sources: []uint32{3}}.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	reader := bound.BindRTCPReader(interceptor.RTCPReaderFunc(
		func(b []byte, a interceptor.Attributes) (int, interceptor.Attributes, error) {
			return copy(b, bye), a, nil
		}))
	if _, _, err := reader.Read(make([]byte, 100), nil); err != nil {
		t.Fatal(err)
	}
	if got := nextREMB(t, receiver, now, &number, 1); !slices.Equal(got.SSRCs, []uint32{1}) {
		t.Errorf("after BYE: %v", got.SSRCs)
	}
	if got := nextREMB(t, receiver, now, &number, 1, 3); !slices.Equal(got.SSRCs, []uint32{1, 3}) {
		t.Errorf("heard again: %v", got.SSRCs)
	}
}

func TestBesideTransportCCThereIsARemoteEstimateAndPacketsCountAsAtTheSender(t *testing.T) {
	for _, transportCC := range []bool{false, true} {
		receiver := newReceiver(t)
		now, number := inSimulatedTime(receiver), uint16(0)
		*now = 1_000_000
		stream := videoStream(1)
		if transportCC {
			extension := interceptor.RTPHeaderExtension{URI: transportCCURI, ID: transportCCID}
			stream.RTPHeaderExtensions = append(stream.RTPHeaderExtensions, extension)
		}
		writer := &rtcpWriter{}
		bind(t, receiver, stream).BindRTCPWriter(writer)
		if err := receiver.send(nextREMB(t, receiver, now, &number, 1)); err != nil {
			t.Fatal(err)
		}
		sent, err := rtcp.Marshal(writer.packets[1:])
		if err != nil {
			t.Fatal(err)
		}
		// As libwebrtc parses it: subtype 13, four words, SSRC 0, and 1,000,000 kbps.
		want := "\x8d\xcc\x00\x03\x00\x00\x00\x00goog\x01\x0f\x42\x40"
		bytes := int64(len(rawPacket(t, 1, 1, 0, 1000, 0)))
		if !transportCC {
			want = ""
		} else {
			bytes += 20 + 8 + 10
		}
		if string(sent) != want {
			t.Errorf("transport-cc %v: % x beside REMB", transportCC, sent)
		}
		if got, err := receiver.Statistics(); err != nil || got.BytesReceived != 50*bytes {
			t.Errorf("transport-cc %v: %d bytes of %d each, %v", transportCC, got.BytesReceived, bytes, err)
		}
	}
}

func TestKindsOfStreams(t *testing.T) {
	for mime, want := range map[string]weir.Kind{
		"video/VP8": weir.Video, "video/rtx": weir.Retransmission, "audio/opus": weir.Audio, "": weir.Video,
	} {
		if got := streamOf(&interceptor.StreamInfo{MimeType: mime, ClockRate: 9}); got != (stream{clockRateHz: 9, kind: want}) {
			t.Errorf("%s: %+v", mime, got)
		}
	}
}

func TestOneReceiverServesOnePeerConnection(t *testing.T) {
	receiver := newReceiver(t)
	bind(t, receiver)
	if _, err := receiver.NewInterceptor(""); !errors.Is(err, ErrTaken) {
		t.Errorf("a second one: %v", err)
	}
}

func TestWhatIsNoRTPIsIgnored(t *testing.T) {
	receiver := newReceiver(t)
	bind(t, receiver, videoStream(7))
	whole := rawPacket(t, 7, 1, 0, 20, 200)
	for size := range whole {
		receiver.OnPacket(whole[:size])
	}
	random := rand.New(rand.NewSource(2))
	for range 10_000 {
		raw := make([]byte, random.Intn(80))
		random.Read(raw)
		receiver.OnPacket(raw)
	}
	if _, err := receiver.Statistics(); err != nil {
		t.Error(err)
	}
}

func TestCloseUnderLoad(t *testing.T) {
	for range 20 {
		receiver := newReceiver(t)
		writer := &rtcpWriter{}
		bound := bind(t, receiver)
		bound.BindRTCPWriter(writer)
		raw := rawPacket(t, 7, 1, 0, 1000, 0)
		var all sync.WaitGroup
		for goroutine := range 6 {
			all.Add(1)
			go func() {
				defer all.Done()
				own := slices.Clone(raw)
				bound.BindRemoteStream(videoStream(uint32(goroutine)), nil)
				for number := range uint16(300) {
					binary.BigEndian.PutUint16(own[2:], number)
					receiver.OnPacket(own)
					switch {
					case number == 150 && goroutine == 0:
						_ = bound.Close()
					case number%50 == 0:
						_, _ = receiver.Statistics()
						_ = receiver.SetObjective(weir.Objective{Throughput: 1, Latency: 1, Loss: 1})
						bound.UnbindRemoteStream(videoStream(7))
					}
				}
			}()
		}
		all.Wait()
		if _, err := receiver.Statistics(); !errors.Is(err, weir.ErrClosed) {
			t.Fatalf("after Close: %v", err)
		}
	}
}

func BenchmarkOnPacket(b *testing.B) {
	receiver := newReceiver(b)
	bind(b, receiver, videoStream(7))
	raw := rawPacket(b, 7, 0, 0, 1100, 0)
	number := uint16(0)
	b.ReportAllocs()
	for b.Loop() {
		number++
		binary.BigEndian.PutUint16(raw[2:], number)
		receiver.OnPacket(raw)
	}
}
