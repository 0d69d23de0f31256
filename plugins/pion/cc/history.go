package cc

import (
	"math"
	"slices"

	"github.com/pion/rtcp"

	weir "weir/pion"
)

// historyLength is at least the library's SendSideEstimator::kHistory; a power of 2.
const historyLength = 8192

// history is the latest packets that were sent: for RFC 8888, which names them by stream and RTP sequence number, and
// for the bytes in flight. Feedback is untrusted: each entry of it costs one search.
type history struct {
	// next is the transport-wide sequence number after the latest packet's, first that of the oldest in flight.
	next, first uint16
	inFlight    int64
	packets     [historyLength]sentPacket
	// latest is the latest packet of each bucket.
	latest [historyLength]uint16
	// clock is the receiver's, unwrapped, in steps of 1/65536 s.
	clock   int64
	reports []weir.PacketFeedback
}

type sentPacket struct {
	ssrc           uint32
	sequence, size uint16
	// before is the packet before it in its bucket.
	before uint16
}

// bucketOf spreads a stream's latest packets over all buckets.
func bucketOf(ssrc uint32, sequence uint16) uint16 {
	return (uint16(ssrc*0x9E3779B1>>16) ^ sequence) % historyLength
}

// add takes the packet with a number. Those before it that did not leave have no size; one that leaves late is dropped.
func (h *history) add(number uint16, ssrc uint32, sequence uint16, size int) {
	if number-h.next >= 1<<15 {
		return
	}
	for h.next != number {
		h.push(sentPacket{})
	}
	bucket := bucketOf(ssrc, sequence)
	before := h.latest[bucket]
	h.latest[bucket] = number
	h.push(sentPacket{ssrc, sequence, uint16(min(size, math.MaxUint16)), before})
}

func (h *history) push(packet sentPacket) {
	if h.next-h.first == historyLength {
		h.answer(h.first)
	}
	h.packets[h.next%historyLength] = packet
	h.inFlight += int64(packet.size)
	h.next++
}

// answer ends the flight of a packet that feedback reports, and of those before it: they are lost, or of unknown fate.
func (h *history) answer(number uint16) {
	for ; number-h.first < h.next-h.first; h.first++ {
		h.inFlight -= int64(h.packets[h.first%historyLength].size)
	}
}

// find returns the number of the latest packet with this RTP sequence number.
func (h *history) find(ssrc uint32, sequence uint16) (number uint16, found bool) {
	number = h.latest[bucketOf(ssrc, sequence)]
	// Ages rise within a bucket; a number that is no older was overwritten.
	for age := uint16(0); h.next-number > age && h.next-number <= historyLength; {
		packet := &h.packets[number%historyLength]
		if packet.ssrc == ssrc && packet.sequence == sequence {
			return number, true
		}
		age, number = h.next-number, packet.before
	}
	return 0, false
}

// read returns the reports of a message on packets in the history, in the order of sending; valid until the next call.
func (h *history) read(message *rtcp.CCFeedbackReport) []weir.PacketFeedback {
	// From this offset on there is none: too long ago, or unknown.
	const noOffset = 0x1FFE
	h.reports = h.reports[:0]
	h.clock += int64(int32(message.ReportTimestamp - uint32(h.clock)))
	for _, block := range message.ReportBlocks {
		for i, metric := range block.MetricBlocks {
			number, found := h.find(block.MediaSSRC, block.BeginSequence+uint16(i))
			if !found {
				continue
			}
			report := weir.PacketFeedback{SequenceNumber: number, Fate: weir.Lost}
			if metric.Received && metric.ArrivalTimeOffset < noOffset {
				// The offset is in steps of 1/1024 s.
				report.Fate = weir.Received
				report.ECN = uint32(metric.ECN)
				report.ReceiveTimeUs = (h.clock - 64*int64(metric.ArrivalTimeOffset)) * 15_625 >> 10
			} else if metric.Received {
				report.Fate = weir.FateUnknown
			}
			h.reports = append(h.reports, report)
		}
	}
	slices.SortFunc(h.reports, func(a, b weir.PacketFeedback) int {
		return int(int16(a.SequenceNumber - b.SequenceNumber))
	})
	return h.reports
}
