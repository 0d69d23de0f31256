package livekit

import weir "weir/pion"

// clock is the estimator's time: the host's, without the pauses in which nothing is in flight, as when all tracks are
// muted. Else the estimator would take a pause for an outage.
type clock struct {
	// Sum of the pauses until now, and before the latest one.
	skewUs, skewBeforeUs int64
	// sent is the number of packets since the latest pause.
	sent                   int
	started, inFlight      bool
	latestUs, latestSentUs int64
}

// paused is true while no feedback is due.
func (c *clock) paused(nowUs int64) bool {
	return !c.started || nowUs-c.latestUs > pauseUs && !c.inFlight || nowUs-c.latestSentUs > unansweredUs
}

// at is the estimator's time.
func (c *clock) at(nowUs int64) int64 { return nowUs - c.skewUs }

// onSent returns the estimator's time of a departure.
func (c *clock) onSent(atUs int64) int64 {
	atUs = max(atUs, c.latestSentUs)
	if c.started && c.paused(atUs) {
		// The time until an outage was given up counts.
		end := c.latestUs + pauseUs
		if c.inFlight {
			end = c.latestSentUs + unansweredUs
		}
		if atUs > end {
			c.skewBeforeUs = c.skewUs
			c.skewUs += atUs - end
			c.sent = 0
		}
	}
	c.sent++
	c.started, c.inFlight, c.latestSentUs, c.latestUs = true, true, atUs, max(c.latestUs, atUs)
	return c.at(atUs)
}

// onFeedback brings receive times into the estimator's time. `next` is the number of the next packet.
func (c *clock) onFeedback(packets []weir.PacketFeedback, nowUs int64, next uint16) {
	if len(packets) == 0 {
		return
	}
	c.latestUs = max(c.latestUs, nowUs)
	for i := range packets {
		if int(next-packets[i].SequenceNumber) <= c.sent {
			packets[i].ReceiveTimeUs -= c.skewUs
		} else {
			packets[i].ReceiveTimeUs -= c.skewBeforeUs
		}
	}
	// The last packets before a pause may have been lost, which no feedback reports.
	if next-packets[len(packets)-1].SequenceNumber <= fewest {
		c.inFlight = false
	}
}
