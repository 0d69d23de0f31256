package weir

/*
#include "weir.h"
*/
import "C"

import "unsafe"

// The most streams of a LayerAllocator, and the most layers of a stream.
const (
	MaxMediaStreams = C.WEIR_MAX_MEDIA_STREAMS
	MaxMediaLayers  = C.WEIR_MAX_MEDIA_LAYERS
)

// MediaLayer is a simulcast or SVC layer. The rate is that of the whole stream when this is its highest forwarded layer,
// above 0. Width and height, in pixels, are for reports.
type MediaLayer struct {
	RateBps       int64
	Width, Height int32
}

// MediaStream is a stream that an SFU can forward.
type MediaStream struct {
	ID uint32
	// Kind is Video or Audio.
	Kind Kind
	// Priority: higher first.
	Priority int32
	// MayPause of video; without it, as for audio, the lowest layer is always on.
	MayPause bool
	// Layers are 1 to MaxMediaLayers with rising rates.
	Layers []MediaLayer
}

// LayerAllocation is the part of a stream that is forwarded. Layer is -1, and Forwarded zero, while the stream is paused.
// Reason of the latest change is "start", "headroom", "target_fell", "streams_changed" or "priority".
type LayerAllocation struct {
	ID        uint32
	Layer     int
	Forwarded MediaLayer
	Reason    string
	AtTimeUs  int64
}

// LayerRates are the sum of the layers that are forwarded, and two targets for SendSide.SetDesiredRate: that of all
// layers, and the smallest that adds a layer if it lasts; 0 when there is nothing to add.
type LayerRates struct {
	AllocatedBps, DesiredBps, NextBps int64
}

// LayerAllocator decides which layers an SFU forwards to one subscriber within a target rate; the rules are in
// weir/layer_allocator.h. Calls must not overlap.
type LayerAllocator struct {
	handle  *C.weir_layer_allocator
	streams []C.weir_media_stream
	written []C.weir_layer_allocation
	answer  []LayerAllocation
	rates   C.weir_layer_rates
}

// NewLayerAllocator makes one; Close frees it. A layer is added when it, and those before it that are on, need at most
// 1 / (1 + margin) of the target for waitUs; 0: the library's 0.1 and 500 ms.
func NewLayerAllocator(margin float64, waitUs int64) (*LayerAllocator, error) {
	defer onThread()()
	l := &LayerAllocator{}
	if err := failure(C.weir_layer_allocator_create(C.double(margin), C.int64_t(waitUs), &l.handle)); err != nil {
		return nil, err
	}
	return l, nil
}

// Close frees it; later calls fail. A second call does nothing.
func (l *LayerAllocator) Close() {
	C.weir_layer_allocator_destroy(l.handle)
	l.handle = nil
}

func (l *LayerAllocator) failure(code C.int) error {
	if l.handle == nil {
		return ErrClosed
	}
	return failure(code)
}

// SetStreams replaces the streams, for example when one came or rates were measured again. A stream with the ID and the
// number of layers of a former one continues it. An error changes nothing.
func (l *LayerAllocator) SetStreams(streams []MediaStream) error {
	defer onThread()()
	l.streams = l.streams[:0]
	for _, stream := range streams {
		s := C.weir_media_stream{
			id: C.uint32_t(stream.ID), kind: C.uint32_t(stream.Kind), priority: C.int32_t(stream.Priority),
			layer_count: C.size_t(len(stream.Layers)),
		}
		if stream.MayPause {
			s.may_pause = 1
		}
		for i, layer := range stream.Layers[:min(len(stream.Layers), MaxMediaLayers)] {
			s.layers[i] = C.weir_media_layer{
				rate_bps: C.int64_t(layer.RateBps), width: C.int32_t(layer.Width), height: C.int32_t(layer.Height),
			}
		}
		l.streams = append(l.streams, s)
	}
	first := unsafe.SliceData(l.streams)
	if err := l.failure(C.weir_layer_allocator_set_streams(l.handle, first, C.size_t(len(l.streams)))); err != nil {
		return err
	}
	l.written = make([]C.weir_layer_allocation, len(streams))
	l.answer = make([]LayerAllocation, len(streams))
	return nil
}

// Allocate decides: one allocation for each stream, in their order, valid until the next call. Call it when the target
// or the streams change, and every 100 ms. A nowUs before that of the previous call changes nothing.
func (l *LayerAllocator) Allocate(targetRateBps, nowUs int64) ([]LayerAllocation, error) {
	defer onThread()()
	first := unsafe.SliceData(l.written)
	code := C.weir_layer_allocator_allocate(
		l.handle, C.int64_t(targetRateBps), C.int64_t(nowUs), first, C.size_t(len(l.written)))
	if err := l.failure(code); err != nil {
		return nil, err
	}
	for i, w := range l.written {
		l.answer[i] = LayerAllocation{
			ID: uint32(w.id), Layer: int(w.layer), Reason: reason(w.reason), AtTimeUs: int64(w.at_time_us),
			Forwarded: MediaLayer{int64(w.forwarded.rate_bps), int32(w.forwarded.width), int32(w.forwarded.height)},
		}
	}
	return l.answer, nil
}

// Rates are those of the present streams and layers.
func (l *LayerAllocator) Rates() (LayerRates, error) {
	defer onThread()()
	if err := l.failure(C.weir_layer_allocator_get_rates(l.handle, &l.rates)); err != nil {
		return LayerRates{}, err
	}
	r := &l.rates
	return LayerRates{int64(r.allocated_rate_bps), int64(r.desired_rate_bps), int64(r.next_rate_bps)}, nil
}
