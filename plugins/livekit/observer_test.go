package livekit

import (
	"sync/atomic"
	"testing"

	"github.com/livekit/livekit-server/pkg/sfu/bwe"
	"github.com/livekit/livekit-server/pkg/sfu/ccutils"
	"github.com/pion/rtcp"

	weir "weir/pion"
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

// other is an estimator that reports what a test wants.
type other struct {
	bwe.NullBWE
	listener  bwe.BWEListener
	state     bwe.CongestionState
	next      uint16
	messages  int
	finalized bool
}

func (o *other) SetBWEListener(listener bwe.BWEListener)       { o.listener = listener }
func (o *other) CongestionState() bwe.CongestionState          { return o.state }
func (o *other) HandleTWCCFeedback(*rtcp.TransportLayerCC)     { o.messages++ }
func (o *other) CanProbe() bool                                { return true }
func (o *other) ProbeClusterStarting(ccutils.ProbeClusterInfo) { o.finalized = true }
func (o *other) ProbeClusterFinalize() (ccutils.ProbeSignal, int64, bool) {
	finalized := o.finalized
	o.finalized = false
	return ccutils.ProbeSignalCongesting, 123_000, finalized
}
func (o *other) RecordPacketSendAndGetSequenceNumber(int64, int, bool, ccutils.ProbeClusterId, bool) uint16 {
	o.next++
	return o.next + 999
}

func (o *other) tell(to bwe.CongestionState, capacityBps int64) {
	from := o.state
	o.state = to
	o.listener.OnCongestionStateChange(from, to, capacityBps)
}

// observedCall is a call whose Estimator observes.
type observedCall struct {
	*call
	other      other
	connection recorded
	observer   *Observer
	news       []change
}

// OnCongestionStateChange notes what LiveKit receives.
func (c *observedCall) OnCongestionStateChange(from, to bwe.CongestionState, capacityBps int64) {
	c.news = append(c.news, change{from, to, capacityBps})
}

func newObservedCall(t *testing.T, rateBps float64) *observedCall {
	t.Helper()
	c := &observedCall{call: newCall(t, rateBps)}
	c.observer = newObserver(c.estimator, &c.other, &c.connection)
	c.observer.SetBWEListener(c)
	c.bwe = c.observer
	c.poll = func() {
		c.estimator.poll()
		c.observer.poll()
	}
	return c
}

func TestWhileWeirObservesLiveKitReceivesTheOthersNews(t *testing.T) {
	c := newObservedCall(t, 600e3)
	c.run(10, 1.5e6)
	if len(c.news) != 0 || c.observer.CongestionState() != bwe.CongestionStateNone || !c.observer.CanProbe() {
		t.Errorf("%v", c.news)
	}
	if state := c.estimator.CongestionState(); state != bwe.CongestionStateCongested {
		t.Errorf("Weir sees %v", state)
	}
	if counters, err := c.estimator.sendSide.Counters(); err != nil || counters.PacketsInvalid != 0 {
		t.Errorf("%+v, %v", counters, err)
	}
	last := c.connection.observations[len(c.connection.observations)-1]
	if last.OtherRateBps != 0 || last.Weir.ReceiveRateBps > 700_000 || last.Weir.TargetRateBps > 700_000 {
		t.Errorf("%+v", last)
	}
	c.other.tell(bwe.CongestionStateCongested, 250_000)
	c.run(1.1, 500e3)
	if want := (change{bwe.CongestionStateNone, bwe.CongestionStateCongested, 250_000}); len(c.news) != 1 || c.news[0] != want {
		t.Errorf("%v", c.news)
	}
	if last = c.connection.observations[len(c.connection.observations)-1]; last.OtherRateBps != 250_000 {
		t.Errorf("%+v", last)
	}
	if c.other.messages == 0 {
		t.Error("the other receives no feedback")
	}
}

func TestASwitchTellsTheStateOfTheEstimatorInCharge(t *testing.T) {
	c := newObservedCall(t, 600e3)
	c.run(10, 1.5e6)
	c.connection.inCharge.Store(true)
	c.observer.poll()
	if len(c.news) != 1 || c.news[0].to != bwe.CongestionStateCongested || c.news[0].capacityBps > 700_000 {
		t.Fatalf("%v", c.news)
	}
	c.other.tell(bwe.CongestionStateCongested, 1)
	if len(c.news) != 1 {
		t.Error("the other's news reaches LiveKit")
	}
	c.other.tell(bwe.CongestionStateNone, 2_000_000)
	c.connection.inCharge.Store(false)
	c.observer.poll()
	want := change{bwe.CongestionStateCongested, bwe.CongestionStateNone, 2_000_000}
	if last := c.news[len(c.news)-1]; last != want {
		t.Errorf("%v", c.news)
	}
}

// LiveKit ignores congestion until a cluster has its verdict, and waits for it.
func TestAClusterHasAVerdictAlsoIfWhoIsInChargeChangesMeanwhile(t *testing.T) {
	c := newObservedCall(t, 3e6)
	c.run(5, 500e3)
	c.observer.ProbeClusterStarting(ccutils.ProbeClusterInfo{Id: 1})
	c.connection.inCharge.Store(true)
	if _, capacityBps, done := c.observer.ProbeClusterFinalize(); capacityBps != 123_000 || !done {
		t.Errorf("%d, %v", capacityBps, done)
	}
	info := ccutils.ProbeClusterInfo{Id: 2}
	c.observer.ProbeClusterStarting(info)
	c.connection.inCharge.Store(false)
	c.observer.ProbeClusterDone(info)
	c.run(5, 500e3)
	if signal, capacityBps, done := c.observer.ProbeClusterFinalize(); !done || capacityBps == 123_000 {
		t.Errorf("%v, %d, %v", signal, capacityBps, done)
	}
	if !c.estimator.CanProbe() && c.estimator.probe.active {
		t.Error("the cluster lasts")
	}
}

func TestCloseEndsTheEstimatorAndTheConnection(t *testing.T) {
	c := newObservedCall(t, 1e6)
	if c.observer.Close() != nil || c.observer.Close() != nil || c.connection.closed != 1 {
		t.Errorf("closed %d times", c.connection.closed)
	}
	if number := c.observer.RecordPacketSendAndGetSequenceNumber(1, 1, false, 0, false); number != 1000 {
		t.Errorf("number %d after Close", number)
	}
}
