package observe

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// maxLogBytes bounds a log: about two weeks of observations, or two hours of 300 packets a second.
const maxLogBytes = 1 << 28

var errLogFull = errors.New("observe: the log is full; it ends here")

// The lines of a log; logs/event_log/README.md describes them.
type (
	logLine struct {
		Type       string `json:"type"`
		BeginUs    int64  `json:"begin_us"`
		Feedback   string `json:"feedback"`
		Connection string `json:"connection"`
		Host       string `json:"host"`
		Other      string `json:"other"`
	}
	observationLine struct {
		Type            string  `json:"type"`
		TimeUs          int64   `json:"time_us"`
		InCharge        string  `json:"in_charge"`
		OtherBps        *int64  `json:"other_bps"`
		WeirBps         int64   `json:"weir_bps"`
		WeirReason      string  `json:"weir_reason"`
		ReceivedBps     int64   `json:"received_bps"`
		LossRatio       float64 `json:"loss_ratio"`
		QueueingDelayMs float64 `json:"queueing_delay_ms"`
	}
	viewerLine struct {
		Type     string  `json:"type"`
		TimeUs   int64   `json:"time_us"`
		Freezes  int64   `json:"freezes"`
		FrozenMs float64 `json:"frozen_ms"`
	}
)

// log is a file of JSON lines, which the first line creates. Nil, it drops them.
type log struct {
	path     string
	head     logLine
	file     *os.File
	buffered *bufio.Writer
	bytes    int
}

// newLog returns nil without a folder.
func (c *Connections) newLog(id string, began time.Time) *log {
	if c.options.Folder == "" {
		return nil
	}
	// The identifier may be anything; a reconnection has the same one.
	sum := sha256.Sum256([]byte(id))
	name := fmt.Sprintf("%s-%d.observed.jsonl", hex.EncodeToString(sum[:8]), began.UnixNano())
	head := logLine{"log", began.UnixMicro(), "transport-cc", id, c.options.Host, c.options.Other}
	return &log{path: filepath.Join(c.options.Folder, name), head: head}
}

// create makes the file, with its first line.
func (l *log) create() error {
	file, err := os.OpenFile(l.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o640)
	if err != nil {
		return err
	}
	l.file, l.buffered = file, bufio.NewWriter(file)
	text, err := json.Marshal(l.head)
	if err != nil {
		return err
	}
	return l.buffer(append(text, '\n'))
}

// write brings a line, and those that are buffered, into the file.
func (l *log) write(line any) error {
	if l == nil {
		return nil
	}
	text, err := json.Marshal(line)
	if err == nil {
		err = l.buffer(append(text, '\n'))
	}
	if err == nil {
		err = l.buffered.Flush()
	}
	if err != nil {
		err = errors.Join(err, l.close())
	}
	return err
}

// buffer takes a line with its end, which the next write brings into the file.
func (l *log) buffer(line []byte) error {
	if l.file == nil {
		if err := l.create(); err != nil {
			return err
		}
	}
	if l.bytes += len(line); l.bytes > maxLogBytes {
		return errLogFull
	}
	_, err := l.buffered.Write(line)
	return err
}

func (l *log) close() error {
	if l == nil || l.file == nil {
		return nil
	}
	return errors.Join(l.buffered.Flush(), l.file.Close())
}
