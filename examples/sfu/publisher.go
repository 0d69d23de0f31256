package main

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/pion/interceptor"
	"github.com/pion/rtcp"
	"github.com/pion/webrtc/v4"

	weir "weir/pion"
	"weir/pion/remb"
)

// publisher is whoever sends: audio, and video in up to MaxMediaLayers encodings (simulcast), or in one.
type publisher struct {
	connection *webrtc.PeerConnection
	receiver   *remb.Receiver

	mutex sync.Mutex
	// video is where its encodings come from; there is one.
	video     *webrtc.RTPReceiver
	encodings []*encoding
}

// add makes an encoding of a track; nil for video or audio besides the first, and for more layers than there may be.
func (p *publisher) add(track *webrtc.TrackRemote, receiver *webrtc.RTPReceiver) *encoding {
	e := &encoding{
		kind: weir.Audio, rid: track.RID(), ssrc: uint32(track.SSRC()), clockRate: track.Codec().ClockRate,
		requestKeyFrame: func(ssrc uint32) {
			_ = p.connection.WriteRTCP([]rtcp.Packet{&rtcp.PictureLossIndication{MediaSSRC: ssrc}})
		},
	}
	if track.Kind() == webrtc.RTPCodecTypeVideo {
		e.kind = weir.Video
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if e.isVideo() {
		if p.video == nil {
			p.video = receiver
		}
		if p.video != receiver || len(p.encodings) > weir.MaxMediaLayers {
			return nil
		}
	} else if slices.ContainsFunc(p.encodings, func(o *encoding) bool { return !o.isVideo() }) {
		return nil
	}
	p.encodings = append(p.encodings, e)
	return e
}

// media is what there is to forward at a time.
type media struct {
	audio       *encoding
	audioLayer  weir.MediaLayer
	video       []*encoding
	videoLayers []weir.MediaLayer
}

// media lists the encodings that packets come from; those of video by their size, with rising rates.
func (p *publisher) media(now time.Time) media {
	p.mutex.Lock()
	encodings := slices.Clone(p.encodings)
	p.mutex.Unlock()
	type measured struct {
		encoding *encoding
		layer    weir.MediaLayer
	}
	var m media
	var layers []measured
	for _, e := range encodings {
		layer, comes := e.layer(now)
		switch {
		case !comes:
		case e.isVideo():
			layers = append(layers, measured{e, layer})
		default:
			m.audio, m.audioLayer = e, layer
		}
	}
	slices.SortStableFunc(layers, func(a, b measured) int {
		return cmp.Or(cmp.Compare(a.layer.Height, b.layer.Height), cmp.Compare(a.layer.RateBps, b.layer.RateBps))
	})
	var below int64
	for _, l := range layers {
		// The allocator wants each layer to cost something.
		below = max(l.layer.RateBps, below+1)
		l.layer.RateBps = below
		m.video, m.videoLayers = append(m.video, l.encoding), append(m.videoLayers, l.layer)
	}
	return m
}

// readReports keeps sender reports, by which the timestamps of encodings are compared.
func readReports(e *encoding, receiver *webrtc.RTPReceiver) {
	read := receiver.ReadRTCP
	if e.rid != "" {
		read = func() ([]rtcp.Packet, interceptor.Attributes, error) { return receiver.ReadSimulcastRTCP(e.rid) }
	}
	for {
		packets, _, err := read()
		if err != nil {
			return
		}
		for _, packet := range packets {
			if report, ok := packet.(*rtcp.SenderReport); ok && report.SSRC == e.ssrc {
				e.onReport(report)
			}
		}
	}
}
