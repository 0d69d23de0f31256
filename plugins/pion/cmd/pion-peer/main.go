// pion-peer is the receiving end of a call for `weir call`, in weir-peer's place: pion with Weir, or with transport-cc
// alone. It speaks weir-peer's JSON lines (webrtc_patch/peer/README.md) as far as a receiver without pictures can:
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
)

const (
	statusFailed  = 1
	statusMissing = 3
	longestLine   = 1 << 20
)

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
	flag.StringVar(&o.controller, "controller", "weir", "weir, or gcc: the sender's own, from transport-cc")
	flag.StringVar(&o.bindAddress, "bind-address", "", "the address of this end")
	flag.StringVar(&o.model, "model", "", "an ONNX model")
	flag.StringVar(&o.objective, "objective", "0.4,0.5,0.1", "weights of throughput, latency and loss")
	flag.Int64Var(&o.minBps, "min-bitrate-bps", 0, "0: 30 kbps")
	flag.Int64Var(&o.startBps, "start-bitrate-bps", 0, "0: 300 kbps")
	flag.Int64Var(&o.maxBps, "max-bitrate-bps", 0, "0: 50 Mbps")
	flag.IntVar(&o.statsIntervalMs, "stats-interval-ms", 1000, "between statistics")
	role := flag.String("role", "receive", "receive")
	for _, name := range []string{"codec", "frames", "frames-size"} {
		flag.String(name, "", "of weir-peer; the sender chooses the codec, and no picture is decoded")
	}
	flag.Parse()
	if *role != "receive" || flag.NArg() > 0 || (o.controller != "weir" && o.controller != "gcc") {
		fmt.Fprintln(os.Stderr, "pion-peer: it only receives, with --controller weir or gcc")
		os.Exit(2)
	}
	return o
}

// run obeys standard input until `stop`, its end, or the end of the connection.
func run(o options, lines *lineWriter) error {
	p, err := newPeer(o, lines)
	if err != nil {
		return err
	}
	defer p.close()
	lines.write(line{"type": "ready", "versions": versions(), "controller": o.controller, "pilot": o.controller, "pool": nil})
	commands := make(chan command)
	go readCommands(os.Stdin, commands)
	for {
		select {
		case c, more := <-commands:
			if !more || c.Type == "stop" {
				return nil
			}
			if err := p.execute(c); err != nil {
				lines.write(line{"type": "error", "message": err.Error(), "fatal": false})
			}
		case err := <-p.failed:
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
