package cc

import (
	"encoding/binary"
	"errors"
	"math/rand"
	"sync"
	"testing"
	"time"

	"github.com/pion/interceptor"
	"github.com/pion/interceptor/pkg/twcc"
	"github.com/pion/rtcp"
	"github.com/pion/rtp"

	weir "weir/pion"
	"weir/pion/shipped"
	feedback "weir/pion/twcc"
)

const extensionID = 5

var info = &interceptor.StreamInfo{
	SSRC: 7, MimeType: "video/VP8",
	RTPHeaderExtensions: []interceptor.RTPHeaderExtension{{URI: transportCCURI, ID: extensionID}},
}

func newEstimator(t testing.TB) *Estimator {
	t.Helper()
	model, err := shipped.Model()
	if err != nil {
		t.Fatal(err)
	}
	estimator, err := NewEstimator(Options{Config: weir.Config{Model: model}, Unpaced: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = estimator.Close() })
	return estimator
}

// header as pion's header interceptor leaves it.
func header(number uint16) *rtp.Header {
	h := &rtp.Header{Version: 2, SSRC: 7}
	if err := h.SetExtension(extensionID, binary.BigEndian.AppendUint16(nil, number)); err != nil {
		panic(err)
	}
	return h
}

func writerTo(f func(*rtp.Header)) interceptor.RTPWriter {
	return interceptor.RTPWriterFunc(func(h *rtp.Header, p []byte, _ interceptor.Attributes) (int, error) {
		f(h)
		return len(p), nil
	})
}

// path is a receiver behind a link with a queue, in simulated time. It answers as pion's own recorder does.
type path struct {
	recorder  *twcc.Recorder
	random    *rand.Rand
	rateBps   float64
	lossRatio float64
	emptyAtUs float64
	held      uint16
	holds     bool
}

// carry takes a packet; one in fifty comes after the next.
func (p *path) carry(nowUs int64, number uint16, bytes int) {
	p.emptyAtUs = max(p.emptyAtUs, float64(nowUs)) + float64(8*bytes)/p.rateBps*1e6
	if p.random.Float64() < p.lossRatio {
		return
	}
	if !p.holds && p.random.Float64() < 0.02 {
		p.held, p.holds = number, true
		return
	}
	p.recorder.Record(7, number, int64(p.emptyAtUs)+30_000)
	if p.holds {
		p.recorder.Record(7, p.held, int64(p.emptyAtUs)+30_100)
		p.holds = false
	}
}

// feedback of what has arrived, over the wire.
func (p *path) feedback(t testing.TB) []rtcp.Packet {
	t.Helper()
	return overTheWire(t, p.recorder.BuildFeedbackPacket()...)
}

// simulated is an Estimator with the shipped model and without a goroutine of its own, by the clock `nowUs`.
func simulated(t testing.TB, nowUs *int64) *Estimator {
	t.Helper()
	model, err := shipped.Model()
	if err != nil {
		t.Fatal(err)
	}
	estimator, err := newWithClock(Options{Config: weir.Config{Model: model}}, func() int64 { return *nowUs })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = estimator.Close() })
	return estimator
}

// The same call twice: through the interceptor with what pion parses, and by hand to the library. Transport-wide numbers
// wrap twice, packets are lost and change places, a tenth of the feedback is lost.
func TestSameRatesAsOfFeedbackHandedToTheLibraryDirectly(t *testing.T) {
	// Without its own goroutine: there is feedback all the time.
	model, err := shipped.Model()
	if err != nil {
		t.Fatal(err)
	}
	sendSide, err := weir.NewSendSide(weir.Config{Model: model}, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer sendSide.Close()
	var nowUs int64
	estimator := &Estimator{nowUs: func() int64 { return nowUs }, sendSide: sendSide}
	estimator.next, estimator.history.next, estimator.history.first = 65_000, 65_000, 65_000
	if estimator.rates, err = sendSide.Rates(); err != nil {
		t.Fatal(err)
	}
	direct, err := weir.NewSendSide(weir.Config{Model: model}, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer direct.Close()
	link := path{recorder: twcc.NewRecorder(1), random: rand.New(rand.NewSource(3)), rateBps: 20e6, lossRatio: 0.02}
	var reader feedback.Reader
	const payload = 1000
	size := header(0).MarshalSize() + payload + srtpTagBytes + ipAndUDPBytes
	expected := uint16(65_000)
	writer := estimator.AddStream(info, writerTo(func(h *rtp.Header) {
		if got := binary.BigEndian.Uint16(h.GetExtension(extensionID)); got != expected {
			t.Fatalf("number %d, expected %d", got, expected)
		}
	}))
	rates := map[int64]bool{}
	var budget float64
	for ; nowUs < 40_000_000; nowUs += 1000 {
		for budget += float64(estimator.GetTargetBitrate()) / 8000; budget > 0; budget -= float64(size) {
			if _, err := writer.Write(header(1), make([]byte, payload), nil); err != nil {
				t.Fatal(err)
			}
			if err := direct.OnSentPacket(nowUs, expected, size, weir.Video, 0); err != nil {
				t.Fatal(err)
			}
			link.carry(nowUs, expected, size)
			expected++
		}
		if nowUs%50_000 == 0 {
			packets := link.feedback(t)
			if link.random.Float64() < 0.1 {
				continue
			}
			if err := estimator.WriteRTCP(packets, nil); err != nil {
				t.Fatal(err)
			}
			for _, packet := range packets {
				if err := direct.OnTransportFeedback(reader.Read(packet.(*rtcp.TransportLayerCC)), nowUs); err != nil {
					t.Fatal(err)
				}
			}
		}
		want, err := direct.Rates()
		if err != nil || estimator.rates.TargetRateBps != want.TargetRateBps {
			t.Fatalf("at %d us %+v, directly %+v (%v)", nowUs, estimator.rates, want, err)
		}
		rates[want.TargetRateBps] = true
	}
	counters, _ := direct.Counters()
	stats := estimator.GetStats()
	if stats["packetsReceived"] != counters.PacketsReceived || counters.PacketsReceived < 65_000 ||
		counters.PacketsLost < 1000 || counters.PacketsInvalid+counters.ReportsNotInHistory > 0 {
		t.Errorf("%+v, directly %+v", stats, counters)
	}
	if final := estimator.GetTargetBitrate(); len(rates) < 200 || final < 10_000_000 || final > 25_000_000 {
		t.Errorf("%d rates, the last %d bps over 20 Mbps", len(rates), final)
	}
}

func TestNumbersLeaveInOrderFromManyGoroutines(t *testing.T) {
	estimator := newEstimator(t)
	var mutex sync.Mutex
	seen := map[uint16]int{}
	var all sync.WaitGroup
	for range 8 {
		writer := estimator.AddStream(info, writerTo(func(h *rtp.Header) {
			mutex.Lock()
			defer mutex.Unlock()
			seen[binary.BigEndian.Uint16(h.GetExtension(extensionID))]++
		}))
		all.Add(1)
		go func() {
			defer all.Done()
			for range 1000 {
				_, _ = writer.Write(header(9), nil, nil)
				_ = estimator.GetTargetBitrate()
			}
		}()
	}
	all.Wait()
	if len(seen) != 8000 || estimator.GetStats()["packetsInvalid"] != uint64(0) {
		t.Errorf("%d numbers, %v", len(seen), estimator.GetStats())
	}
}

func TestStreamsWithoutTheExtensionPassAsTheyAre(t *testing.T) {
	estimator := newEstimator(t)
	plain := writerTo(func(*rtp.Header) {})
	if _, err := estimator.AddStream(&interceptor.StreamInfo{SSRC: 8}, plain).Write(&rtp.Header{}, nil, nil); err != nil {
		t.Error(err)
	}
	if _, err := estimator.AddStream(info, plain).Write(&rtp.Header{}, nil, nil); err != nil {
		t.Error(err)
	}
	if estimator.history.next != 0 {
		t.Errorf("%d packets without a number were counted", estimator.history.next)
	}
}

func TestCallbacksMayCallWhatTheyLike(t *testing.T) {
	estimator := newEstimator(t)
	told := make(chan int, 1)
	estimator.OnTargetBitrateChange(func(bitrate int) {
		if got := estimator.GetTargetBitrate(); got != bitrate {
			t.Errorf("notified of %d, and it is %d", bitrate, got)
		}
		if err := estimator.Close(); err == nil {
			told <- bitrate
		}
	})
	writer := estimator.AddStream(info, writerTo(func(*rtp.Header) {}))
	recorder := twcc.NewRecorder(1)
	for number := range uint16(10) {
		_, _ = writer.Write(header(0), make([]byte, 1000), nil)
		recorder.Record(7, number, int64(number)*10_000)
	}
	// Once there was some, the rate falls where no more feedback comes; a sender whose packets are all answered pauses.
	if err := estimator.WriteRTCP(recorder.BuildFeedbackPacket(), nil); err != nil {
		t.Error(err)
	}
	_, _ = writer.Write(header(0), make([]byte, 1000), nil)
	select {
	case bitrate := <-told:
		if bitrate == 300_000 {
			t.Error("notified of the start rate")
		}
	case <-time.After(20 * time.Second):
		t.Error("no notification within 20 s")
	}
	bounds := weir.Constraints{MinRateBps: 1, StartRateBps: 2, MaxRateBps: 3}
	if err := estimator.SetConstraints(bounds); !errors.Is(err, weir.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

func TestCloseUnderLoad(t *testing.T) {
	for range 20 {
		estimator := newEstimator(t)
		recorder := twcc.NewRecorder(1)
		for number := range uint16(100) {
			recorder.Record(7, number, int64(number)*1000)
		}
		feedback := recorder.BuildFeedbackPacket()
		writer := estimator.AddStream(info, writerTo(func(*rtp.Header) {}))
		var all sync.WaitGroup
		for goroutine := range 6 {
			all.Add(1)
			go func() {
				defer all.Done()
				for i := range 200 {
					_, _ = writer.Write(header(0), make([]byte, 100), nil)
					if i == 100 && goroutine == 0 {
						_ = estimator.Close()
					}
					if err := estimator.WriteRTCP(feedback, nil); err != nil {
						t.Errorf("feedback: %v", err)
					}
					estimator.GetStats()
				}
			}()
		}
		all.Wait()
		if estimator.GetTargetBitrate() <= 0 {
			t.Error("a closed estimator keeps its last rate")
		}
	}
}

func BenchmarkOnPacket(b *testing.B) {
	estimator := newEstimator(b)
	writer := estimator.AddStream(info, writerTo(func(*rtp.Header) {}))
	h, payload := header(0), make([]byte, 1000)
	b.ReportAllocs()
	for b.Loop() {
		_, _ = writer.Write(h, payload, nil)
	}
}
