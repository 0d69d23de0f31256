package main

import (
	"slices"

	"github.com/pion/rtp"
)

// rewriter makes one RTP stream of sources that follow one another, with padding between their packets: sequence
// numbers, timestamps and VP8's picture IDs continue.
type rewriter struct {
	started bool
	// As sent: the highest number, and the rest of that packet.
	number    uint16
	timestamp uint32
	pictureID uint16
	tl0       uint8

	// newest is the highest number of the source, unwrapped.
	newest         int64
	shifts         []shift
	timestampShift uint32
	pictureShift   uint16
	tl0Shift       uint8
}

// shift is what numbers of the source from `from` on are moved by.
type shift struct {
	from int64
	by   uint16
}

// mostShifts bounds how far back late packets still find their numbers: so many bursts of padding.
const mostShifts = 32

// begin has the stream go on with the packet of another source, `elapsed` ticks after the latest of the former.
func (r *rewriter) begin(header *rtp.Header, payload []byte, info frameInfo, elapsed uint32) {
	r.newest = int64(header.SequenceNumber)
	r.shifts = append(r.shifts[:0], shift{r.newest, 0})
	r.timestampShift, r.pictureShift, r.tl0Shift = 0, 0, 0
	if r.started {
		r.shifts[0].by = r.number + 1 - header.SequenceNumber
		r.timestampShift = r.timestamp + max(elapsed, 1) - header.Timestamp
		if info.pictureAt > 0 {
			r.pictureShift = r.pictureID + 1 - info.pictureID(payload)
		}
		if info.tl0At > 0 {
			r.tl0Shift = r.tl0 + 1 - payload[info.tl0At]
		}
	}
	r.started = true
	r.number = header.SequenceNumber + r.shifts[0].by - 1
	r.newest--
}

// rewrite changes a packet of the source in place; false: it is too late to have a number.
func (r *rewriter) rewrite(header *rtp.Header, payload []byte, info frameInfo) bool {
	number := r.newest + int64(int16(header.SequenceNumber-uint16(r.newest)))
	by := slices.IndexFunc(r.shifts, func(s shift) bool { return s.from <= number })
	if by < 0 {
		return false
	}
	header.SequenceNumber += r.shifts[by].by
	header.Timestamp += r.timestampShift
	if info.pictureAt > 0 {
		info.setPictureID(payload, info.pictureID(payload)+r.pictureShift)
	}
	if info.tl0At > 0 {
		payload[info.tl0At] += r.tl0Shift
	}
	if number > r.newest {
		r.newest, r.number, r.timestamp = number, header.SequenceNumber, header.Timestamp
		if info.pictureAt > 0 {
			r.pictureID = info.pictureID(payload)
		}
		if info.tl0At > 0 {
			r.tl0 = payload[info.tl0At]
		}
	}
	return true
}

// pad takes the next number for a packet of padding, which has the timestamp of the packet before.
func (r *rewriter) pad() (number uint16, timestamp uint32) {
	r.number++
	next := r.newest + 1
	if r.shifts[0].from == next {
		r.shifts[0].by++
	} else {
		r.shifts = slices.Insert(r.shifts, 0, shift{next, r.shifts[0].by + 1})
		r.shifts = r.shifts[:min(len(r.shifts), mostShifts)]
	}
	return r.number, r.timestamp
}
