// Package twcc reads transport-wide feedback for those who give it to the estimator at the sender.
package twcc

import (
	"github.com/pion/rtcp"

	weir "weir/pion"
)

const (
	referenceTimeBits = 24
	referenceTimeUs   = 64_000
)

// Reader turns transport-wide feedback (draft-holmer-rmcat-transport-wide-cc-extensions-01) into what became of
// each packet. Its slices are used again.
type Reader struct {
	// latest is the reference time of the message before, in steps of 64 ms; unwrapped from 24 bits.
	latest  int64
	started bool
	packets []weir.PacketFeedback
}

// Read returns the packets of a message in the order of sequence numbers; valid until the next call. Packets that are
// reported as received without a time are excluded.
func (m *Reader) Read(message *rtcp.TransportLayerCC) []weir.PacketFeedback {
	m.packets = m.packets[:0]
	timeUs := m.unwrap(message.ReferenceTime) * referenceTimeUs
	deltas := message.RecvDeltas
	number, left := message.BaseSequenceNumber, int(message.PacketStatusCount)
	take := func(symbol uint16) bool {
		if left == 0 {
			return false
		}
		packet := weir.PacketFeedback{SequenceNumber: number, Fate: weir.Lost}
		if symbol == rtcp.TypeTCCPacketReceivedSmallDelta || symbol == rtcp.TypeTCCPacketReceivedLargeDelta {
			if len(deltas) == 0 {
				return false
			}
			timeUs += deltas[0].Delta
			deltas = deltas[1:]
			packet.Fate, packet.ReceiveTimeUs = weir.Received, timeUs
		} else if symbol != rtcp.TypeTCCPacketNotReceived {
			packet.Fate = weir.FateUnknown
		}
		m.packets = append(m.packets, packet)
		number++
		left--
		return true
	}
	for _, chunk := range message.PacketChunks {
		switch chunk := chunk.(type) {
		case *rtcp.RunLengthChunk:
			for range chunk.RunLength {
				if !take(chunk.PacketStatusSymbol) {
					return m.packets
				}
			}
		case *rtcp.StatusVectorChunk:
			for _, symbol := range chunk.SymbolList {
				if !take(symbol) {
					return m.packets
				}
			}
		}
	}
	return m.packets
}

func (m *Reader) unwrap(reference uint32) int64 {
	const shift = 32 - referenceTimeBits
	step := int64(int32((reference-uint32(m.latest))<<shift) >> shift)
	if !m.started {
		m.started, m.latest = true, int64(reference)
		return m.latest
	}
	m.latest += step
	return m.latest
}
