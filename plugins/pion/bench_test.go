package weir_test

import (
	"math"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	weir "weir/pion"
)

// residentBytes is the process's memory by the kernel's count.
func residentBytes(b *testing.B) float64 {
	b.Helper()
	runtime.GC()
	statm, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		b.Fatal(err)
	}
	pages, err := strconv.Atoi(strings.Fields(string(statm))[1])
	if err != nil {
		b.Fatal(err)
	}
	return float64(pages * os.Getpagesize())
}

// clockNs is a clock of CPU time, which other programs do not disturb.
func clockNs(clock int32) int64 {
	var time unix.Timespec
	_ = unix.ClockGettime(clock, &time)
	return time.Nano()
}

// BenchmarkServer is 500 subscribers of media in layers, in simulated time; an iteration is one second of it. Each gets 300 packets/s, and
// answers every 50 ms. p99 is of the calls that take feedback, most of which decide.
func BenchmarkServer(b *testing.B) {
	const (
		subscribers = 500
		packets     = 300
		messages    = 20
		size        = 1200
		delayUs     = 30_000
	)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	shared := model(b)
	before := residentBytes(b)
	estimators := make([]*weir.SendSide, subscribers)
	for i := range estimators {
		var err error
		if estimators[i], err = weir.NewSendSide(weir.Config{Model: shared}, 0); err != nil {
			b.Fatal(err)
		}
		defer estimators[i].Close()
		// Memory of probes too.
		if err = estimators[i].SetDesiredRate(10_000_000, 0); err != nil {
			b.Fatal(err)
		}
	}
	var now int64
	var number uint16
	var decisions []int64
	feedback := make([]weir.PacketFeedback, packets/messages)
	second := func() {
		for range messages {
			for e, estimator := range estimators {
				for i := range feedback {
					sent := now + int64(i)*1_000_000/packets
					if err := estimator.OnSentPacket(sent, number+uint16(i), size, weir.Video, 0); err != nil {
						b.Fatal(err)
					}
					// Paths of different delays, with a little jitter.
					arrival := sent + delayUs + int64(e*37%1000) + int64(i*e)%700
					feedback[i] = weir.PacketFeedback{ReceiveTimeUs: arrival, SequenceNumber: number + uint16(i)}
				}
				start := clockNs(unix.CLOCK_THREAD_CPUTIME_ID)
				if err := estimator.OnTransportFeedback(feedback, now+1_000_000/messages+2*delayUs); err != nil {
					b.Fatal(err)
				}
				decisions = append(decisions, clockNs(unix.CLOCK_THREAD_CPUTIME_ID)-start)
			}
			number += uint16(len(feedback))
			now += 1_000_000 / messages
		}
	}
	for range 3 {
		second()
	}
	decisions = decisions[:0]
	start, seconds := clockNs(unix.CLOCK_PROCESS_CPUTIME_ID), 0
	for b.Loop() {
		second()
		seconds++
	}
	used := float64(clockNs(unix.CLOCK_PROCESS_CPUTIME_ID)-start) / 1e9
	slices.Sort(decisions)
	p99 := float64(decisions[int(math.Ceil(0.99*float64(len(decisions))))-1])
	resident := residentBytes(b) - before - float64(8*cap(decisions))
	b.ReportMetric(used/float64(seconds), "cores")
	b.ReportMetric(resident/1e6, "MB")
	b.ReportMetric(p99/1e3, "p99-us")
	b.ReportMetric(float64(decisions[len(decisions)/2])/1e3, "p50-us")
}
