package main

import "testing"

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
