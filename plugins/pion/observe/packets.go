package observe

import (
	"errors"
	"strconv"
	"time"

	weir "weir/pion"
)

// packetHistory is the number of latest packets whose feedback is logged: the same as historyLength of package cc.
const packetHistory = 8192

// numbers unwraps transport-wide sequence numbers, and shifts the receiver's clock to that of the log.
type numbers struct {
	first   int64
	latest  int64
	shiftUs int64
	shifted bool
}

func (n *numbers) unwrap(number uint16) int64 {
	return n.latest + int64(int16(number-uint16(n.latest)))
}

// wasSent is false for a number that no packet of the history has.
func (n *numbers) wasSent(id int64) bool {
	return n.latest > 0 && id <= n.latest && id >= n.first && id > n.latest-packetHistory
}

// Sent logs a packet, if the options say so.
func (c *Connection) Sent(number uint16, sizeBytes int, kind weir.Kind) {
	c.logPackets(func(line []byte, timeUs int64) []byte {
		if c.numbers.latest == 0 {
			// No number in feedback is below 0.
			c.numbers.first = 1<<16 + int64(number)
			c.numbers.latest = c.numbers.first
		}
		id := c.numbers.unwrap(number)
		c.numbers.latest = max(c.numbers.latest, id)
		line = strconv.AppendInt(append(line, `{"type":"sent","time_us":`...), timeUs, 10)
		line = strconv.AppendInt(append(line, `,"size_bytes":`...), int64(sizeBytes), 10)
		line = strconv.AppendInt(append(line, `,"id":`...), id, 10)
		line = append(append(line, `,"kind":"`...), kindName(kind)...)
		return append(line, `"}`...)
	})
}

// Feedback logs a message, if the options say so. Reports of packets that were not sent, or that are older than the
// history, are dropped: a receiver must not fill a log with them.
func (c *Connection) Feedback(packets []weir.PacketFeedback) {
	c.logPackets(func(line []byte, timeUs int64) []byte {
		line = strconv.AppendInt(append(line, `{"type":"feedback","time_us":`...), timeUs, 10)
		line = append(line, `,"packets":[`...)
		count := 0
		for _, packet := range packets {
			id := c.numbers.unwrap(packet.SequenceNumber)
			if packet.Fate == weir.FateUnknown || !c.numbers.wasSent(id) {
				continue
			}
			if !c.numbers.shifted && packet.Fate == weir.Received {
				c.numbers.shifted, c.numbers.shiftUs = true, timeUs-packet.ReceiveTimeUs
			}
			if count++; count > 1 {
				line = append(line, ',')
			}
			line = strconv.AppendInt(append(line, '['), id, 10)
			if line = append(line, ','); packet.Fate == weir.Received {
				line = strconv.AppendInt(line, packet.ReceiveTimeUs+c.numbers.shiftUs, 10)
			} else {
				line = append(line, `null`...)
			}
			line = append(line, ']')
		}
		if count == 0 {
			return nil
		}
		return append(line, `]}`...)
	})
}

// logPackets logs the line that `format` appends, unless it returns nil. The log brings it into the file with the next observation.
func (c *Connection) logPackets(format func(line []byte, timeUs int64) []byte) {
	if !c.packets {
		return
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.over || c.log == nil {
		return
	}
	line := format(c.line[:0], c.timeUs(time.Since(c.began)))
	if line == nil {
		return
	}
	c.line = append(line, '\n')
	if err := c.log.buffer(c.line); err != nil {
		c.check(errors.Join(err, c.log.close()))
	}
}

func kindName(kind weir.Kind) string {
	switch kind {
	case weir.Audio:
		return "audio"
	case weir.Probe:
		return "probe"
	case weir.Retransmission:
		return "retransmission"
	default:
		return "video"
	}
}
