package cc

import (
	"strings"
	"time"

	"github.com/pion/interceptor"
	"github.com/pion/rtcp"

	weir "weir/pion"
)

const (
	referenceTimeBits = 24
	referenceTimeUs   = 64_000
)

func kindOf(info *interceptor.StreamInfo) weir.Kind {
	if strings.HasPrefix(strings.ToLower(info.MimeType), "audio/") {
		return weir.Audio
	}
	return weir.Video
}

// FeedbackReader turns transport-wide feedback (draft-holmer-rmcat-transport-wide-cc-extensions-01) into what became of
// each packet. Its slices are used again.
type FeedbackReader struct {
	// latest is the reference time of the message before, in steps of 64 ms; unwrapped from 24 bits.
	latest  int64
	started bool
	packets []weir.PacketFeedback
}

// Read returns the packets of a message in the order of sequence numbers; valid until the next call. Packets that are
// reported as received without a time are excluded.
func (m *FeedbackReader) Read(message *rtcp.TransportLayerCC) []weir.PacketFeedback {
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

func (m *FeedbackReader) unwrap(reference uint32) int64 {
	const shift = 32 - referenceTimeBits
	step := int64(int32((reference-uint32(m.latest))<<shift) >> shift)
	if !m.started {
		m.started, m.latest = true, int64(reference)
		return m.latest
	}
	m.latest += step
	return m.latest
}

// RoundTripTime is that of a reception report (RFC 3550, 6.4.1) which arrives at `now`; false where it
// answers no sender report.
func RoundTripTime(report rtcp.ReceptionReport, now time.Time) (time.Duration, bool) {
	if report.LastSenderReport == 0 {
		return 0, false
	}
	// The middle 32 bits of NTP: seconds since 1900 with 16 bits of fraction.
	const unixToNTP = 2_208_988_800
	ntp := uint32((uint64(now.Unix()+unixToNTP) << 16) | uint64(now.Nanosecond())<<16/1e9)
	units := int32(ntp - report.LastSenderReport - report.Delay)
	return time.Duration(units) * time.Second >> 16, units > 0
}
