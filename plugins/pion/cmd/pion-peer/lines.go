package main

import (
	"encoding/json"
	"sync"

	weir "weir/pion"
)

// line is a message to standard output.
type line map[string]any

// command is a message from standard input; which fields count depends on its type.
type command struct {
	Type          string  `json:"type"`
	SDP           string  `json:"sdp"`
	Candidate     string  `json:"candidate"`
	SDPMid        *string `json:"sdpMid"`
	SDPMLineIndex *uint16 `json:"sdpMLineIndex"`
	Throughput    float32 `json:"throughput"`
	Latency       float32 `json:"latency"`
	Loss          float32 `json:"loss"`
}

// objective of the command of that name.
func (c *command) objective() weir.Objective {
	return weir.Objective{Throughput: c.Throughput, Latency: c.Latency, Loss: c.Loss}
}

// lineWriter writes whole lines, from any goroutine. The reader puts the time on those that come without.
type lineWriter struct {
	mutex   sync.Mutex
	encoder *json.Encoder
}

func (w *lineWriter) write(l line) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	// Whoever has stopped reading has stopped this program too.
	_ = w.encoder.Encode(l)
}
