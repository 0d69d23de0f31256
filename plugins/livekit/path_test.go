package livekit

import (
	"math/rand"
	"testing"

	"github.com/livekit/livekit-server/pkg/sfu/bwe"
	"github.com/livekit/livekit-server/pkg/sfu/ccutils"
	"github.com/pion/interceptor/pkg/twcc"
	"github.com/pion/rtcp"

	weir "weir/pion"
	"weir/pion/shipped"
)

const packetBytes = 1000

// call is an Estimator that sends over a simulated path, a bottleneck with a queue of 300 ms and delayUs each way, to a
// receiver that answers every 100 ms. It is the listener, too.
type call struct {
	t         testing.TB
	estimator *Estimator
	// bwe is what LiveKit calls, the estimator or an Observer of it; poll calls their timers.
	bwe       bwe.BWE
	poll      func()
	recorder  *twcc.Recorder
	random    *rand.Rand
	nowUs     int64
	rateBps   float64
	delayUs   int64
	emptyAtUs float64
	lossRatio float64
	reports   []report
	arrivals  []arrival
	nextUs    int64
	owed      float64
	news      []change

	// The allocator: how much of the news it has heard, and what it sends.
	heard       int
	clusters    ccutils.ProbeClusterId
	layer       int
	capacityBps int64
	topUs       int64
}

// layers of a publisher, bit/s.
var layers = []float64{150e3, 500e3, 1500e3}

type report struct {
	atUs   int64
	packet rtcp.Packet
}

type arrival struct {
	atUs   int64
	number uint16
}

func newCall(t testing.TB, rateBps float64) *call {
	t.Helper()
	model, err := shipped.Model()
	if err != nil {
		t.Fatal(err)
	}
	c := &call{
		t: t, rateBps: rateBps, delayUs: 25_000, nowUs: 1e15,
		recorder: twcc.NewRecorder(1), random: rand.New(rand.NewSource(1)),
	}
	config := weir.Config{Model: model, Constraints: weir.Constraints{StartRateBps: startRateBps}}
	c.estimator, err = newEstimator(config, nil, func() int64 { return c.nowUs })
	if err != nil {
		t.Fatal(err)
	}
	c.estimator.SetBWEListener(c)
	c.bwe, c.poll = c.estimator, func() { c.estimator.poll() }
	t.Cleanup(func() { _ = c.estimator.Close() })
	return c
}

// OnCongestionStateChange notes the news. It calls back, which fails under a lock.
func (c *call) OnCongestionStateChange(from, to bwe.CongestionState, capacityBps int64) {
	if state := c.estimator.CongestionState(); state != to {
		c.t.Errorf("news of %v in state %v", to, state)
	}
	c.news = append(c.news, change{from, to, capacityBps})
}

// targetBps is Weir's estimate.
func (c *call) targetBps() int64 {
	rates, err := c.estimator.sendSide.Rates()
	if err != nil {
		c.t.Fatal(err)
	}
	return rates.TargetRateBps
}

func (c *call) send(bytes int, cluster ccutils.ProbeClusterId, isProbe bool) {
	number := c.bwe.RecordPacketSendAndGetSequenceNumber(c.nowUs, bytes, false, cluster, isProbe)
	begin := max(c.emptyAtUs, float64(c.nowUs))
	if begin-float64(c.nowUs) > 300_000 || c.random.Float64() < c.lossRatio {
		return
	}
	c.emptyAtUs = begin + float64(8*bytes)/c.rateBps*1e6
	c.arrivals = append(c.arrivals, arrival{int64(c.emptyAtUs) + c.delayUs, number})
}

// run sends for a while at a rate.
func (c *call) run(seconds, bps float64) {
	for end := c.nowUs + int64(1e6*seconds); c.nowUs < end; {
		c.step(bps, 0, 0)
	}
}

// step sends for 5 ms. With a cluster all packets are of it, and what `mediaBps` lacks is padding.
func (c *call) step(bps float64, cluster ccutils.ProbeClusterId, mediaBps float64) {
	const stepUs = 5_000
	c.nowUs += stepUs
	for c.owed = min(c.owed+bps*stepUs/8e6, 20_000); c.owed >= packetBytes; c.owed -= packetBytes {
		c.send(packetBytes, cluster, cluster != 0 && c.random.Float64() > mediaBps/bps)
	}
	for len(c.arrivals) > 0 && c.arrivals[0].atUs <= c.nowUs {
		c.recorder.Record(7, c.arrivals[0].number, c.arrivals[0].atUs)
		c.arrivals = c.arrivals[1:]
	}
	if c.nowUs >= c.nextUs {
		c.nextUs = c.nowUs + 100_000
		for _, packet := range c.recorder.BuildFeedbackPacket() {
			c.reports = append(c.reports, report{c.nowUs + c.delayUs, packet})
		}
	}
	for len(c.reports) > 0 && c.reports[0].atUs <= c.nowUs {
		c.bwe.HandleTWCCFeedback(c.reports[0].packet.(*rtcp.TransportLayerCC))
		c.reports = c.reports[1:]
	}
	c.poll()
}

// cluster sends one as LiveKit does, and returns its verdict. News until then is not heard, as there.
func (c *call) cluster(mediaBps, goalBps float64) (ccutils.ProbeSignal, int64) {
	c.clusters++
	duration := c.estimator.ProbeDuration()
	info := ccutils.ProbeClusterInfo{Id: c.clusters, Goal: ccutils.ProbeClusterGoal{
		ExpectedUsageBps: int(mediaBps), DesiredBps: int(goalBps), Duration: duration,
	}}
	c.estimator.ProbeClusterStarting(info)
	for end := c.nowUs + duration.Microseconds(); c.nowUs < end; {
		c.step(goalBps, info.Id, mediaBps)
		if c.estimator.CongestionState() != bwe.CongestionStateNone || c.estimator.ProbeClusterIsGoalReached() {
			break
		}
	}
	c.estimator.ProbeClusterDone(info)
	for end := c.nowUs + 10e6; c.nowUs < end; {
		c.heard = len(c.news)
		if signal, capacityBps, ok := c.estimator.ProbeClusterFinalize(); ok {
			return signal, capacityBps
		}
		c.run(0.1, mediaBps)
	}
	c.t.Fatal("no verdict")
	return 0, 0
}

// allocate chooses layers for a while as LiveKit's stream allocator does.
func (c *call) allocate(seconds float64) {
	for end := c.nowUs + int64(1e6*seconds); c.nowUs < end; {
		c.run(0.1, layers[c.layer])
		for ; c.heard < len(c.news); c.heard++ {
			if news := c.news[c.heard]; news.to == bwe.CongestionStateCongested {
				for c.capacityBps = news.capacityBps; c.layer > 0 && layers[c.layer] > float64(c.capacityBps); {
					c.layer--
				}
			}
		}
		top := len(layers) - 1
		if c.layer == top || !c.estimator.CanProbe() {
			continue
		}
		increase := max(1.2*(layers[c.layer+1]-layers[c.layer]), 200e3)
		signal, capacityBps := c.cluster(layers[c.layer], layers[c.layer]+increase)
		if signal != ccutils.ProbeSignalCongesting {
			for c.capacityBps = max(c.capacityBps, capacityBps); c.layer < top && layers[c.layer+1] <= float64(c.capacityBps); {
				c.layer++
			}
			if c.layer == top {
				c.estimator.Reset()
				c.topUs = c.nowUs
			}
		}
	}
}
