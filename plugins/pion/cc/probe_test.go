package cc

import (
	"errors"
	"math"
	"math/rand"
	"testing"

	"github.com/pion/interceptor"
	"github.com/pion/interceptor/pkg/twcc"
	"github.com/pion/rtp"

	weir "weir/pion"
	"weir/pion/shipped"
)

const (
	mediaBps  = 150_000
	nextBps   = 550_000
	totalBps  = 1_650_000
	mediaSize = 600
)

// layeredCall is a host in simulated time that sends one layer of media, and padding where a cluster is due.
type layeredCall struct {
	t         *testing.T
	estimator *Estimator
	writer    interceptor.RTPWriter
	nowUs     int64
	link      path
	// sent is the sizes of packets, marked those of clusters.
	sent, marked, padding int64
	clusters              int
	reached               int64
}

func newLayeredCall(t *testing.T, linkBps float64) *layeredCall {
	t.Helper()
	c := &layeredCall{t: t}
	c.link = path{recorder: twcc.NewRecorder(1), random: rand.New(rand.NewSource(5)), rateBps: linkBps}
	c.estimator = simulated(t, &c.nowUs)
	c.writer = c.estimator.AddStream(info, writerTo(func(*rtp.Header) {}))
	return c
}

func (c *layeredCall) send(payload int, padding byte) {
	h := header(0)
	h.Padding, h.PaddingSize = padding > 0, padding
	before, number := c.estimator.probe.bytes, c.estimator.history.next
	if _, err := c.writer.Write(h, make([]byte, payload), nil); err != nil {
		c.t.Fatal(err)
	}
	size := int64(h.MarshalSize() + payload + int(padding) + srtpTagBytes + ipAndUDPBytes)
	if c.sent += size; padding > 0 {
		c.padding += size
	}
	if grown := c.estimator.probe.bytes - before; grown != 0 && grown != size {
		c.t.Fatalf("a packet of %d bytes counts as %d", size, grown)
	} else {
		c.marked += grown
	}
	c.link.carry(c.nowUs, number, int(size))
}

func (c *layeredCall) run(untilUs int64) {
	var budget float64
	for ; c.nowUs < untilUs; c.nowUs += 500 {
		for budget += mediaBps / 8 * 500e-6; budget > 0; budget -= mediaSize {
			c.send(mediaSize-66, 0)
		}
		for due, _ := c.estimator.ProbeBytesDue(); due > 0; due, _ = c.estimator.ProbeBytesDue() {
			c.send(0, 255)
		}
		if c.nowUs%50_000 != 0 || c.link.recorder.PacketsHeld() == 0 {
			continue
		}
		if err := c.estimator.WriteRTCP(c.link.feedback(c.t), nil); err != nil {
			c.t.Fatal(err)
		}
		if cluster, ok := c.estimator.TakeProbeCluster(); ok {
			c.clusters++
			if cluster.TargetDataRateBps > totalBps || cluster.TargetDurationUs < 15_000 || cluster.TargetProbeCount < 2 {
				c.t.Errorf("%+v", cluster)
			}
			if _, again := c.estimator.TakeProbeCluster(); again {
				c.t.Error("one cluster, twice")
			}
		}
		if c.reached == 0 && c.estimator.GetTargetBitrate() >= totalBps {
			c.reached = c.nowUs
		}
	}
}

func TestProbesRaiseTheTargetToTheDesiredRate(t *testing.T) {
	call := newLayeredCall(t, 5e6)
	if _, ok := call.estimator.TakeProbeCluster(); ok {
		t.Error("a cluster without a desired rate")
	}
	if err := call.estimator.SetDesiredRate(totalBps, nextBps); err != nil {
		t.Fatal(err)
	}
	call.run(10_000_000)
	stats := call.estimator.GetStats()
	if call.reached == 0 || call.reached > 6_000_000 || stats["probesCarried"] == uint64(0) {
		t.Errorf("%d bps of %d at %d us; %v", call.estimator.GetTargetBitrate(), totalBps, call.reached, stats)
	}
	if stats["probeClusters"] != uint64(call.clusters) || stats["probeBytes"] != uint64(call.padding) ||
		stats["packetsInvalid"] != uint64(0) {
		t.Errorf("%d clusters, %d bytes of padding; %v", call.clusters, call.padding, stats)
	}
	if call.marked <= call.padding || call.marked > call.sent/4 {
		t.Errorf("of %d bytes %d belong to clusters, %d are padding", call.sent, call.marked, call.padding)
	}
	if state := call.estimator.NetworkState(); state.State != weir.Normal || state.LinkCapacityBps <= 0 {
		t.Errorf("%+v", state)
	}
}

func TestAPathThatCarriesNoMoreLimitsItsProbes(t *testing.T) {
	call := newLayeredCall(t, 300_000)
	if err := call.estimator.SetDesiredRate(totalBps, nextBps); err != nil {
		t.Fatal(err)
	}
	call.run(20_000_000)
	stats := call.estimator.GetStats()
	if call.estimator.GetTargetBitrate() >= nextBps || call.clusters == 0 || stats["probesLimited"] == uint64(0) {
		t.Errorf("%d clusters over 300 kbps; %v", call.clusters, stats)
	}
}

func TestImpossibleDesiredRatesAreErrors(t *testing.T) {
	estimator := newEstimator(t)
	for _, rates := range [][2]int64{{0, 0}, {-1, 0}, {1, -1}, {math.MinInt64, math.MinInt64}, {math.MaxInt64, 0}} {
		var failed *weir.Error
		if err := estimator.SetDesiredRate(rates[0], rates[1]); !errors.As(err, &failed) {
			t.Errorf("%v: %v", rates, err)
		}
	}
}

func TestNothingIsProbedAfterClose(t *testing.T) {
	call := newLayeredCall(t, 5e6)
	if err := call.estimator.SetDesiredRate(totalBps, nextBps); err != nil {
		t.Fatal(err)
	}
	for call.clusters == 0 && call.nowUs < 10_000_000 {
		call.run(call.nowUs + 500)
	}
	if _, ok := call.estimator.ProbeBytesDue(); !ok {
		t.Fatal("no cluster")
	}
	_ = call.estimator.Close()
	_, taken := call.estimator.TakeProbeCluster()
	due, goesOn := call.estimator.ProbeBytesDue()
	if taken || goesOn || due != 0 || call.estimator.NetworkState() != (weir.NetworkState{}) {
		t.Errorf("%v, %v, %d", taken, goesOn, due)
	}
	if err := call.estimator.SetDesiredRate(totalBps, 0); !errors.Is(err, weir.ErrClosed) {
		t.Error(err)
	}
}

func TestProbeClustersNeedAHostThatPaces(t *testing.T) {
	model, err := shipped.Model()
	if err != nil {
		t.Fatal(err)
	}
	estimator, err := NewEstimator(Options{Config: weir.Config{Model: model}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = estimator.Close() }()
	if err := estimator.SetDesiredRate(totalBps, nextBps); !errors.Is(err, errPaced) {
		t.Errorf("a paced sender takes a desired rate: %v", err)
	}
}
