package main

import (
	"github.com/pion/interceptor"
	pioncc "github.com/pion/interceptor/pkg/cc"
	"github.com/pion/interceptor/pkg/gcc"
	"github.com/pion/interceptor/pkg/pacing"

	"weir/pion/cc"
)

const (
	weirAtSender   = "weir-send"
	largestRateBps = 1_000_000_000
	// pacingFactor is that of Weir behind libwebrtc's interface (webrtc_patch/adapter): packets leave at so many times the
	// target rate at most.
	pacingFactor = 2.5
	// Overhead of a packet: RTP's header with its extension; SRTP's tag, UDP and IP.
	rtpHeaderBytes = 20
	beneathBytes   = 38
)

// controller is Weir or pion's gcc, with one and the same pacer before it: pion's own interceptor.
type controller struct {
	name      string
	factory   *pioncc.InterceptorFactory
	pacers    *pacing.InterceptorFactory
	estimator pioncc.BandwidthEstimator
	resends   *resends
	// id of the connection among pacers.
	id string
	// overheadBytes of a packet that the target rate counts beside its payload.
	overheadBytes int
}

// rates are what a controller wants, bit/s.
type rates struct {
	target, pacing int
	reason         any
}

func newController(o options) (*controller, error) {
	c := &controller{name: o.controller, resends: newResends(), overheadBytes: rtpHeaderBytes}
	newEstimator := func() (pioncc.BandwidthEstimator, error) {
		return gcc.NewSendSideBWE(
			gcc.SendSideBWEMinBitrate(int(o.minBps)), gcc.SendSideBWEInitialBitrate(int(o.startBps)),
			gcc.SendSideBWEMaxBitrate(int(o.maxBps)), gcc.SendSideBWEPacer(gcc.NewNoOpPacer()))
	}
	if o.controller == weirAtSender {
		config, err := weirConfig(o)
		if err != nil {
			return nil, err
		}
		c.overheadBytes += beneathBytes
		newEstimator = func() (pioncc.BandwidthEstimator, error) {
			defer config.Model.Close()
			return cc.NewEstimator(cc.Options{Config: config, PacingFactor: pacingFactor})
		}
	}
	var err error
	if c.factory, err = pioncc.NewInterceptor(newEstimator); err != nil {
		return nil, err
	}
	c.pacers = pacing.NewInterceptor(pacing.InitialRate(int(pacingFactor * float64(o.startBps))))
	c.factory.OnNewPeerConnection(func(id string, estimator pioncc.BandwidthEstimator) {
		c.id, c.estimator = id, estimator
	})
	return c, nil
}

// register puts the controller next to the network and the pacer before it: it hears when a packet leaves, not when it
// is made.
func (c *controller) register(registry *interceptor.Registry) {
	registry.Add(c.factory)
	registry.Add(c.resends.behindPacer())
	registry.Add(c.pacers)
	registry.Add(c.resends.beforePacer())
}

// rates in force; the pacer obeys from now on.
func (c *controller) rates() rates {
	statistics := c.estimator.GetStats()
	found := rates{target: c.estimator.GetTargetBitrate(), reason: statistics["reason"]}
	if c.name == weirAtSender {
		found.pacing, _ = statistics["pacingBitrate"].(int)
	} else {
		found.pacing, found.reason = int(pacingFactor*float64(found.target)), statistics["state"]
	}
	c.pacers.SetRate(c.id, found.pacing)
	return found
}

// pictureRate is what a target rate leaves for pictures, headers taken off; at least half of it.
func (c *controller) pictureRate(targetBps, framesPerSecond int) int {
	packets := max(framesPerSecond, targetBps/8/(payloadBytes+c.overheadBytes))
	return max(targetBps-8*packets*c.overheadBytes, targetBps/2)
}
