package observe

import (
	"errors"
	"strconv"
	"time"

	weir "weir/pion"
)

// numbers unwraps transport-wide sequence numbers, and shifts the receiver's clock to that of the log.
type numbers struct {
	latest  int64
	shiftUs int64
	shifted bool
}

func (n *numbers) unwrap(number uint16) int64 {
	return n.latest + int64(int16(number-uint16(n.latest)))
}

// Sent logs a packet, if the options say so.
func (c *Connection) Sent(number uint16, sizeBytes int, kind weir.Kind) {
	c.logPackets(func(line []byte, timeUs int64) []byte {
		if c.numbers.latest == 0 {
			// No number in feedback is below 0.
			c.numbers.latest = 1<<16 + int64(number)
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

// Feedback logs a message, if the options say so.
func (c *Connection) Feedback(packets []weir.PacketFeedback) {
	c.logPackets(func(line []byte, timeUs int64) []byte {
		line = strconv.AppendInt(append(line, `{"type":"feedback","time_us":`...), timeUs, 10)
		line = append(line, `,"packets":[`...)
		count := 0
		for _, packet := range packets {
			if packet.Fate == weir.FateUnknown || c.numbers.latest == 0 {
				continue
			}
			if !c.numbers.shifted && packet.Fate == weir.Received {
				c.numbers.shifted, c.numbers.shiftUs = true, timeUs-packet.ReceiveTimeUs
			}
			if count++; count > 1 {
				line = append(line, ',')
			}
			line = strconv.AppendInt(append(line, '['), c.numbers.unwrap(packet.SequenceNumber), 10)
			if line = append(line, ','); packet.Fate == weir.Received {
				line = strconv.AppendInt(line, packet.ReceiveTimeUs+c.numbers.shiftUs, 10)
			} else {
				line = append(line, `null`...)
			}
			line = append(line, ']')
		}
		return append(line, `]}`...)
	})
}

// logPackets logs the line that `format` appends. The log brings it into the file with the next observation.
func (c *Connection) logPackets(format func(line []byte, timeUs int64) []byte) {
	if !c.packets {
		return
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.over || c.log == nil {
		return
	}
	c.line = append(format(c.line[:0], c.timeUs(time.Since(c.began))), '\n')
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
