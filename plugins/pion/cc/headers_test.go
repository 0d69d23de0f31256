package cc

import (
	"encoding/binary"
	"sync"
	"testing"
	"time"

	"github.com/pion/interceptor"
	pioncc "github.com/pion/interceptor/pkg/cc"
	"github.com/pion/interceptor/pkg/pacing"
	"github.com/pion/rtp"
	"github.com/pion/webrtc/v4"
)

// Under -race, and by the numbers: a packet that is requested many times at once is sent under a number each time.
func TestAPacketSentAgainAtOnceHasItsOwnNumbers(t *testing.T) {
	estimator := newEstimator(t)
	controller, err := pioncc.NewInterceptor(func() (pioncc.BandwidthEstimator, error) { return estimator, nil })
	if err != nil {
		t.Fatal(err)
	}
	media, registry := &webrtc.MediaEngine{}, &interceptor.Registry{}
	registry.Add(controller)
	if err := ConfigureTWCCHeaderExtensionSender(media, registry); err != nil {
		t.Fatal(err)
	}
	chain, err := registry.Build("")
	if err != nil {
		t.Fatal(err)
	}
	const times = 100
	numberOf := func(h *rtp.Header) uint16 { return binary.BigEndian.Uint16(h.GetExtension(extensionID)) }
	var mutex sync.Mutex
	seen := map[uint16]bool{}
	writer := chain.BindLocalStream(info, writerTo(func(sent *rtp.Header) {
		mutex.Lock()
		defer mutex.Unlock()
		seen[numberOf(sent)] = true
	}))
	kept := header(7)
	var writers sync.WaitGroup
	for range times {
		writers.Add(1)
		go func() {
			defer writers.Done()
			_, _ = writer.Write(kept, make([]byte, 100), nil)
		}()
	}
	writers.Wait()
	if len(seen) != times || numberOf(kept) != 7 {
		t.Errorf("%d numbers for %d packets; the kept header has %d", len(seen), times, numberOf(kept))
	}
}

// A burst of 20 packets needs 0.5 s at the pacing rate.
func TestPacketsCountAsTheyLeaveThePacer(t *testing.T) {
	estimator := newEstimator(t)
	controller, err := pioncc.NewInterceptor(func() (pioncc.BandwidthEstimator, error) { return estimator, nil })
	if err != nil {
		t.Fatal(err)
	}
	const packets, size = 20, 1000
	pacer := pacing.NewInterceptor()
	registry := &interceptor.Registry{}
	registry.Add(controller)
	registry.Add(pacer)
	chain, err := registry.Build("one")
	if err != nil {
		t.Fatal(err)
	}
	pacer.SetRate("one", int(estimator.Rates().PacingRateBps))
	left := make(chan uint16, packets)
	writer := chain.BindLocalStream(info, writerTo(func(h *rtp.Header) {
		left <- binary.BigEndian.Uint16(h.GetExtension(extensionID))
	}))
	began := time.Now()
	for range packets {
		if _, err := writer.Write(header(9), make([]byte, size), nil); err != nil {
			t.Fatal(err)
		}
	}
	for number := range uint16(packets) {
		if got := <-left; got != number {
			t.Errorf("packet %d left as %d", number, got)
		}
	}
	if took := time.Since(began); took < 400*time.Millisecond {
		t.Errorf("%d packets left within %v", packets, took)
	}
	if stats := estimator.GetStats(); stats["packetsInvalid"] != uint64(0) {
		t.Error(stats)
	}
	if err := chain.Close(); err != nil {
		t.Error(err)
	}
}
