package weir_test

import (
	"errors"
	"math"
	"testing"

	weir "weir/pion"
)

func newLayerAllocator(t testing.TB, streams ...weir.MediaStream) *weir.LayerAllocator {
	t.Helper()
	allocator, err := weir.NewLayerAllocator(0, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(allocator.Close)
	if err := allocator.SetStreams(streams); err != nil {
		t.Fatal(err)
	}
	return allocator
}

func simulcast(id uint32, priority int32) weir.MediaStream {
	return weir.MediaStream{ID: id, Priority: priority, MayPause: true, Layers: []weir.MediaLayer{
		{RateBps: 150_000, Width: 320, Height: 180},
		{RateBps: 500_000, Width: 640, Height: 360},
		{RateBps: 1_500_000, Width: 1280, Height: 720},
	}}
}

func audio(id uint32) weir.MediaStream {
	return weir.MediaStream{ID: id, Kind: weir.Audio, Layers: []weir.MediaLayer{{RateBps: 32_000}}}
}

// during calls every 100 ms and returns the last answer.
func during(t testing.TB, allocator *weir.LayerAllocator, targetBps, fromUs, toUs int64) []weir.LayerAllocation {
	t.Helper()
	var last []weir.LayerAllocation
	for now := fromUs; now <= toUs; now += 100_000 {
		allocations, err := allocator.Allocate(targetBps, now)
		if err != nil {
			t.Fatal(err)
		}
		last = allocations
	}
	return last
}

func TestLayersFollowTheTarget(t *testing.T) {
	allocator := newLayerAllocator(t, audio(1), simulcast(2, 1), simulcast(3, 0))
	check := func(allocations []weir.LayerAllocation, layers [3]int, reasons [3]string) {
		t.Helper()
		for i, allocation := range allocations {
			if allocation.ID != uint32(i+1) || allocation.Layer != layers[i] || allocation.Reason != reasons[i] {
				t.Errorf("stream %d: %+v, wanted layer %d by %s", i+1, allocation, layers[i], reasons[i])
			}
		}
	}
	first := during(t, allocator, 1_000_000, 0, 0)
	check(first, [3]int{0, 1, 0}, [3]string{"start", "start", "start"})
	if first[1].Forwarded != (weir.MediaLayer{RateBps: 500_000, Width: 640, Height: 360}) {
		t.Errorf("%+v", first[1])
	}
	rates, err := allocator.Rates()
	if err != nil || rates != (weir.LayerRates{AllocatedBps: 682_000, DesiredBps: 3_335_200, NextBps: 1_135_200}) {
		t.Errorf("%+v, %v", rates, err)
	}
	check(during(t, allocator, rates.NextBps, 100_000, 500_000), [3]int{0, 1, 0}, [3]string{"start", "start", "start"})
	check(during(t, allocator, rates.NextBps, 600_000, 600_000), [3]int{0, 1, 1}, [3]string{"start", "start", "headroom"})
	check(during(t, allocator, 700_000, 700_000, 700_000), [3]int{0, 1, 0}, [3]string{"start", "start", "target_fell"})
	check(during(t, allocator, -1, 800_000, 800_000), [3]int{0, -1, -1}, [3]string{"start", "target_fell", "target_fell"})
	// A new order takes effect after the wait.
	if err := allocator.SetStreams([]weir.MediaStream{audio(1), simulcast(2, 0), simulcast(3, 1)}); err != nil {
		t.Fatal(err)
	}
	last := during(t, allocator, 800_000, 900_000, 60_000_000)
	check(last, [3]int{0, 0, 1}, [3]string{"start", "headroom", "headroom"})
}

func TestInvalidStreamsAreRefused(t *testing.T) {
	if _, err := weir.NewLayerAllocator(-1, 0); err == nil {
		t.Error("a negative margin")
	}
	allocator := newLayerAllocator(t, simulcast(1, 0))
	falling, endless := simulcast(2, 0), simulcast(2, 0)
	falling.Layers[1].RateBps = 1
	endless.Layers = make([]weir.MediaLayer, weir.MaxMediaLayers+1)
	for _, streams := range [][]weir.MediaStream{
		{simulcast(1, 0), simulcast(1, 0)}, {falling}, {endless}, {{ID: 1}},
		make([]weir.MediaStream, weir.MaxMediaStreams+1),
	} {
		if err := allocator.SetStreams(streams); err == nil {
			t.Errorf("%+v", streams)
		}
	}
	if rates, err := allocator.Rates(); err != nil || rates.DesiredBps != 1_650_000 {
		t.Errorf("%+v, %v", rates, err)
	}
	if _, err := allocator.Allocate(1, math.MaxInt64); err == nil {
		t.Error("a time that is none")
	}
	if layers := during(t, allocator, math.MaxInt64, 0, 0); len(layers) != 1 || layers[0].Layer != 2 {
		t.Errorf("%+v", layers)
	}
	allocator.Close()
	allocator.Close()
	_, allocate := allocator.Allocate(1, 1)
	_, rates := allocator.Rates()
	for _, err := range []error{allocate, rates, allocator.SetStreams(nil)} {
		if !errors.Is(err, weir.ErrClosed) {
			t.Errorf("a closed allocator returns %v", err)
		}
	}
}
