// pion-peer is the receiving end of a call for `weir call`, in weir-peer's place: pion with Weir, or with transport-cc
// alone. It reads and writes weir-peer's JSON lines (calls/peer/README.md) as far as an end without sound and
// without received pictures can:
//
//	WEIR_PEER=build/plugins/pion-peer weir call catalogue/muses-cross-traffic --compare
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"

	"github.com/pion/webrtc/v4"

	weir "weir/pion"
)

const (
	statusFailed   = 1
	statusMissing  = 3
	longestLine    = 1 << 20
	largestRateBps = 1_000_000_000
)

type options struct {
	controller, bindAddress, model, objective string
	minBps, startBps, maxBps                  int64
	statsIntervalMs                           int
}

func main() {
	options := readOptions()
	lines := &lineWriter{encoder: json.NewEncoder(os.Stdout)}
	err := run(options, lines)
	switch {
	case err == nil:
		lines.write(line{"type": "end", "reason": "stop"})
	case errors.Is(err, fs.ErrNotExist):
		lines.write(line{"type": "error", "message": err.Error(), "fatal": true})
		os.Exit(statusMissing)
	default:
		lines.write(line{"type": "end", "reason": err.Error(), "failed": true})
		os.Exit(statusFailed)
	}
}

func readOptions() options {
	var o options
	flag.StringVar(&o.controller, "controller", "weir", "weir, or gcc, the sender's own")
	flag.StringVar(&o.bindAddress, "bind-address", "", "the address of this end")
	flag.StringVar(&o.model, "model", "", "an ONNX model")
	flag.StringVar(&o.objective, "objective", "0.5,0.4,0.1", "weights of throughput, latency and loss")
	flag.Int64Var(&o.minBps, "min-bitrate-bps", 30_000, "the least that an estimate may be")
	flag.Int64Var(&o.startBps, "start-bitrate-bps", 300_000, "the first estimate")
	flag.Int64Var(&o.maxBps, "max-bitrate-bps", 50_000_000, "the most that an estimate may be")
	flag.IntVar(&o.statsIntervalMs, "stats-interval-ms", 1000, "between statistics")
	role := flag.String("role", "receive", "receive: it sends nothing")
	for _, name := range []string{"codec", "frames", "frames-size", "received-audio"} {
		flag.String(name, "", "of weir-peer; the sender chooses the codec, and neither pictures nor audio are decoded")
	}
	flag.Bool("audio", false, "of weir-peer; this end has video alone")
	flag.Parse()
	switch {
	case flag.NArg() > 0 || *role != "receive" || o.controller != "weir" && o.controller != "gcc":
		misused("it has --role receive and --controller weir or gcc")
	case o.minBps < 1 || o.minBps > o.startBps || o.startBps > o.maxBps || o.maxBps > largestRateBps:
		misused("bitrates must be 1 <= min <= start <= max <= 1000000000 bit/s")
	case o.statsIntervalMs < 1:
		misused("--stats-interval-ms must be above 0")
	}
	return o
}

func misused(how string) {
	fmt.Fprintln(os.Stderr, "pion-peer: "+how)
	os.Exit(2)
}

// run obeys standard input until `stop`, its end, or the end of the connection.
func run(o options, lines *lineWriter) error {
	r, err := newReceiver(o, lines)
	if err != nil {
		return err
	}
	defer r.close()
	lines.write(line{
		"type": "ready", "versions": versions(), "controller": o.controller, "active": o.controller, "pool": nil,
	})
	commands := make(chan command)
	go readCommands(os.Stdin, commands)
	for {
		select {
		case c, more := <-commands:
			if !more || c.Type == "stop" {
				return nil
			}
			if err := r.execute(c); err != nil {
				lines.write(line{"type": "error", "message": err.Error(), "fatal": false})
			}
		case err := <-r.failed:
			return err
		}
	}
}

func readCommands(from io.Reader, to chan<- command) {
	defer close(to)
	scanner := bufio.NewScanner(from)
	scanner.Buffer(nil, longestLine)
	for scanner.Scan() {
		c := command{}
		if err := json.Unmarshal(scanner.Bytes(), &c); err != nil {
			c.Type = "what is no JSON object"
		}
		to <- c
	}
}

// line is a message to standard output.
type line map[string]any

// command is a message from standard input; which fields count depends on its type.
type command struct {
	Type string `json:"type"`
	SDP  string `json:"sdp"`
	webrtc.ICECandidateInit
	weir.Objective
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
