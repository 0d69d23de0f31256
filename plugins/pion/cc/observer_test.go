package cc

import (
	"encoding/binary"
	"errors"
	"math/rand"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pion/interceptor"
	pioncc "github.com/pion/interceptor/pkg/cc"
	"github.com/pion/interceptor/pkg/gcc"
	"github.com/pion/interceptor/pkg/twcc"
	"github.com/pion/rtcp"
	"github.com/pion/rtp"
	"golang.org/x/sys/unix"

	weir "weir/pion"
	"weir/pion/shipped"
)

// recorded is a weir.Observed.
type recorded struct {
	inCharge     atomic.Bool
	observations []weir.Observation
	closed       int
}

func (r *recorded) InCharge() bool            { return r.inCharge.Load() }
func (r *recorded) Record(o weir.Observation) { r.observations = append(r.observations, o) }
func (r *recorded) Close() error              { r.closed++; return nil }

// other is an estimator with a pacer, which holds packets until `release`.
type other struct {
	bitrate  int
	onChange func(int)
	next     interceptor.RTPWriter
	held     []*rtp.Header
	feedback int
	closed   int
}

var errOther = errors.New("the other estimator fails")

func (o *other) AddStream(_ *interceptor.StreamInfo, writer interceptor.RTPWriter) interceptor.RTPWriter {
	o.next = writer
	return interceptor.RTPWriterFunc(func(h *rtp.Header, p []byte, _ interceptor.Attributes) (int, error) {
		own := h.Clone()
		o.held = append(o.held, &own)
		return len(p), nil
	})
}

func (o *other) release() {
	for _, h := range o.held {
		_, _ = o.next.Write(h, make([]byte, 1000), nil)
	}
	o.held = nil
}

func (o *other) WriteRTCP(packets []rtcp.Packet, _ interceptor.Attributes) error {
	o.feedback += len(packets)
	return errOther
}
func (o *other) GetTargetBitrate() int             { return o.bitrate }
func (o *other) OnTargetBitrateChange(f func(int)) { o.onChange = f }
func (o *other) GetStats() map[string]any          { return map[string]any{"usage": "normal"} }
func (o *other) Close() error                      { o.closed++; return nil }

// observedCall is an Observer in simulated time over a link, beside another estimator of 600 kbps.
type observedCall struct {
	t          *testing.T
	nowUs      int64
	link       path
	other      other
	connection recorded
	observer   *Observer
	writer     interceptor.RTPWriter
	numbers    []uint16
	rates      []int
	owed       float64
}

func newObservedCall(t *testing.T) *observedCall {
	t.Helper()
	c := &observedCall{t: t, nowUs: 1_000_000, other: other{bitrate: 600_000}}
	c.link = path{recorder: twcc.NewRecorder(1), random: rand.New(rand.NewSource(5)), rateBps: 1e6}
	c.observer = newObserver(simulated(t, &c.nowUs), false, &c.other, &c.connection)
	c.observer.OnTargetBitrateChange(func(bitrate int) { c.rates = append(c.rates, bitrate) })
	c.writer = c.observer.AddStream(info, writerTo(func(h *rtp.Header) {
		number := binary.BigEndian.Uint16(h.GetExtension(extensionID))
		c.numbers = append(c.numbers, number)
		c.link.carry(c.nowUs, number, 1070)
	}))
	return c
}

// feedback comes every 50 ms, if anything has arrived.
func (c *observedCall) feedback() []rtcp.Packet {
	if c.nowUs%50_000 != 0 {
		return nil
	}
	packets := c.link.recorder.BuildFeedbackPacket()
	if len(packets) == 0 {
		return nil
	}
	return overTheWire(c.t, packets...)
}

// run sends at the rate of who is in charge.
func (c *observedCall) run(seconds int64) {
	c.t.Helper()
	for end := c.nowUs + 1_000_000*seconds; c.nowUs < end; c.nowUs += 5_000 {
		for c.owed += float64(c.observer.GetTargetBitrate()) / 1600; c.owed >= 1100; c.owed -= 1100 {
			if _, err := c.writer.Write(header(7), make([]byte, 1000), nil); err != nil {
				c.t.Fatal(err)
			}
		}
		if c.nowUs%20_000 == 0 {
			c.other.release()
		}
		if packets := c.feedback(); len(packets) > 0 {
			err := c.observer.WriteRTCP(packets, nil)
			if c.connection.InCharge() != (err == nil) {
				c.t.Fatalf("error %v with Weir in charge: %v", err, c.connection.InCharge())
			}
		}
		if c.nowUs%100_000 == 0 {
			c.observer.weir.poll()
			c.observer.poll()
		}
	}
}

func TestWhileWeirObservesPacketsAndRatesAreTheOthers(t *testing.T) {
	c := newObservedCall(t)
	c.run(20)
	if len(c.rates) != 0 || c.observer.GetTargetBitrate() != 600_000 {
		t.Errorf("rates %v", c.rates)
	}
	c.other.onChange(500_000)
	if len(c.rates) != 1 || c.rates[0] != 500_000 {
		t.Errorf("rates %v", c.rates)
	}
	for i, number := range c.numbers {
		if int(number) != i {
			t.Fatalf("number %d of packet %d", number, i)
		}
	}
	if c.observer.weir.pacer.Load() != nil {
		t.Error("an observer has a pacer")
	}
	if len(c.connection.observations) < 19 {
		t.Fatalf("%d observations of 20 s", len(c.connection.observations))
	}
	last := c.connection.observations[len(c.connection.observations)-1]
	if last.OtherRateBps != 600_000 || last.Weir.Reason == "" || last.Weir.TargetRateBps < 300_000 ||
		last.Weir.ReceiveRateBps < 500_000 || last.Weir.ReceiveRateBps > 700_000 {
		t.Errorf("%+v", last)
	}
	stats := c.observer.GetStats()
	ofWeir := stats["weir"].(map[string]any)
	if stats["usage"] != "normal" || stats["weirInCharge"] != false || ofWeir["packetsInvalid"] != uint64(0) ||
		ofWeir["packetsReceived"].(uint64) < 1000 {
		t.Errorf("%v", stats)
	}
}

func TestASwitchIsInForceWithTheNextPacketAndPoll(t *testing.T) {
	c := newObservedCall(t)
	c.run(10)
	feedback := c.other.feedback
	// A packet that the other's pacer holds leaves late.
	if _, err := c.writer.Write(header(7), make([]byte, 1000), nil); err != nil {
		t.Fatal(err)
	}
	c.connection.inCharge.Store(true)
	before := len(c.numbers)
	if _, err := c.writer.Write(header(7), make([]byte, 1000), nil); err != nil {
		t.Fatal(err)
	}
	if len(c.numbers) != before+1 || len(c.other.held) == 0 {
		t.Fatal("the packet did not leave through Weir")
	}
	c.observer.poll()
	if ofWeir := c.observer.weir.GetTargetBitrate(); len(c.rates) != 1 || c.rates[0] != ofWeir {
		t.Errorf("rates %v, Weir's rate is %d", c.rates, ofWeir)
	}
	c.run(20)
	if c.other.feedback != feedback {
		t.Error("the other receives feedback on packets that it did not send")
	}
	latest := c.connection.observations[len(c.connection.observations)-10:]
	for _, observation := range latest {
		if rate := observation.Weir.ReceiveRateBps; rate < 700_000 || rate > 1_150_000 {
			t.Errorf("%d bps arrive over a link of 1 Mbps", rate)
		}
	}
	if last := c.connection.observations[len(c.connection.observations)-1]; last.OtherRateBps != 0 {
		t.Errorf("%+v", last)
	}
	c.other.onChange(1)
	if c.rates[len(c.rates)-1] == 1 {
		t.Error("a rate of the other is reported")
	}
	c.connection.inCharge.Store(false)
	c.run(1)
	if c.rates[len(c.rates)-1] != 600_000 || c.other.feedback == feedback {
		t.Errorf("rates %v", c.rates[len(c.rates)-1])
	}
	numbers := map[uint16]bool{}
	for _, number := range c.numbers {
		numbers[number] = true
	}
	if len(numbers) != len(c.numbers) || len(numbers) < len(c.numbers) || !numbers[uint16(len(numbers)-1)] {
		t.Errorf("%d packets have %d numbers", len(c.numbers), len(numbers))
	}
	if invalid := c.observer.weir.GetStats()["packetsInvalid"].(uint64); invalid > 2 {
		t.Errorf("%d packets left out of order", invalid)
	}
}

func TestCloseEndsBothAndTheConnection(t *testing.T) {
	model, err := shipped.Model()
	if err != nil {
		t.Fatal(err)
	}
	var beside other
	var connection recorded
	connection.inCharge.Store(true)
	observer, err := NewObserver(Options{Config: weir.Config{Model: model}}, &beside, &connection)
	if err != nil {
		t.Fatal(err)
	}
	left := make(chan struct{}, 1)
	writer := observer.AddStream(info, writerTo(func(*rtp.Header) { left <- struct{}{} }))
	if _, err = writer.Write(header(7), make([]byte, 1000), nil); err != nil {
		t.Fatal(err)
	}
	<-left
	if observer.weir.pacer.Load() == nil {
		t.Error("Weir is in charge without a pacer")
	}
	if observer.Close() != nil || observer.Close() != nil || beside.closed != 1 || connection.closed != 1 {
		t.Errorf("closed %d and %d times", beside.closed, connection.closed)
	}
}

func cpuNs() int64 {
	var now unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &now)
	return now.Nano()
}

// BenchmarkObserving compares pion's gcc alone with gcc and an Observer: the time of a packet, with its feedback. CPU time
// is not disturbed by other programs.
func BenchmarkObserving(b *testing.B) {
	newGCC := func() *gcc.SendSideBWE {
		estimator, err := gcc.NewSendSideBWE(gcc.SendSideBWEPacer(gcc.NewNoOpPacer()))
		if err != nil {
			b.Fatal(err)
		}
		return estimator
	}
	measure := func(b *testing.B, estimator pioncc.BandwidthEstimator) {
		defer estimator.Close()
		recorder := twcc.NewRecorder(1)
		start := time.Now()
		writer := estimator.AddStream(info, writerTo(func(h *rtp.Header) {
			number := binary.BigEndian.Uint16(h.GetExtension(extensionID))
			recorder.Record(7, number, time.Since(start).Microseconds()+30_000)
		}))
		payload := make([]byte, 1000)
		number, begin := uint16(0), cpuNs()
		defer func() { b.ReportMetric(float64(cpuNs()-begin)/float64(b.N), "cpu-ns/op") }()
		for b.Loop() {
			if _, err := writer.Write(header(number), payload, nil); err != nil {
				b.Fatal(err)
			}
			if number++; number%15 == 0 {
				if err := estimator.WriteRTCP(recorder.BuildFeedbackPacket(), nil); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
	b.Run("gcc", func(b *testing.B) { measure(b, newGCC()) })
	b.Run("observed", func(b *testing.B) {
		model, err := shipped.Model()
		if err != nil {
			b.Fatal(err)
		}
		observer, err := NewObserver(Options{Config: weir.Config{Model: model}}, newGCC(), &recorded{})
		if err != nil {
			b.Fatal(err)
		}
		measure(b, observer)
	})
}
