package observe

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	controlFileName     = "in_charge"
	controlFileInterval = 500 * time.Millisecond
	maxControlBytes     = 1 << 20
)

var (
	errTooLarge   = fmt.Errorf("more than %d bytes", maxControlBytes)
	errNotRegular = errors.New("not a regular file")
)

// controlFile decides who is in charge: the share on the first line, then the identifiers of connections that the other
// estimator is in charge of, one on each line.
type controlFile struct {
	path string
	// share is in force without the file.
	share float64
	text  string
	// A file is read again when it has changed, or when the latest read failed.
	size    int64
	changed time.Time
	found   bool
	// failure is the error of the latest read, which is reported once; "": none.
	failure string
}

// read returns whether the file has changed. Without the file the text is the share of the options.
func (f *controlFile) read() (bool, error) {
	info, err := os.Stat(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		changed := f.found
		f.found, f.text = false, strconv.FormatFloat(f.share, 'g', -1, 64)
		return changed, nil
	}
	if err != nil || f.found && info.Size() == f.size && info.ModTime().Equal(f.changed) {
		return false, err
	}
	if !info.Mode().IsRegular() {
		return false, errNotRegular
	}
	// A FIFO that replaces the file now must not block.
	file, err := os.OpenFile(f.path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return false, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxControlBytes+1))
	if err == nil && len(text) > maxControlBytes {
		err = errTooLarge
	}
	if err != nil {
		return false, err
	}
	f.found, f.size, f.changed, f.text = true, info.Size(), info.ModTime(), string(text)
	return true, nil
}

// follow puts the file in force, if it has changed. A file that is wrong changes nothing.
func (c *Connections) follow(file *controlFile) {
	changed, err := file.read()
	if err != nil {
		repeated := err.Error() == file.failure
		if file.failure = err.Error(); repeated {
			return
		}
	} else {
		file.failure = ""
	}
	if changed {
		lines := strings.FieldsFunc(file.text, func(r rune) bool { return r == '\n' || r == '\r' })
		lines = slices.DeleteFunc(lines, func(line string) bool { return strings.TrimSpace(line) == "" })
		if len(lines) == 0 {
			return // it is being written
		}
		var share float64
		if share, err = strconv.ParseFloat(strings.TrimSpace(lines[0]), 64); err == nil {
			err = c.SetInCharge(share, lines[1:]...)
		}
	}
	if err != nil {
		c.fail(fmt.Errorf("observe: %s: %w; the first line must be a share from 0 to 1", file.path, err))
	}
}

func (c *Connections) poll(file *controlFile) {
	ticker := time.NewTicker(controlFileInterval)
	defer ticker.Stop()
	for {
		select {
		case <-c.done:
			return
		case <-ticker.C:
			c.follow(file)
		}
	}
}
