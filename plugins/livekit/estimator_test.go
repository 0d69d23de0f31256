package livekit

import (
	"math/rand"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/livekit/livekit-server/pkg/sfu/bwe"
	"github.com/livekit/livekit-server/pkg/sfu/ccutils"
	"github.com/pion/rtcp"

	weir "weir/pion"
	"weir/pion/shipped"
)

func TestNumbersAreInOrderFromManyGoroutines(t *testing.T) {
	const writers, packets = 8, 10_000
	estimator := newCall(t, 1e6).estimator
	counts := make([]int, 1<<16)
	var mutex sync.Mutex
	var group sync.WaitGroup
	for range writers {
		group.Add(1)
		go func() {
			defer group.Done()
			for range packets {
				number := estimator.RecordPacketSendAndGetSequenceNumber(1e15, 1000, false, 0, false)
				mutex.Lock()
				counts[number]++
				mutex.Unlock()
			}
		}()
	}
	group.Wait()
	for number, count := range counts {
		if want := (writers*packets + len(counts) - 1 - number) / len(counts); count != want {
			t.Fatalf("number %d was given %d times instead of %d", number, count, want)
		}
	}
	if counters, err := estimator.sendSide.Counters(); err != nil || counters.PacketsInvalid != 0 {
		t.Errorf("%+v, %v", counters, err)
	}
}

func TestNoNewsOnAPathThatCarriesTheMedia(t *testing.T) {
	c := newCall(t, 3e6)
	c.run(30, 1.5e6)
	if len(c.news) != 0 || c.targetBps() < 1_500_000 {
		t.Errorf("%v, target %d", c.news, c.targetBps())
	}
}

func TestCongestionIsToldWithACapacityThatFalls(t *testing.T) {
	c := newCall(t, 3e6)
	c.run(10, 1.5e6)
	c.rateBps = 600e3
	c.run(3, 1.5e6)
	if len(c.news) < 2 || c.news[0].to != bwe.CongestionStateEarlyWarning {
		t.Fatalf("%v", c.news)
	}
	last := bwe.CongestionStateNone
	var congested []int64
	for _, news := range c.news {
		if news.from != last {
			t.Errorf("from %v after %v", news.from, last)
		}
		if last = news.to; last == bwe.CongestionStateCongested {
			congested = append(congested, news.capacityBps)
		}
	}
	if len(congested) == 0 || congested[0] > 900_000 {
		t.Errorf("%v", c.news)
	}
	for i := 1; i < len(congested); i++ {
		if float64(congested[i]) >= newsRatio*float64(congested[i-1]) {
			t.Errorf("news of %d after %d", congested[i], congested[i-1])
		}
	}
	c.run(4, 150e3)
	if c.estimator.CongestionState() != bwe.CongestionStateNone {
		t.Errorf("still congested: %v", c.news)
	}
}

func TestRetransmissionsTakeTheirShare(t *testing.T) {
	var media mediaShare
	if bps := media.of(1_000_000); bps != 1_000_000 {
		t.Errorf("%d before the first packet", bps)
	}
	for atUs := int64(1e15); atUs < 1e15+2e6; atUs += 10_000 {
		media.onSent(atUs, 1000, atUs%40_000 == 0)
	}
	media.onSent(0, 1000, false)
	if bps := media.of(1_000_000); bps < 700_000 || bps > 800_000 {
		t.Errorf("%d of 1,000,000 with a quarter of retransmissions", bps)
	}
}

func TestClusters(t *testing.T) {
	for _, path := range []struct {
		rateBps float64
		signal  ccutils.ProbeSignal
	}{{3e6, ccutils.ProbeSignalNotCongesting}, {600e3, ccutils.ProbeSignalCongesting}} {
		c := newCall(t, path.rateBps)
		c.run(5, 300e3)
		signal, capacityBps := c.cluster(300e3, 1.2e6)
		if signal != path.signal {
			t.Errorf("%v on a path of %.0f bit/s", signal, path.rateBps)
		}
		carried := signal == ccutils.ProbeSignalNotCongesting
		if carried && (capacityBps < 1_000_000 || capacityBps > 1_300_000) {
			t.Errorf("capacity %d", capacityBps)
		}
		if _, _, again := c.estimator.ProbeClusterFinalize(); again {
			t.Error("a second verdict")
		}
		if c.estimator.CanProbe() {
			t.Error("another cluster at once")
		}
	}
}

func TestBackOff(t *testing.T) {
	c := newCall(t, 400e3)
	c.run(5, 150e3)
	var intervals []int64
	for range 4 {
		c.cluster(150e3, 1.2e6)
		begun := c.nowUs
		for !c.estimator.CanProbe() && c.nowUs < begun+60e6 {
			c.run(0.1, 150e3)
		}
		intervals = append(intervals, c.nowUs-begun)
	}
	if intervals[0] < congestedUs || intervals[3] < 3*congestedUs {
		t.Errorf("intervals %v us", intervals)
	}
	c.estimator.Reset()
	if !c.estimator.CanProbe() {
		t.Error("no cluster after a reset")
	}
}

// The cluster shows more than the path then carries, as on cellular paths.
func TestALayerThatCongestsThePathIsTriedAgainLater(t *testing.T) {
	c := newCall(t, 3e6)
	c.run(5, 500e3)
	var waits []int64
	for range 6 {
		c.rateBps = 3e6
		if signal, _ := c.cluster(500e3, 1.5e6); signal != ccutils.ProbeSignalNotCongesting {
			t.Fatal(signal)
		}
		for c.rateBps = 700e3; c.estimator.CongestionState() != bwe.CongestionStateCongested; {
			c.run(0.1, 1.5e6)
		}
		congested := c.nowUs
		for !c.estimator.CanProbe() && c.nowUs < congested+60e6 {
			c.run(0.1, 200e3)
		}
		waits = append(waits, c.nowUs-congested)
	}
	if waits[0] < congestedUs || waits[5] < 6*congestedUs {
		t.Errorf("waits %v us", waits)
	}
	c.rateBps = 3e6
	for end := c.nowUs + 2*calmUs; c.nowUs < end; {
		if c.run(0.1, 500e3); c.estimator.CanProbe() {
			c.cluster(500e3, 1e6)
		}
	}
	if c.estimator.probe.intervalUs != congestedUs {
		t.Errorf("interval %d us after a calm time", c.estimator.probe.intervalUs)
	}
}

func TestAVerdictWaitsForFeedbackOnEachPacket(t *testing.T) {
	c := newCall(t, 3e6)
	c.delayUs = 500_000
	c.run(5, 300e3)
	if signal, capacityBps := c.cluster(300e3, 1.2e6); signal != ccutils.ProbeSignalNotCongesting {
		t.Errorf("%v, %d over a long path", signal, capacityBps)
	}
}

func TestLayersFollowThePath(t *testing.T) {
	c := newCall(t, 300e3)
	c.layer = len(layers) - 1
	c.allocate(20)
	if c.layer != 0 {
		t.Errorf("layer %d over 300 kbps", c.layer)
	}
	opened := c.nowUs
	c.rateBps = 3e6
	c.allocate(15)
	t.Logf("top layer %.1f s after the path opened", float64(c.topUs-opened)/1e6)
	if c.layer != len(layers)-1 || c.topUs-opened > 10e6 {
		t.Errorf("layer %d over 3 Mbps", c.layer)
	}
	c.rateBps = 600e3
	c.allocate(20)
	if c.layer != 1 {
		t.Errorf("layer %d over 600 kbps", c.layer)
	}
}

// Muted tracks send nothing: no outage, and no lower target.
func TestAPauseIsNoCongestion(t *testing.T) {
	c := newCall(t, 3e6)
	c.run(10, 1e6)
	// The last time with as many packets as there are numbers.
	for _, seconds := range []float64{5, 5, 700} {
		before := c.targetBps()
		c.run(20, 0)
		if c.targetBps() != before {
			t.Errorf("target %d after %d", c.targetBps(), before)
		}
		c.run(seconds, 1e6)
	}
	if len(c.news) != 0 || c.targetBps() < 1_500_000 {
		t.Errorf("%v, target %d", c.news, c.targetBps())
	}
}

func TestAnOutageIsCongestionUntilReset(t *testing.T) {
	c := newCall(t, 3e6)
	c.run(10, 1e6)
	c.lossRatio = 1
	c.run(1.5, 1e6)
	c.run(6, 0)
	if c.estimator.CongestionState() != bwe.CongestionStateCongested || c.targetBps() > 800_000 {
		t.Fatalf("%v, target %d", c.estimator.CongestionState(), c.targetBps())
	}
	c.estimator.Reset()
	c.run(1, 0)
	if !c.estimator.CanProbe() {
		t.Error("LiveKit, which has paused the tracks, may not probe")
	}
	c.lossRatio = 0
	if signal, capacityBps := c.cluster(0, 500e3); signal != ccutils.ProbeSignalNotCongesting {
		t.Errorf("%v, %d", signal, capacityBps)
	}
}

func TestHostileFeedback(t *testing.T) {
	c := newCall(t, 1e6)
	random := rand.New(rand.NewSource(2))
	for range 2000 {
		c.run(0.01, 500e3)
		report := &rtcp.TransportLayerCC{
			BaseSequenceNumber: uint16(random.Uint32()), PacketStatusCount: uint16(random.Uint32()),
			ReferenceTime: random.Uint32(),
		}
		for range random.Intn(4) {
			report.PacketChunks = append(report.PacketChunks, &rtcp.RunLengthChunk{
				PacketStatusSymbol: uint16(random.Intn(5)), RunLength: uint16(random.Intn(1 << 13)),
			})
			report.RecvDeltas = append(report.RecvDeltas, &rtcp.RecvDelta{Delta: random.Int63() - random.Int63()})
		}
		c.estimator.HandleTWCCFeedback(report)
		if c.estimator.CanProbe() && random.Intn(20) == 0 {
			c.cluster(500e3, 800e3)
		}
		c.estimator.UpdateRTT(random.NormFloat64())
	}
	c.estimator.HandleTWCCFeedback(nil)
	c.estimator.HandleREMB(-1, -1, 0, 0)
	if target := c.targetBps(); target <= 0 || target > 100_000_000 {
		t.Errorf("target %d", target)
	}
}

// silent is a listener that does nothing.
type silent struct{ estimator *Estimator }

func (s silent) OnCongestionStateChange(_, _ bwe.CongestionState, _ int64) { s.estimator.Reset() }

func TestCloseUnderLoadEndsTheGoroutine(t *testing.T) {
	before := runtime.NumGoroutine()
	model, err := shipped.Model()
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		estimator, err := New(weir.Config{Model: model}, nil)
		if err != nil {
			t.Fatal(err)
		}
		estimator.SetBWEListener(silent{estimator})
		stop := make(chan struct{})
		var group sync.WaitGroup
		for _, work := range []func(){
			func() { estimator.RecordPacketSendAndGetSequenceNumber(estimator.nowUs(), 1000, true, 1, false) },
			func() {
				estimator.HandleTWCCFeedback(&rtcp.TransportLayerCC{PacketStatusCount: 5, PacketChunks: []rtcp.PacketStatusChunk{
					&rtcp.RunLengthChunk{PacketStatusSymbol: rtcp.TypeTCCPacketNotReceived, RunLength: 5}}})
			},
			func() {
				estimator.ProbeClusterStarting(ccutils.ProbeClusterInfo{Id: 1})
				estimator.ProbeClusterFinalize()
			},
			func() { estimator.UpdateRTT(0.1); estimator.CanProbe(); estimator.ProbeClusterIsGoalReached() },
		} {
			group.Add(1)
			go func() {
				defer group.Done()
				for {
					select {
					case <-stop:
						return
					default:
						work()
					}
				}
			}()
		}
		time.Sleep(20 * time.Millisecond)
		_ = estimator.Close()
		_ = estimator.Close()
		close(stop)
		group.Wait()
		if _, _, ok := estimator.ProbeClusterFinalize(); ok || estimator.CanProbe() {
			t.Error("a closed estimator probes")
		}
	}
	for end := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before; {
		if time.Now().After(end) {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
		time.Sleep(5 * time.Millisecond)
	}
}
