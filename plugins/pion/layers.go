package weir

import "weir/pion/internal/native"

// The most streams of a LayerAllocator, and the most layers of a stream.
const (
	MaxMediaStreams = native.MaxMediaStreams
	MaxMediaLayers  = native.MaxMediaLayers
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
	native  native.LayerAllocator
	streams []native.MediaStream
	written []native.LayerAllocation
	answer  []LayerAllocation
}

// NewLayerAllocator makes one; Close frees it. A layer is added when it, and those before it that are on, need at most
// 1 / (1 + margin) of the target for waitUs; 0: the library's 0.1 and 500 ms.
func NewLayerAllocator(margin float64, waitUs int64) (*LayerAllocator, error) {
	made, err := native.NewLayerAllocator(margin, waitUs)
	if err != nil {
		return nil, err
	}
	return &LayerAllocator{native: made}, nil
}

// Close frees it; later calls fail. A second call does nothing.
func (l *LayerAllocator) Close() { l.native.Close() }

// SetStreams replaces the streams, for example when one came or rates were measured again. A stream with the ID and the
// number of layers of a former one continues it. An error changes nothing.
func (l *LayerAllocator) SetStreams(streams []MediaStream) error {
	l.streams = l.streams[:0]
	for _, stream := range streams {
		s := native.MediaStream{
			ID: stream.ID, Kind: uint32(stream.Kind), Priority: stream.Priority, LayerCount: uint64(len(stream.Layers)),
		}
		if stream.MayPause {
			s.MayPause = 1
		}
		for i, layer := range stream.Layers[:min(len(stream.Layers), MaxMediaLayers)] {
			s.Layers[i] = native.MediaLayer(layer)
		}
		l.streams = append(l.streams, s)
	}
	if err := l.native.SetStreams(l.streams); err != nil {
		return err
	}
	l.written = make([]native.LayerAllocation, len(streams))
	l.answer = make([]LayerAllocation, len(streams))
	return nil
}

// Allocate decides: one allocation for each stream, in their order, valid until the next call. Call it when the target
// or the streams change, and every 100 ms. A nowUs before that of the previous call changes nothing.
func (l *LayerAllocator) Allocate(targetRateBps, nowUs int64) ([]LayerAllocation, error) {
	if err := l.native.Allocate(targetRateBps, nowUs, l.written); err != nil {
		return nil, err
	}
	for i, w := range l.written {
		l.answer[i] = LayerAllocation{
			ID: w.ID, Layer: int(w.Layer), Forwarded: MediaLayer(w.Forwarded), Reason: l.native.Text(w.Reason),
			AtTimeUs: w.AtTimeUs,
		}
	}
	return l.answer, nil
}

// Rates are those of the present streams and layers.
func (l *LayerAllocator) Rates() (LayerRates, error) {
	var rates native.LayerRates
	if err := l.native.Rates(&rates); err != nil {
		return LayerRates{}, err
	}
	return LayerRates(rates), nil
}
