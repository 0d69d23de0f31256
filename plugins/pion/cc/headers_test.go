package cc

import (
	"encoding/binary"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/pion/interceptor"
	pioncc "github.com/pion/interceptor/pkg/cc"
	"github.com/pion/rtp"
	"github.com/pion/webrtc/v4"

	weir "weir/pion"
	"weir/pion/internal/link"
	"weir/pion/shipped"
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

// A burst of 20 packets needs 0.5 s at the pacing rate; audio does not wait for it.
func TestVideoLeavesAtThePacingRateAndAudioAtOnce(t *testing.T) {
	link.Simulated(t, func(t *testing.T) {
		model, err := shipped.Model()
		if err != nil {
			t.Fatal(err)
		}
		estimator, err := NewEstimator(Options{Config: weir.Config{Model: model}})
		if err != nil {
			t.Fatal(err)
		}
		const packets, size = 20, 1000
		left := make(chan string, packets+1)
		add := func(mime string) interceptor.RTPWriter {
			stream := *info
			stream.MimeType = mime
			return estimator.AddStream(&stream, writerTo(func(h *rtp.Header) {
				left <- mime
			}))
		}
		video, audio := add("video/VP8"), add("audio/opus")
		began := time.Now()
		for range packets {
			if _, err := video.Write(header(9), make([]byte, size), nil); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := audio.Write(header(9), make([]byte, size), nil); err != nil {
			t.Fatal(err)
		}
		if first := <-left; first != "audio/opus" {
			t.Errorf("%s left first", first)
		}
		for range packets {
			<-left
		}
		if took := time.Since(began); took < 400*time.Millisecond || took > 600*time.Millisecond {
			t.Errorf("%d packets left within %v", packets, took)
		}
		if stats := estimator.GetStats(); stats["packetsInvalid"] != uint64(0) {
			t.Error(stats)
		}
		if err := errors.Join(estimator.Close(), estimator.Close()); err != nil {
			t.Error(err)
		}
	})
}
