package main

import (
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pion/webrtc/v4"

	weir "weir/pion"
	"weir/pion/remb"
)

const (
	mostWatchers = 100
	minRateBps   = 150_000
	startRateBps = 300_000
	maxRateBps   = 5_000_000
	// longestSetup is how long an offer may hold a place without a connection: some never even begin to fail.
	longestSetup = 30 * time.Second
)

var errFull = errors.New("the place is taken: one publishes, and 100 watch at most")

// Room is one publisher and those who watch. All methods may be called from any goroutine.
type Room struct {
	model *weir.Model
	// audio is one track for all.
	audio *forwarder
	setup time.Duration
	// configure is for tests: the network of the next peer.
	configure func(*webrtc.SettingEngine)

	mutex     sync.Mutex
	publisher *publisher
	watchers  map[int]*watcher
	next      int
	// watching is the values of `watchers`, which every packet goes to.
	watching atomic.Pointer[[]*watcher]
}

// NewRoom is empty.
func NewRoom(model *weir.Model) (*Room, error) {
	audio, err := newForwarder(opus, "audio")
	room := &Room{model: model, audio: audio, setup: longestSetup, watchers: map[int]*watcher{}}
	room.watching.Store(new([]*watcher))
	return room, err
}

// Publish answers whoever sends; only one does at a time.
func (r *Room) Publish(offer string) (string, error) {
	connection, receiver, err := newReceivingPeer(r.model, r.configure)
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
	connection.OnTrack(func(track *webrtc.TrackRemote, receiver *webrtc.RTPReceiver) {
		if e := p.add(track, receiver); e != nil {
			go readReports(e, receiver)
			r.forward(e, track)
		}
	})
	sdp, err := answer(connection, offer)
	if err != nil {
		leave()
		return "", err
	}
	return remb.FollowREMBAtOnce(sdp), nil
}

// forward hands an encoding's packets on until it ends.
func (r *Room) forward(e *encoding, track *webrtc.TrackRemote) {
	if !e.isVideo() {
		r.audio.want(e)
	}
	for {
		packet, _, err := track.ReadRTP()
		if err != nil {
			return
		}
		now := time.Now()
		if !e.isVideo() {
			if e.observe(packet, frameInfo{}, now) {
				r.audio.forward(e, packet, frameInfo{}, now)
			}
			continue
		}
		info := readVP8(packet.Payload)
		if !e.observe(packet, info, now) {
			continue
		}
		for _, w := range *r.watching.Load() {
			w.video.forward(e, packet, info, now)
		}
	}
}

// Watch answers whoever receives.
func (r *Room) Watch(offer string) (string, error) {
	connection, estimator, err := newSendingPeer(r.model, r.configure)
	if err != nil {
		return "", err
	}
	w, err := newWatcher(connection, estimator)
	if err != nil {
		return "", errors.Join(err, connection.Close())
	}
	r.mutex.Lock()
	full, id := len(r.watchers) >= mostWatchers, r.next
	if !full {
		r.watchers[id] = w
		r.next++
		r.list()
	}
	r.mutex.Unlock()
	leave := func() {
		r.mutex.Lock()
		delete(r.watchers, id)
		r.list()
		r.mutex.Unlock()
		w.close()
	}
	go w.run(r.media)
	if full {
		w.close()
		return "", errFull
	}
	r.whenOver(connection, leave)
	for _, of := range []*forwarder{w.video, r.audio} {
		sender, err := connection.AddTrack(of.track)
		if err != nil {
			leave()
			return "", err
		}
		go w.listen(sender)
	}
	sdp, err := answer(connection, offer)
	if err != nil {
		leave()
	}
	return sdp, err
}

// list is called under the mutex when watchers have come or left.
func (r *Room) list() {
	watching := slices.Collect(maps.Values(r.watchers))
	r.watching.Store(&watching)
}

// media is what the publisher sends now.
func (r *Room) media(now time.Time) media {
	r.mutex.Lock()
	p := r.publisher
	r.mutex.Unlock()
	if p == nil {
		return media{}
	}
	return p.media(now)
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
