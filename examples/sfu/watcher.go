package main

import (
	"errors"
	"sync"
	"time"

	"github.com/pion/rtcp"
	"github.com/pion/webrtc/v4"

	weir "weir/pion"
	"weir/pion/cc"
)

// decideEvery is how often layers are chosen where no feedback comes.
const decideEvery = 50 * time.Millisecond

// IDs of streams in a watcher's allocator.
const (
	audioStream = 1
	videoStream = 2
)

// watcher is whoever receives: the layer of video that its path carries, and the audio.
type watcher struct {
	connection *webrtc.PeerConnection
	estimator  *cc.Estimator
	video      *forwarder
	start      time.Time
	// feedback wakes `run`, which ends with `closed`.
	feedback chan struct{}
	closed   chan struct{}
	once     sync.Once
	// allocator and streams are those of `run` alone.
	allocator *weir.LayerAllocator
	streams   []weir.MediaStream

	// mutex guards the fields below.
	mutex sync.Mutex
	// chosen is the layer that the allocator chose, layer its index; -1: there is none.
	chosen weir.MediaLayer
	layer  int
}

func newWatcher(connection *webrtc.PeerConnection, estimator *cc.Estimator) (*watcher, error) {
	video, videoErr := newForwarder(vp8, "video")
	allocator, err := weir.NewLayerAllocator(0, 0)
	if err := errors.Join(videoErr, err); err != nil {
		return nil, err
	}
	return &watcher{
		connection: connection, estimator: estimator, video: video, allocator: allocator, layer: -1, start: time.Now(),
		feedback: make(chan struct{}, 1), closed: make(chan struct{}),
	}, nil
}

// run decides after feedback, and where none comes, until the watcher has left.
func (w *watcher) run(published func(time.Time) media) {
	defer w.allocator.Close()
	ticker := time.NewTicker(decideEvery)
	defer ticker.Stop()
	for {
		select {
		case <-w.closed:
			return
		case <-w.feedback:
		case <-ticker.C:
		}
		now := time.Now()
		w.decide(published(now), now)
		if cluster, ok := w.estimator.TakeProbeCluster(); ok {
			w.sendProbe(cluster)
		}
	}
}

// decide chooses the layer, and reports what else the watcher could use. The lowest is always on: only packets show what a
// path carries, and there may be no audio.
func (w *watcher) decide(m media, now time.Time) {
	w.streams = w.streams[:0]
	if m.audio != nil {
		w.streams = append(w.streams, weir.MediaStream{
			ID: audioStream, Kind: weir.Audio, Layers: []weir.MediaLayer{m.audioLayer},
		})
	}
	if len(m.video) > 0 {
		w.streams = append(w.streams, weir.MediaStream{ID: videoStream, Kind: weir.Video, Layers: m.videoLayers})
	}
	layer, chosen := -1, weir.MediaLayer{}
	if w.allocator.SetStreams(w.streams) == nil && len(w.streams) > 0 {
		allocations, _ := w.allocator.Allocate(int64(w.estimator.GetTargetBitrate()), now.Sub(w.start).Microseconds())
		for _, allocation := range allocations {
			if allocation.ID == videoStream && allocation.Layer >= 0 {
				layer, chosen = allocation.Layer, allocation.Forwarded
				w.video.want(m.video[layer])
			}
		}
		if rates, err := w.allocator.Rates(); err == nil {
			// An error would be that of an estimator which was closed meanwhile.
			_ = w.estimator.SetDesiredRate(rates.DesiredBps, rates.NextBps)
		}
	}
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.layer, w.chosen = layer, chosen
}

// listen reads RTCP, which is what brings feedback to the estimator.
func (w *watcher) listen(sender *webrtc.RTPSender) {
	for {
		packets, _, err := sender.ReadRTCP()
		if err != nil {
			return
		}
		for _, packet := range packets {
			switch packet.(type) {
			case *rtcp.PictureLossIndication, *rtcp.FullIntraRequest:
				w.video.wantKeyFrame()
			}
		}
		select {
		case w.feedback <- struct{}{}:
		default:
		}
	}
}

func (w *watcher) close() {
	w.once.Do(func() { close(w.closed) })
	_ = w.connection.Close()
}
