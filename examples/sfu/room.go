package main

import (
	"errors"
	"sync"
	"time"

	"github.com/pion/rtcp"
	"github.com/pion/webrtc/v4"

	weir "weir/pion"
	"weir/pion/cc"
	"weir/pion/remb"
)

const (
	mostWatchers = 100
	minRateBps   = 150_000
	startRateBps = 300_000
	maxRateBps   = 5_000_000
	// keyFrameInterval is the shortest time between two requests of a key frame.
	keyFrameInterval = 500 * time.Millisecond
	// longestSetup is how long an offer may hold a place without a connection: some never even begin to fail.
	longestSetup = 30 * time.Second
)

var errFull = errors.New("the place is taken: one publishes, and 100 watch at most")

// Room is one publisher and those who watch. All methods may be called from any goroutine.
type Room struct {
	model        *weir.Model
	video, audio *forwarder
	setup        time.Duration

	mutex     sync.Mutex
	publisher *publisher
	watchers  map[int]*watcher
	next      int
	// boundBps is what the slowest watcher can take.
	boundBps int64
}

type publisher struct {
	connection *webrtc.PeerConnection
	receiver   *remb.Receiver

	mutex sync.Mutex
	// ssrc of the video, once there is one.
	ssrc  uint32
	asked time.Time
}

type watcher struct {
	connection *webrtc.PeerConnection
	estimator  *cc.Estimator
}

// NewRoom is empty.
func NewRoom(model *weir.Model) (*Room, error) {
	video, videoErr := newForwarder(vp8, "video")
	audio, audioErr := newForwarder(opus, "audio")
	room := &Room{model: model, video: video, audio: audio, setup: longestSetup, watchers: map[int]*watcher{}}
	return room, errors.Join(videoErr, audioErr)
}

// Publish answers whoever sends; only one does at a time.
func (r *Room) Publish(offer string) (string, error) {
	connection, receiver, err := newReceivingPeer(r.model)
	if err != nil {
		return "", err
	}
	p := &publisher{connection: connection, receiver: receiver}
	r.mutex.Lock()
	taken := r.publisher != nil
	if !taken {
		r.publisher = p
	}
	r.mutex.Unlock()
	if taken {
		return "", errors.Join(errFull, connection.Close())
	}
	leave := func() {
		r.mutex.Lock()
		if r.publisher == p {
			r.publisher = nil
		}
		r.mutex.Unlock()
		_ = connection.Close()
	}
	r.whenOver(connection, leave)
	connection.OnTrack(func(track *webrtc.TrackRemote, _ *webrtc.RTPReceiver) {
		to := r.audio
		if track.Kind() == webrtc.RTPCodecTypeVideo {
			to = r.video
			p.mutex.Lock()
			p.ssrc = uint32(track.SSRC())
			p.mutex.Unlock()
			r.askForKeyFrame()
		}
		to.forward(track)
	})
	sdp, err := answer(connection, offer)
	if err != nil {
		leave()
		return "", err
	}
	return remb.FollowREMBAtOnce(sdp), nil
}

// Watch answers whoever receives.
func (r *Room) Watch(offer string) (string, error) {
	r.mutex.Lock()
	start := int64(startRateBps)
	if len(r.watchers) > 0 {
		// The rate of the others: one more watcher does not lower it before it has reported.
		start = max(start, r.boundBps)
	}
	r.mutex.Unlock()
	connection, estimator, err := newSendingPeer(r.model, start)
	if err != nil {
		return "", err
	}
	r.mutex.Lock()
	full, id := len(r.watchers) >= mostWatchers, r.next
	if !full {
		r.watchers[id] = &watcher{connection, estimator}
		r.next++
	}
	r.mutex.Unlock()
	if full {
		return "", errors.Join(errFull, connection.Close())
	}
	leave := func() {
		r.mutex.Lock()
		delete(r.watchers, id)
		r.mutex.Unlock()
		r.bound()
		_ = connection.Close()
	}
	estimator.OnTargetBitrateChange(func(int) { r.bound() })
	r.whenOver(connection, leave)
	for _, of := range []*forwarder{r.video, r.audio} {
		sender, err := connection.AddTrack(of.track)
		if err != nil {
			leave()
			return "", err
		}
		go r.listen(sender)
	}
	sdp, err := answer(connection, offer)
	if err != nil {
		leave()
	}
	return sdp, err
}

// whenOver calls `leave` once the connection has ended or failed, or did not come in time; not from within its callback.
func (r *Room) whenOver(connection *webrtc.PeerConnection, leave func()) {
	late := time.AfterFunc(r.setup, leave)
	connection.OnConnectionStateChange(func(state webrtc.PeerConnectionState) {
		switch state {
		case webrtc.PeerConnectionStateConnected:
			late.Stop()
		case webrtc.PeerConnectionStateFailed, webrtc.PeerConnectionStateClosed:
			late.Stop()
			go leave()
		}
	})
}

// listen reads a watcher's RTCP, which is what brings feedback to its estimator.
func (r *Room) listen(sender *webrtc.RTPSender) {
	for {
		packets, _, err := sender.ReadRTCP()
		if err != nil {
			return
		}
		for _, packet := range packets {
			switch packet.(type) {
			case *rtcp.PictureLossIndication, *rtcp.FullIntraRequest:
				r.askForKeyFrame()
			}
		}
	}
}

func (r *Room) askForKeyFrame() {
	r.mutex.Lock()
	p := r.publisher
	r.mutex.Unlock()
	if p == nil {
		return
	}
	p.mutex.Lock()
	ssrc := p.ssrc
	due := ssrc != 0 && time.Since(p.asked) >= keyFrameInterval
	if due {
		p.asked = time.Now()
	}
	p.mutex.Unlock()
	if due {
		_ = p.connection.WriteRTCP([]rtcp.Packet{&rtcp.PictureLossIndication{MediaSSRC: ssrc}})
	}
}

// bound has the publisher send no more than the slowest watcher can take.
func (r *Room) bound() {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	most := int64(maxRateBps)
	for _, w := range r.watchers {
		most = min(most, int64(w.estimator.GetTargetBitrate()))
	}
	r.boundBps = most
	if r.publisher != nil {
		// One that has just closed needs no bound.
		_ = r.publisher.receiver.SetRates(minRateBps, minRateBps, max(most, minRateBps))
	}
}

// Estimates is what the page shows.
type Estimates struct {
	Up   *weir.Statistics `json:"up"`
	Down []Down           `json:"down"`
}

// Down is a watcher's; see cc.Estimator.GetStats.
type Down struct {
	ID    int            `json:"id"`
	Stats map[string]any `json:"stats"`
}

// Estimates of now; `up` is null without a publisher.
func (r *Room) Estimates() Estimates {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	estimates := Estimates{Down: []Down{}}
	if r.publisher != nil {
		if up, err := r.publisher.receiver.Statistics(); err == nil {
			estimates.Up = &up
		}
	}
	for id := range r.next {
		if w := r.watchers[id]; w != nil {
			estimates.Down = append(estimates.Down, Down{id, w.estimator.GetStats()})
		}
	}
	return estimates
}
