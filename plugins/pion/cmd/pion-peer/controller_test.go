package main

import (
	"testing"
	"time"
)

func TestALostPacketIsSentOnceARoundTrip(t *testing.T) {
	start := time.Unix(1_000_000, 0)
	at := func(ms int) time.Time { return start.Add(time.Duration(ms) * time.Millisecond) }
	r := newResends()
	r.setRoundTrip(80 * time.Millisecond)
	const number = 65_535
	for _, step := range []struct {
		ms     int
		leaves bool
		passes bool
	}{
		{ms: 0, passes: true},
		{ms: 50, passes: false},
		{ms: 100, leaves: true},
		{ms: 150, passes: false},
		{ms: 181, passes: true},
		{ms: 400, passes: false},
		{ms: 500, leaves: true},
		{ms: 579, passes: false},
		{ms: 580, passes: true},
	} {
		if step.leaves {
			r.leaves(number, at(step.ms))
		} else if passes := r.enters(number, at(step.ms)); passes != step.passes {
			t.Errorf("after %d ms it passes: %v", step.ms, passes)
		}
	}
	if !r.enters(number-rememberedPackets, at(600)) || !r.enters(0, at(600)) {
		t.Error("another packet was held back")
	}
}

func TestARoundTripOfSecondsHoldsNothingBackForSeconds(t *testing.T) {
	r, start := newResends(), time.Unix(1_000_000, 0)
	r.setRoundTrip(5 * time.Second)
	r.enters(1, start)
	r.leaves(1, start)
	if r.enters(1, start.Add(longestRoundTrip-time.Millisecond)) || !r.enters(1, start.Add(longestRoundTrip)) {
		t.Errorf("it is not sent again after %v", longestRoundTrip)
	}
}

func TestHeadersAreTakenOffTheTargetRate(t *testing.T) {
	const framesPerSecond = 30
	for _, overheadBytes := range []int{rtpHeaderBytes, rtpHeaderBytes + beneathBytes} {
		c := controller{overheadBytes: overheadBytes}
		for targetBps := 30_000; targetBps <= largestRateBps; targetBps *= 2 {
			pictures := c.pictureRate(targetBps, framesPerSecond)
			// As many packets as pictures of this rate need.
			packets := max(framesPerSecond, pictures/8/payloadBytes)
			sent := pictures + 8*packets*overheadBytes
			if pictures < targetBps/2 || (pictures > targetBps/2 && (sent > targetBps+targetBps/100 || sent < targetBps*9/10)) {
				t.Errorf("%d bit/s of pictures under a target of %d: %d are sent", pictures, targetBps, sent)
			}
		}
	}
}
