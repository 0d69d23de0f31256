// pion-peer is an end of a call for `weir call`, in weir-peer's place: pion with Weir at the receiver, or with
// transport-cc alone; or pion with Weir at the sender, or with pion's own gcc there. It reads and writes weir-peer's JSON lines
// (webrtc_patch/peer/README.md) as far as an end without sound and without received pictures can:
//
//	WEIR_PEER=build/plugins/pion-peer weir call catalogue/muses-cross-traffic --compare
//	WEIR_PEER=build/plugins/pion-peer weir evaluate --suite send-side --calls --out calls
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
	"slices"
	"sync"

	weir "weir/pion"
)

const (
	statusFailed  = 1
	statusMissing = 3
	longestLine   = 1 << 20
)

// Those of each role; gcc is the sender's: Chromium's where Chromium sends, else pion's.
var controllers = map[string][]string{"receive": {"weir", "gcc"}, "send": {weirAtSender, "gcc"}}

// end of a call, of either role.
type end interface {
	execute(c command) error
	failure() <-chan error
	close()
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
	flag.StringVar(&o.role, "role", "receive", "receive or send")
	flag.StringVar(&o.controller, "controller", "weir", "receive: weir, or gcc, the sender's own; send: weir-send or gcc")
	flag.StringVar(&o.bindAddress, "bind-address", "", "the address of this end")
	flag.StringVar(&o.model, "model", "", "an ONNX model")
	flag.StringVar(&o.objective, "objective", "0.4,0.5,0.1", "weights of throughput, latency and loss")
	flag.StringVar(&o.video, "video", "", "video to send in a loop: FILE.y4m, encoded into FILE.y4m.vp8 by encode_clip.sh")
	flag.Int64Var(&o.minBps, "min-bitrate-bps", 30_000, "the least that an estimate may be")
	flag.Int64Var(&o.startBps, "start-bitrate-bps", 300_000, "the first estimate")
	flag.Int64Var(&o.maxBps, "max-bitrate-bps", 50_000_000, "the most that an estimate may be")
	flag.IntVar(&o.statsIntervalMs, "stats-interval-ms", 1000, "between statistics")
	codec := flag.String("codec", "VP8", "to send; who receives takes what there is")
	for _, name := range []string{"frames", "frames-size", "audio-file", "received-audio"} {
		flag.String(name, "", "of weir-peer; neither pictures nor audio are decoded")
	}
	flag.Bool("audio", false, "of weir-peer; this end has video alone")
	flag.Parse()
	switch {
	case flag.NArg() > 0 || !slices.Contains(controllers[o.role], o.controller):
		misused("--role receive has --controller weir or gcc, --role send weir-send or gcc")
	case o.role == "send" && *codec != "VP8":
		misused("it sends VP8")
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

func newEnd(o options, lines *lineWriter) (end, error) {
	if o.role == "send" {
		return newSender(o, lines)
	}
	return newReceiver(o, lines)
}

// run obeys standard input until `stop`, its end, or the end of the connection.
func run(o options, lines *lineWriter) error {
	e, err := newEnd(o, lines)
	if err != nil {
		return err
	}
	defer e.close()
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
			if err := e.execute(c); err != nil {
				lines.write(line{"type": "error", "message": err.Error(), "fatal": false})
			}
		case err := <-e.failure():
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
