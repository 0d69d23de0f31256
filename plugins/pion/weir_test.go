package weir_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/pion/rtcp"

	weir "weir/pion"
	"weir/pion/internal/native"
	"weir/pion/shipped"
)

func newEstimator(t testing.TB, config weir.Config) *weir.Estimator {
	t.Helper()
	estimator, err := weir.NewEstimator(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(estimator.Close)
	return estimator
}

func model(t testing.TB) *weir.Model {
	t.Helper()
	loaded, err := shipped.Model()
	if err != nil {
		t.Fatal(err)
	}
	return loaded
}

// Goroutines move between threads, and the library's last error is a thread's.
func TestErrorsComeWithTheCallThatFailed(t *testing.T) {
	var all sync.WaitGroup
	for goroutine := range 32 {
		all.Add(1)
		go func() {
			defer all.Done()
			estimator := newEstimator(t, weir.Config{Controller: "rule"})
			for round := range 50 {
				name := fmt.Sprintf("nobody-%d-%d", goroutine, round)
				_, err := weir.NewEstimator(weir.Config{Controller: name})
				var failed *weir.Error
				if !errors.As(err, &failed) || !strings.Contains(failed.Message, name) || failed.Code != -3 {
					t.Errorf("asked for %s: %v", name, err)
				}
				runtime.Gosched()
				if err := estimator.SetObjective(weir.Objective{Throughput: -1}); err == nil ||
					strings.Contains(err.Error(), "nobody") {
					t.Errorf("a bad objective: %v", err)
				}
				if _, err := weir.LoadModel([]byte(name)); err == nil || !strings.Contains(err.Error(), "ONNX") {
					t.Errorf("no model: %v", err)
				}
			}
		}()
	}
	all.Wait()
}

func TestAfterCloseCallsFail(t *testing.T) {
	estimator := newEstimator(t, weir.Config{Model: model(t)})
	estimator.Close()
	estimator.Close()
	_, _, err := estimator.OnTimeout(0)
	for _, err := range []error{err, estimator.OnPacket(&weir.Packet{}), estimator.SetObjective(weir.Objective{})} {
		if !errors.Is(err, weir.ErrClosed) {
			t.Errorf("a closed estimator returns %v", err)
		}
	}
	sender, err := weir.NewSendSide(weir.Config{Model: model(t)}, 0)
	if err != nil {
		t.Fatal(err)
	}
	sender.Close()
	sender.Close()
	if err := sender.OnTransportFeedback(nil, 0); !errors.Is(err, weir.ErrClosed) || sender.NextTimeoutUs() != math.MaxInt64 {
		t.Errorf("a closed sender returns %v", err)
	}
}

func TestTheWorkerDecidesAndAnEstimatorMayBeClosedMeanwhile(t *testing.T) {
	if !native.HasWorker {
		t.Skip("no threads without cgo")
	}
	var all sync.WaitGroup
	for range 8 {
		estimator := newEstimator(t, weir.Config{Model: model(t), Worker: true})
		all.Add(1)
		go func() {
			defer all.Done()
			polls := 0
			for now := int64(100_000); now <= 3_000_000; now += 100_000 {
				if _, _, err := estimator.OnTimeout(now); err != nil {
					t.Error(err)
				}
				if estimator.NextTimeoutUs() == now+10_000 {
					polls++
				}
			}
			if polls == 0 {
				t.Error("all decisions were there at once")
			}
			estimator.Close()
		}()
	}
	all.Wait()
}

func TestConstraintsBoundTheRate(t *testing.T) {
	estimator := newEstimator(t, weir.Config{
		Controller: "fixed", Constraints: weir.Constraints{StartRateBps: 400_000, MaxMediaRateBps: 350_000},
	})
	rate := func(nowUs int64) int64 {
		t.Helper()
		_, _, err := estimator.OnTimeout(nowUs)
		latest, failed := estimator.Latest()
		if err := errors.Join(err, failed); err != nil {
			t.Fatal(err)
		}
		return latest.TargetRateBps
	}
	packet := weir.Packet{SSRC: 1, RTPClockRateHz: 90_000, HeaderBytes: 12, PayloadBytes: 1000, ECN: 1}
	if err := estimator.OnPacket(&packet); err != nil {
		t.Fatal(err)
	}
	rate(0)
	if got := rate(2_000_000); got != 350_000 {
		t.Errorf("%d bit/s, above what the media use", got)
	}
	bounds := weir.Constraints{MinRateBps: 50_000, StartRateBps: 60_000, MaxRateBps: 70_000}
	if err := estimator.SetConstraints(bounds, 2_000_000); err != nil {
		t.Fatal(err)
	}
	if got := rate(2_100_000); got != 70_000 {
		t.Errorf("%d bit/s, above the highest rate", got)
	}
	if err := estimator.SetConstraints(weir.Constraints{MinRateBps: 2, MaxRateBps: 1}, 2_000_000); err == nil {
		t.Error("reversed bounds are accepted")
	}
	packet.ECN = 4
	if err := estimator.OnPacket(&packet); err == nil {
		t.Error("an ECN field of 4 is accepted")
	}
}

func TestAModelIsSharedAndMayBeClosedBeforeItsUsers(t *testing.T) {
	own, err := weir.LoadModelFile("../../estimator/models/weir.onnx")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 8 {
		estimator := newEstimator(t, weir.Config{Model: own})
		all.Add(1)
		go func() {
			defer all.Done()
			if rates := drive(t, estimator, 200); rates[len(rates)-1] <= 300_000 {
				t.Errorf("a path without a queue, and the rate is %d bps", rates[len(rates)-1])
			}
		}()
	}
	own.Close()
	own.Close()
	all.Wait()
	if _, err := weir.NewEstimator(weir.Config{Model: own}); !errors.Is(err, weir.ErrClosed) {
		t.Errorf("a closed model: %v", err)
	}
}

// drive hands in packets at the rate in force, which arrive 20 ms later; returns the rate after each interval of 50 ms.
func drive(t testing.TB, estimator *weir.Estimator, intervals int) []int64 {
	rates := make([]int64, 0, intervals)
	number, rate := uint16(65_000), int64(300_000)
	for interval := range intervals {
		packets := max(rate/20/9600, 1)
		for i := range packets {
			sent := int64(interval)*50_000 + i*50_000/packets
			err := estimator.OnPacket(&weir.Packet{
				ArrivalTimeUs: sent + 20_000, SSRC: 7, SequenceNumber: number, HasAbsSendTime: true,
				AbsSendTime: uint32((sent<<18)/1_000_000) & 0xFFFFFF, HeaderBytes: 20, PayloadBytes: 1180,
			})
			if err != nil {
				t.Error(err)
			}
			number++
		}
		if _, _, err := estimator.OnTimeout(int64(interval+1)*50_000 + 20_000); err != nil {
			t.Error(err)
		}
		latest, err := estimator.Latest()
		if err != nil || latest.Reason == "" {
			t.Errorf("%+v, %v", latest, err)
		}
		rate = latest.TargetRateBps
		rates = append(rates, rate)
	}
	return rates
}

func TestREMBIsReadByPion(t *testing.T) {
	estimator := newEstimator(t, weir.Config{Model: model(t)})
	drive(t, estimator, 40)
	raw, err := estimator.REMB(5)
	if err != nil {
		t.Fatal(err)
	}
	packets, err := rtcp.Unmarshal(raw)
	if err != nil || len(packets) != 1 {
		t.Fatalf("%d packets, %v", len(packets), err)
	}
	remb, ok := packets[0].(*rtcp.ReceiverEstimatedMaximumBitrate)
	latest, _ := estimator.Latest()
	if !ok || remb.SenderSSRC != 5 || len(remb.SSRCs) != 1 || remb.SSRCs[0] != 7 {
		t.Errorf("%v", packets[0])
	}
	if off := math.Abs(float64(remb.Bitrate)/float64(latest.TargetRateBps) - 1); off > 1.0/(1<<17) {
		t.Errorf("REMB has %.0f, the estimator %d", remb.Bitrate, latest.TargetRateBps)
	}
	if again, err := remb.Marshal(); err != nil || !bytes.Equal(again, raw) {
		t.Errorf("pion writes %x, Weir %x", again, raw)
	}
	if binary.BigEndian.Uint32(raw[8:]) != 0 {
		t.Error("the media SSRC of a REMB is 0")
	}
	statistics, err := estimator.Statistics(2_000_000)
	if err != nil || statistics.PacketsReceived < 40 || statistics.TargetRateBps != latest.TargetRateBps {
		t.Errorf("%+v, %v", statistics, err)
	}
}

func BenchmarkEstimatorOnPacket(b *testing.B) {
	estimator := newEstimator(b, weir.Config{Model: model(b)})
	packet := weir.Packet{SSRC: 7, HasAbsSendTime: true, HeaderBytes: 20, PayloadBytes: 1180}
	b.ReportAllocs()
	for b.Loop() {
		packet.ArrivalTimeUs += 1000
		packet.SequenceNumber++
		packet.AbsSendTime = uint32((packet.ArrivalTimeUs<<18)/1_000_000) & 0xFFFFFF
		if err := estimator.OnPacket(&packet); err != nil {
			b.Fatal(err)
		}
	}
}
