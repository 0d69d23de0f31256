package main

// receivedNumbers tells packets of one encoding that come again. Browsers probe with what they sent before: pion hands
// such a retransmission on under its first number.
type receivedNumbers struct {
	any     bool
	highest int64
	seen    [numberWindow / 64]uint64
}

// numberWindow is how far back numbers are remembered: some seconds of 5 Mbps. What is older comes too late anyway.
const numberWindow = 4096

// add a packet; false: it came before, or is older than the window.
func (r *receivedNumbers) add(sequenceNumber uint16) bool {
	if !r.any {
		r.any, r.highest = true, int64(sequenceNumber)
		// A packet that was overtaken may have the number below, at 0 too.
		r.highest += 1 << 16
		r.mark(r.highest)
		return true
	}
	number := r.highest + int64(int16(sequenceNumber-uint16(r.highest)))
	switch {
	case number <= r.highest-numberWindow:
		return false
	case number > r.highest:
		if number-r.highest >= numberWindow {
			r.seen = [numberWindow / 64]uint64{}
		}
		for skipped := max(r.highest+1, number-numberWindow); skipped < number; skipped++ {
			word, bit := place(skipped)
			r.seen[word] &^= bit
		}
		r.highest = number
	default:
		if word, bit := place(number); r.seen[word]&bit != 0 {
			return false
		}
	}
	r.mark(number)
	return true
}

func (r *receivedNumbers) mark(number int64) {
	word, bit := place(number)
	r.seen[word] |= bit
}

func place(number int64) (word int, bit uint64) {
	at := number % numberWindow
	return int(at / 64), 1 << (at % 64)
}
