package main

import (
	"maps"
	"slices"

	weir "weir/pion"
)

// Estimates is what the page shows.
type Estimates struct {
	Up   *weir.Statistics `json:"up"`
	Down []Down           `json:"down"`
}

// Down is what is shown of a watcher: cc.Estimator.GetStats, the layer that was chosen (-1: none) and the one that is
// forwarded, which follows at a key frame.
type Down struct {
	ID         int            `json:"id"`
	Stats      map[string]any `json:"stats"`
	State      string         `json:"state"`
	Layer      int            `json:"layer"`
	LayerBps   int64          `json:"layerBps"`
	Width      int32          `json:"width"`
	Height     int32          `json:"height"`
	Forwarding string         `json:"forwarding"`
	state      weir.CongestionState
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
	for _, id := range slices.Sorted(maps.Keys(r.watchers)) {
		estimates.Down = append(estimates.Down, r.watchers[id].down(id))
	}
	return estimates
}

func (w *watcher) down(id int) Down {
	forwarding := ""
	if now := w.video.forwarded(); now != nil {
		forwarding = now.rid
	}
	state := w.estimator.NetworkState().State
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return Down{
		ID: id, Stats: w.estimator.GetStats(), state: state, State: state.String(),
		Layer: w.layer, LayerBps: w.chosen.RateBps, Width: w.chosen.Width, Height: w.chosen.Height, Forwarding: forwarding,
	}
}
