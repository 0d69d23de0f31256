package main

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/pion/rtp"
)

func TestEachNumberCountsOnce(t *testing.T) {
	var numbers receivedNumbers
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 200_000 {
		if i > 0 && i%7 == 3 {
			continue // comes late, below
		}
		if !numbers.add(uint16(i + 65_000)) {
			t.Fatalf("packet %d came before", i)
		}
		if back := random.IntN(numberWindow - 10); back <= i && (i-back)%7 != 3 && numbers.add(uint16(i-back+65_000)) {
			t.Fatalf("packet %d counts again %d later", i-back, back)
		}
		if i%7 == 5 && !numbers.add(uint16(i-2+65_000)) {
			t.Fatalf("late packet %d does not count", i-2)
		}
	}
	if newest := numbers.highest; numbers.add(uint16(newest - numberWindow)) {
		t.Error("an old packet counts")
	}
}

// Chromium pads with what it sent before: retransmissions, which come under their first numbers.
func TestPaddingOfSentPacketsIsNotForwardedAndIsNoRate(t *testing.T) {
	f, now := newTestForwarder(t), time.Now()
	e := testEncoding("", new(int))
	f.want(e)
	forwarded := 0
	deliver := func(number uint16) {
		payload := append(vp8Payload(number, true, number == 0, 0), make([]byte, 1000)...)
		packet := &rtp.Packet{Header: rtp.Header{SequenceNumber: number, Marker: true}, Payload: payload}
		packet.Timestamp = 900 * uint32(number)
		info := readVP8(payload)
		if e.observe(packet, info, now) {
			forwarded++
			f.forward(e, packet, info, now)
		}
	}
	for number := range uint16(300) {
		deliver(number)
		for again := range uint16(6) {
			deliver(number - min(number, 10*again))
		}
		now = now.Add(10 * time.Millisecond)
	}
	if forwarded != 300 || f.rewriter.number != 299 {
		t.Errorf("%d packets of 300 are forwarded, up to %d", forwarded, f.rewriter.number)
	}
	// 100 packets a second.
	if layer, comes := e.layer(now); !comes || layer.RateBps < 800_000 || layer.RateBps > 900_000 {
		t.Errorf("%+v, %v", layer, comes)
	}
}
